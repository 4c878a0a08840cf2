import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  copyFileSync,
  mkdirSync,
  openSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server, Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { FORBIDDEN } from './calls.ts';
import { type Case, HIDDEN, type Who } from './inventory-rule.ts';
import { scratch } from './scratch.ts';

/** What a probe inside a sandbox could do. */
export interface Could {
  readonly write: string[];
  readonly create: string[];
  readonly read: string[];
  readonly list: string[];
  /** Files of the kernel that hold one of the words. */
  readonly found: string[];
  readonly connect: string[];
  readonly run: string[];
  readonly fds: string[];
  readonly seen: { readonly pid: number; readonly name: string }[];
  /** What, with what, and the number of the error, which is 0 where it was possible. */
  readonly calls: string[];
  readonly who: Record<string, string>;
  readonly symbols: string | false;
}

export interface Inventory {
  readonly could: Could;
  readonly folder: string;
  readonly planted: readonly string[];
  /** What a process of the same user outside noticed of signals. */
  readonly noticed: string;
}

const CHILD = fileURLToPath(new URL('./inventory-child.ts', import.meta.url));
const beside = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const NOBODY = 65534;

/** Files of sockets on which a process outside listens. */
export const SOCKETS: readonly string[] = ['read', 'write', 'private'].flatMap((at) => [
  `${at}/stream`,
  `${at}/datagram`,
]);

/** Whom the confined program runs as. `other` is where Keyturn itself runs as `nobody`. */
export function whoRuns({ kind, run_as }: Case, other: boolean): Who {
  const uid = process.geteuid!();
  const own = run_as === 'root' || ['sql', 'verifier'].includes(kind) || uid !== 0;
  if (other || !own) return { uid: NOBODY, groups: [NOBODY] };
  return { uid, groups: [process.getegid!(), ...process.getgroups!()] };
}

export async function inventory(one: Case, other: boolean): Promise<Inventory> {
  const folder = scratch();
  const who = whoRuns(one, other);
  const word = randomBytes(12).toString('hex');
  const key = `keyturn-test-${randomBytes(6).toString('hex')}`;
  const planted = plant(folder, word, who);
  const outside = await witnesses(folder, who, word);
  const pipe = join(folder, 'read/pipe');
  spawnSync('mkfifo', ['-m', '666', pipe]);
  chmodSync(pipe, 0o666);
  const given = JSON.stringify({
    pipe,
    named: [...planted, ...SOCKETS.map((name) => join(folder, name))],
    needles: [word, key].map((text) => [...text].reverse().join('')),
    folder,
    whole: one.whole ?? false,
    calls: join(folder, 'read/calls.pl'),
    outside: [process.pid, process.ppid, outside.pid].map(String),
    numbers: FORBIDDEN[process.arch],
    ...(await listeners()),
  });
  register(folder, one, given);
  const answer = answerIn(pipe);
  const child = spawn(
    'perl',
    keyed([process.execPath, '--import', 'tsx', CHILD, one.kind, folder, given], key, word),
    {
      stdio: ['ignore', 'inherit', 'pipe'],
      env: { ...process.env, HOME: '/nonexistent', TSX_DISABLE_CACHE: '1', KEYTURN_TEST_WORD: word },
      ...(other && { uid: NOBODY, gid: NOBODY }),
    },
  );
  let said = '';
  child.stderr.on('data', (chunk) => (said += chunk));
  await once(child, 'close');
  const text = answer();
  try {
    return { could: JSON.parse(text) as Could, folder, planted, noticed: outside.noticed() };
  } catch {
    throw new Error(`the probe said ${text.length} characters: ${said}`);
  }
}

/** Files of every sort, outside of the profile and inside it. All hold the word. */
function plant(folder: string, word: string, who: Who): string[] {
  const deep = join('read', ...Array.from({ length: 12 }, (_, i) => String(i)), 'file');
  const elsewhere = ['/var/tmp', '/dev/shm', '/run', '/var/lib']
    .map((at) => join(at, `keyturn-test-${word.slice(0, 8)}`))
    .filter((path) => canMake(path));
  onTestFinished(() => {
    for (const path of elsewhere) rmSync(path, { force: true });
  });
  const open = [
    ...['read/file', 'private/open', '.keyturn/store.db', deep].map((name) => join(folder, name)),
    ...HIDDEN.flatMap((name) => [join(folder, name, 'ledger.seed'), join(folder, name, 'keys/human')]),
    join(scratch(), 'file'),
    ...elsewhere,
  ];
  const closed = ['read/closed', 'private/closed', '.keyturn/keys'].map((name) => join(folder, name));
  for (const path of [...open, ...closed]) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
    writeFileSync(path, word);
    chmodSync(path, open.includes(path) ? 0o644 : 0o600);
  }
  mkdirSync(join(folder, 'write'), { mode: 0o755 });
  chownSync(join(folder, 'write'), who.uid, who.groups[0]!);
  for (const [from, to] of [
    ['inventory-probe.mjs', 'probe.mjs'],
    ['inventory-calls.pl', 'calls.pl'],
  ]) {
    copyFileSync(beside(from!), join(folder, 'read', to!));
    chmodSync(join(folder, 'read', to!), 0o755);
  }
  return [...open, ...closed];
}

function canMake(path: string): boolean {
  try {
    writeFileSync(path, '', { flag: 'wx' });
    return true;
  } catch {
    return false;
  }
}

/**
 * Two processes outside: one of the same user, with the word in its arguments and its environment, that tells of each SIGCONT, and
 * one that listens on sockets in files, in a folder that is bound and in one that is not.
 */
async function witnesses(folder: string, who: Who, word: string) {
  const user = process.geteuid!() === 0 ? { uid: who.uid, gid: who.groups[0]! } : {};
  const same = spawn(
    'perl',
    ['-e', '$| = 1; $SIG{CONT} = sub { print "signal\\n" }; print "ready\\n"; sleep 1000 while 1', word],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { PATH: process.env.PATH, KEYTURN_TEST_WORD: word },
      detached: true,
      ...user,
    },
  );
  const paths = SOCKETS.map((name) => join(folder, name));
  const listener = spawn('perl', ['-e', LISTEN, ...paths], { stdio: ['ignore', 'pipe', 'inherit'] });
  let noticed = '';
  const ready = (child: ChildProcess) =>
    new Promise<void>((resolve) => {
      child.stdout!.on('data', (chunk) => {
        noticed += String(chunk).replace('ready\n', '');
        if (String(chunk).includes('ready')) resolve();
      });
    });
  onTestFinished(() => {
    for (const child of [same, listener]) child.kill('SIGKILL');
  });
  await Promise.all([ready(same), ready(listener)]);
  return { pid: same.pid!, noticed: () => noticed };
}

/** Streams are accepted by the kernel alone. */
const LISTEN = `use Socket; $| = 1;
my @all = map { my $kind = /datagram/ ? SOCK_DGRAM : SOCK_STREAM; socket(my $one, AF_UNIX, $kind, 0) or die $!;
  bind($one, pack_sockaddr_un($_)) or die $!; chmod 0777, $_; listen($one, 100) if $kind == SOCK_STREAM; $one } @ARGV;
print "ready\\n";
sleep 1000 while 1;`;

/**
 * Keyturn starts with a key in its session, as a login may leave it: children inherit it, whatever user they become. And with a
 * file open, as a careless parent leaves it, at a number that node does not close by itself.
 */
function keyed(words: readonly string[], key: string, word: string): string[] {
  const { add_key, keyctl } = FORBIDDEN[process.arch]!;
  const script = `my ($key, $word) = splice @ARGV, 0, 2; my $type = 'user';
syscall(${keyctl}, 1, 0) != -1 or die "session: $!";
syscall(${add_key}, $type, $key, $word, length $word, -3) != -1 or die "key: $!";
open my $left, '<', '/etc/passwd' or die; POSIX::dup2(fileno $left, 50);
exec @ARGV`;
  return ['-MPOSIX', '-e', script, key, word, ...words];
}

function register(folder: string, one: Case, given: string): void {
  const tool = {
    name: 'probe',
    summary: 'Tries everything.',
    executable: 'read/probe.mjs',
    args: [given.replaceAll('{', '{{').replaceAll('}', '}}')],
    env: { PATH: `${join(process.execPath, '..')}:/usr/bin:/bin` },
    sandbox: { read: ['read'], write: ['write'], network: one.network ?? false },
    timeout_s: 300,
    undo: 'none',
    ...(one.run_as && { run_as: one.run_as }),
  };
  const pipelines = [{ name: 'probe', summary: 'One step.', steps: [{ tool: 'probe' }] }];
  writeFileSync(join(folder, 'tools.yaml'), JSON.stringify({ version: 1, tools: [tool], pipelines }), {
    mode: 0o444,
  });
}

/** Reads a pipe while it is written, because it holds only 64 KiB. What it gives back ends that, and takes the rest. */
function answerIn(pipe: string): () => string {
  const flags = constants.O_RDWR | constants.O_NONBLOCK;
  const rest = openSync(pipe, flags);
  const chunks: Buffer[] = [];
  const socket = new Socket({ fd: openSync(pipe, flags), readable: true, writable: false });
  socket.on('data', (chunk) => chunks.push(chunk));
  return () => {
    socket.pause();
    const bytes = Buffer.alloc(65_536);
    try {
      for (;;) chunks.push(Buffer.from(bytes.subarray(0, readSync(rest, bytes))));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
    socket.destroy();
    closeSync(rest);
    return Buffer.concat(chunks).toString('utf8');
  };
}

/** Something to connect to outside: by TCP, and by a name that is in no file system. */
async function listeners(): Promise<{ port: number; abstract: string }> {
  const abstract = `keyturn-test-${process.pid}-${Math.random()}`;
  const servers: Server[] = [createServer().listen(0, '127.0.0.1'), createServer().listen(`\0${abstract}`)];
  await Promise.all(servers.map((server) => once(server, 'listening')));
  onTestFinished(() => {
    for (const server of servers) server.close();
  });
  return { port: (servers[0]!.address() as { port: number }).port, abstract };
}
