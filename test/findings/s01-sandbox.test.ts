import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { prepareRun } from '../../src/tool/run.ts';
import { scratch } from '../support/scratch.ts';
import { effectOf, script } from '../tool/fixture.ts';

/** Opens for writing, and does not write. Prints what could be opened. */
const SETTINGS = `for path in $(find /proc/sys -type f 2>/dev/null); do (: >> "$path") 2>/dev/null && echo "$path"; done; echo end`;

/** A pair of sockets of the family TIPC, whose module the kernel would load for it. Prints the number of the error. */
const PAIR = `exec perl -e 'my $pair = "\\0" x 8; syscall(${process.arch === 'x64' ? 53 : 199}, 30, 2, 0, $pair); print 0 + $!'`;

async function outputOf(body: string, entry: object = {}, folder = scratch()): Promise<string> {
  script(folder, body);
  const effect = effectOf(folder, { executable: 'tool.sh', sandbox: { read: [], write: [] }, ...entry });
  const prepared = prepareRun(effect, { hidden: [], protected: [] });
  const { stdout } = await prepared.run();
  prepared.close();
  return Buffer.from(stdout.bytes).toString();
}

describe('S1: what a confined program can do to the machine', () => {
  it('a tool opens no setting of the kernel for writing', async () => {
    expect(await outputOf(SETTINGS)).toBe('end\n');
  });

  it('a tool has no pair of sockets of a family that it may have no socket of', async () => {
    expect(await outputOf(PAIR)).toBe(String(constants.errno.EPERM));
  });

  it('a tool reads no list of the keys that users have in the kernel', async () => {
    const lists =
      'for path in /proc/keys /proc/key-users; do (: < $path) 2>/dev/null && echo $path; done; echo end';
    expect(await outputOf(lists)).toBe('end\n');
  });

  it('a tool connects to no socket in a folder that it may only read, unless the profile names it', async () => {
    const folder = scratch();
    const paths = ['read/socket', 'write/socket', 'named/socket'].map((name) => join(folder, name));
    for (const path of paths) {
      mkdirSync(dirname(path));
      const server = createServer().listen(path);
      await once(server, 'listening');
      onTestFinished(() => void server.close());
    }
    const sandbox = { read: ['read', 'named', 'named/socket'], write: ['write'] };
    const connect =
      'socket(my $s, AF_UNIX, SOCK_STREAM, 0); print connect($s, pack_sockaddr_un($_)) ? "yes " : "no "';
    const body = `exec perl -MSocket -e 'for (@ARGV) { ${connect} }' ${paths.join(' ')}`;
    expect(await outputOf(body, { sandbox }, folder)).toBe('no yes yes ');
  });

  it('a tool has limits on memory, processes and its own /tmp, also where the registry names none', async () => {
    const seen = `sed -nE 's/^Max (data size|processes) +([0-9]+).*/\\2/p' /proc/self/limits
      for at in /tmp /dev/shm; do df --block-size=1 --output=size $at | sed 1d; done`;
    const MiB = 1024 * 1024;
    const numbers = async (entry: object) => (await outputOf(seen, entry)).trim().split(/\s+/).map(Number);
    const limited = { memory_mb: 64, processes: 9, tmp_mb: 3 };
    expect(await numbers({})).toEqual([4096 * MiB, 256, 256 * MiB, 256 * MiB]);
    expect(await numbers({ limits: limited })).toEqual([64 * MiB, 9, 3 * MiB, 3 * MiB]);
    const full = 'head -c 9000000 /dev/zero > /tmp/f 2>/dev/null; wc -c < /tmp/f';
    expect(Number(await outputOf(full, { limits: limited }))).toBe(3 * MiB);
  });
});
