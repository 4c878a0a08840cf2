import { spawn, spawnSync } from 'node:child_process';
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
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CALLS, DENIED } from '../../src/effect/seccomp/calls.ts';
import { isRoot, ownUser, userFor } from '../../src/effect/user.ts';
import { scratch } from '../support/scratch.ts';

type Kind = 'tool' | 'pipeline' | 'sql' | 'verifier';

/** What one kind of effect is given. */
interface Case {
  readonly kind: Kind;
  readonly run_as?: string;
  readonly network?: boolean;
}

interface Could {
  readonly write: string[];
  readonly create: string[];
  readonly read: string[];
  readonly connect: string[];
  readonly signal: number[];
  readonly run: string[];
  readonly fds: string[];
  readonly calls: Record<string, number>;
  readonly who: Record<string, string>;
}

const EPERM = 1;

/** What follows from the profile, and from nothing that was seen. */
function allowed({ kind, network }: Case, folder: string, root: boolean) {
  const verifier = kind === 'verifier';
  const own = verifier ? ['/dev/shm'] : ['/tmp', '/dev/shm'];
  return {
    roots: verifier ? own : [...own, join(folder, 'write')],
    // A device has no contents, and a pipe is not the folder that it lies in.
    files: [
      ...['null', 'zero', 'full', 'random', 'urandom', 'tty', 'ptmx', 'pts/ptmx', 'console'].map(
        (name) => `/dev/${name}`,
      ),
      join(folder, 'read/pipe'),
    ],
    connect: network || verifier ? ['tcp', 'abstract'] : [],
    // A verifier reads what its user reads; of root that is also what only root's files grant to their owner.
    read: [
      ...(verifier && root ? ['/etc/shadow'] : []),
      ...(verifier ? [join(folder, 'private/open')] : []),
      join(folder, 'read/file'),
    ],
  };
}

const beneath = (roots: readonly string[], path: string) =>
  roots.some((root) => path === root || path.startsWith(`${root}/`));

const PROBE = fileURLToPath(new URL('../support/inventory-probe.mjs', import.meta.url));
const CHILD = fileURLToPath(new URL('../support/inventory-child.ts', import.meta.url));

/** `other` runs Keyturn itself as nobody. */
async function inventory(one: Case, other: boolean): Promise<{ could: Could; folder: string }> {
  const folder = scratch();
  for (const name of ['read', 'write', 'private']) mkdirSync(join(folder, name), { mode: 0o755 });
  const owner =
    one.run_as === 'root' || (!other && ['sql', 'verifier'].includes(one.kind)) ? ownUser() : userFor(null);
  chownSync(join(folder, 'write'), owner.uid, owner.gid);
  copyFileSync(PROBE, join(folder, 'read/probe.mjs'));
  chmodSync(join(folder, 'read/probe.mjs'), 0o755);
  writeFileSync(join(folder, 'read/file'), 'x', { mode: 0o666 });
  writeFileSync(join(folder, 'private/open'), 'x', { mode: 0o644 });
  const pipe = join(folder, 'read/pipe');
  spawnSync('mkfifo', ['-m', '666', pipe]);
  chmodSync(pipe, 0o666);
  const given = JSON.stringify({
    pipe,
    secrets: [
      '/etc/shadow',
      '/proc/kcore',
      '/proc/kmsg',
      ...['private/open', 'read/file'].map((name) => join(folder, name)),
    ],
    outside_pid: process.pid,
    numbers: Object.fromEntries(
      DENIED.flatMap((name) => {
        const number = CALLS[process.arch]!.numbers[name];
        return number === undefined ? [] : [[name, number]];
      }),
    ),
    ...(await listeners()),
  });
  const tool = {
    name: 'probe',
    summary: 'Tries everything.',
    executable: 'read/probe.mjs',
    args: [given.replaceAll('{', '{{').replaceAll('}', '}}')],
    env: { PATH: `${join(process.execPath, '..')}:/usr/bin:/bin` },
    sandbox: { read: ['read'], write: ['write'], network: one.network ?? false },
    timeout_s: 120,
    undo: 'none',
    ...(one.run_as && { run_as: one.run_as }),
  };
  const pipelines = [{ name: 'probe', summary: 'One step.', steps: [{ tool: 'probe' }] }];
  writeFileSync(join(folder, 'tools.yaml'), JSON.stringify({ version: 1, tools: [tool], pipelines }), {
    mode: 0o444,
  });
  const result = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
  const words = [process.execPath, '--import', 'tsx', CHILD, one.kind, folder, given];
  const command = other
    ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--', ...words]
    : words;
  const child = spawn(command[0]!, command.slice(1), {
    stdio: ['ignore', 'inherit', 'pipe'],
    env: { ...process.env, HOME: '/nonexistent', TSX_DISABLE_CACHE: '1' },
  });
  let said = '';
  child.stderr.on('data', (chunk) => (said += chunk));
  await once(child, 'close');
  const bytes = Buffer.alloc(65_536);
  try {
    return { could: JSON.parse(bytes.toString('utf8', 0, readSync(result, bytes))) as Could, folder };
  } catch {
    throw new Error(`the probe said nothing: ${said}`);
  } finally {
    closeSync(result);
  }
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

function compare(one: Case, { could, folder }: { could: Could; folder: string }, root: boolean): void {
  const may = allowed(one, folder, root);
  const written = could.write.filter((path) => !may.files.includes(path) && !beneath(may.roots, path));
  expect({ written, made: could.create.filter((path) => !beneath(may.roots, path)) }).toEqual({
    written: [],
    made: [],
  });
  for (const root of may.roots) expect(could.create).toContain(root);
  expect(could.read.toSorted()).toEqual(may.read.toSorted());
  expect(could.connect.filter((name) => name === 'tcp' || name === 'abstract')).toEqual(may.connect);
  if (one.kind !== 'verifier') expect(could.connect.filter((name) => name.startsWith('/'))).toEqual([]);
  expect(could.signal).not.toContain(process.pid);
  expect(could.run).toEqual([]);
  expect(
    could.fds.filter((name) => name.startsWith('/') && !/^\/(dev\/null|proc\/\d+\/fd)$/.test(name)),
  ).toEqual([]);
  for (const [name, errno] of Object.entries(could.calls)) expect([name, errno]).toEqual([name, EPERM]);
  expect(could.who).toMatchObject({ CapEff: '0'.repeat(16), Seccomp: '2', NoNewPrivs: '1' });
}

const KINDS: readonly Case[] = [
  { kind: 'tool' },
  { kind: 'tool', network: true },
  { kind: 'pipeline' },
  { kind: 'sql' },
  { kind: 'verifier' },
];
const AS_ROOT: readonly Case[] = [
  { kind: 'tool', run_as: 'root' },
  { kind: 'pipeline', run_as: 'root' },
];

describe('S1: everything that a confined program can do', () => {
  it.each(isRoot() ? [...KINDS, ...AS_ROOT] : KINDS)(
    '$kind $run_as: is what its profile says',
    { timeout: 600_000 },
    async (one) => {
      compare(one, await inventory(one, false), isRoot());
    },
  );

  // Where the tests do not run as root, the row above has shown this.
  if (isRoot()) {
    it.each(KINDS)(
      '$kind: is what its profile says where another user runs Keyturn',
      { timeout: 600_000 },
      async (one) => {
        compare(one, await inventory(one, true), false);
      },
    );
  }
});
