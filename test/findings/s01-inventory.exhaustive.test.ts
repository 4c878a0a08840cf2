import { spawnSync } from 'node:child_process';
import { lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isRoot } from '../../src/effect/user.ts';
import { type Inventory, inventory, SOCKETS, whoRuns } from '../support/inventory.ts';
import { type Case, type Rule, ruleOf, type Who } from '../support/inventory-rule.ts';

const EPERM = 1;
const ESRCH = 3;

function compare(one: Case, other: boolean, seen: Inventory): void {
  const who = whoRuns(one, other);
  const rule = ruleOf(one, seen.folder, who);
  compareFiles(one, rule, seen);
  compareKernel(one, who, seen);
  compareOutside(one, rule, seen);
}

function compareFiles({ kind, whole }: Case, rule: Rule, { could, folder, planted }: Inventory): void {
  expect({
    read: could.read.filter((path) => !rule.mayRead(path)),
    listed: could.list.filter((path) => !rule.mayList(path)),
    written: could.write.filter((path) => !rule.mayWrite(path)),
    made: could.create.filter((path) => !rule.mayMake(path)),
  }).toEqual({ read: [], listed: [], written: [], made: [] });
  // And it looked everywhere: what it may do, it could.
  const read = new Set(could.read);
  const files = [
    ...planted,
    ...(whole ? rule.shown.flatMap(filesBeneath) : filesBeneath(join(folder, 'read'))),
  ];
  expect(files.filter((path) => rule.mayRead(path) && !read.has(path))).toEqual([]);
  for (const path of rule.writable) expect(could.create).toContain(path);
  const kernel = kind === 'verifier' ? ['/proc', '/sys', '/dev'] : ['/proc', '/dev'];
  for (const path of kernel) expect(could.list).toContain(path);
}

function filesBeneath(folder: string): string[] {
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return []; // none here, a link, or a file
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return filesBeneath(path);
      return entry.isFile() ? [path] : [];
    });
  } catch {
    return []; // closed
  }
}

/** What the kernel tells, and its calls. */
function compareKernel({ kind, network }: Case, who: Who, { could }: Inventory): void {
  // A verifier has the environment of Keyturn. No other file of the kernel holds the word or the name of the key.
  const own = kind === 'verifier' ? /^\/proc\/\d+\/(task\/\d+\/)?environ$/ : /^$/;
  expect(could.found.filter((path) => !own.test(path))).toEqual([]);
  expect(could.symbols).toBe(symbolsOf(who));
  expect(could.run).toEqual([]);
  expect(could.who).toMatchObject({ CapEff: '0'.repeat(16), Seccomp: '2', NoNewPrivs: '1' });
  const shared = network || kind === 'verifier' ? ['net'] : [];
  for (const name of ['cgroup', 'ipc', 'mnt', 'net', 'pid', 'user', 'uts']) {
    const isShared = could.who[name] === readlinkSync(`/proc/self/ns/${name}`);
    expect([name, isShared]).toEqual([name, shared.includes(name)]);
  }
  const denied = could.calls.filter((line) => /^(denied|seize|attach|memory|key) /.test(line));
  expect(denied.filter((line) => !line.endsWith(` ${EPERM}`))).toEqual([]);
  for (const word of [
    'denied mount',
    'denied keyctl',
    'seize 1',
    'memory 1',
    'key search-3',
    'key request',
  ]) {
    expect(denied).toContain(`${word} ${EPERM}`);
  }
}

/** The beginning of the addresses of the kernel, as this user sees them outside when it has no capability. */
function symbolsOf({ uid, groups }: Who): string {
  const without = ['--bounding-set=-all', '--inh-caps=-all', '--'];
  const head = ['head', '-c', '4096', '/proc/kallsyms'];
  const [program, ...args] = isRoot() ? ['setpriv', ...without, ...head] : head;
  const user = isRoot() && uid !== 0 ? { uid, gid: groups[0]! } : {};
  return spawnSync(program!, args, { encoding: 'latin1', ...user }).stdout;
}

/** Other processes, and what answers outside. */
function compareOutside({ kind, network }: Case, rule: Rule, { could, folder, noticed }: Inventory): void {
  // The first process is bubblewrap's. Every other one is the probe, what it started, or a thread of those.
  expect(could.seen.map(({ name }) => name)).toEqual(['bwrap', 'node']);
  const lines = (word: string) => could.calls.filter((line) => line.startsWith(`${word} `));
  expect(lines('exists').length).toBeGreaterThan(1);
  expect(lines('exists').filter((line) => Number(line.split(' ')[1]) > OWN_PIDS)).toEqual([]);
  expect(lines('pidfd').map((line) => line.split(' ')[2])).toEqual(Array(3).fill(String(ESRCH)));
  expect(noticed).toBe('');
  expect(
    could.fds.filter((name) => name.startsWith('/') && !/^\/(dev\/null|proc\/\d+\/fd)$/.test(name)),
  ).toEqual([]);
  expect(could.connect).toEqual(network || kind === 'verifier' ? ['tcp', 'abstract'] : []);
  const reached = could.calls
    .filter((line) => /^(stream|datagram|pair) .* 0$/.test(line))
    .map((line) => line.split(' ')[1]!);
  expect(reached.filter((path) => !rule.mayConnect(path))).toEqual([]);
  const given = SOCKETS.map((name) => join(folder, name)).filter(rule.mayConnect);
  expect(given.filter((path) => !reached.includes(path))).toEqual([]);
}

/** A sandbox counts its processes and threads from 1, and the probe starts a few dozen. */
const OWN_PIDS = 100;

const KINDS: readonly Case[] = [
  { kind: 'tool' },
  { kind: 'tool', network: true },
  { kind: 'pipeline' },
  { kind: 'sql' },
  { kind: 'verifier' },
];
const AS_ROOT: readonly Case[] = [
  { kind: 'tool', run_as: 'nobody', whole: true },
  { kind: 'tool', run_as: 'root', whole: true },
  { kind: 'pipeline', run_as: 'root' },
];

describe('S1: everything that a confined program can do', () => {
  it.each(isRoot() ? [...KINDS, ...AS_ROOT] : [...KINDS, { kind: 'tool', whole: true } as Case])(
    '$kind $run_as: is what its profile says',
    { timeout: 600_000 },
    async (one) => {
      compare(one, false, await inventory(one, false));
    },
  );

  // Where the tests do not run as root, the row above has shown this.
  if (isRoot()) {
    it.each(KINDS)(
      '$kind: is what its profile says where another user runs Keyturn',
      { timeout: 600_000 },
      async (one) => {
        compare(one, true, await inventory(one, true));
      },
    );
  }
});
