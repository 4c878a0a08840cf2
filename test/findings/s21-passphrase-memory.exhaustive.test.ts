import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PASSPHRASE, project } from '../support/project.ts';
import { inTerminal } from '../support/pty.ts';

const TOOLS = `version: 1
tools:
  - name: endless
    summary: Waits.
    executable: /usr/bin/sleep
    args: ["60"]
    sandbox: none
    undo: none
`;

/** How often the text is in the writable memory of a process, as one byte or two bytes a character. */
function copiesIn(pid: number, text: string): number {
  const wanted = [Buffer.from(text, 'latin1'), Buffer.from(text, 'utf16le')];
  const fd = openSync(`/proc/${pid}/mem`, 'r');
  try {
    return writableRegions(pid).reduce((found, [from, to]) => {
      const bytes = regionOf(fd, from, to);
      return found + wanted.filter((one) => bytes.includes(one)).length;
    }, 0);
  } finally {
    closeSync(fd);
  }
}

function writableRegions(pid: number): [number, number][] {
  const lines = readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n');
  return lines
    .filter((line) => / rw.. /.test(line))
    .map(
      (line) =>
        line
          .split(' ', 1)[0]!
          .split('-')
          .map((hex) => Number.parseInt(hex, 16)) as [number, number],
    );
}

function regionOf(fd: number, from: number, to: number): Buffer {
  const bytes = Buffer.alloc(Math.min(to - from, 256 * 1024 * 1024));
  try {
    return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, from));
  } catch {
    return bytes.subarray(0, 0); // a region that cannot be read holds no memory of its own
  }
}

describe('S21: a passphrase is forgotten when the key is open', () => {
  it('S21: while the tool runs, the memory of `turn` does not hold the passphrase', async () => {
    const { root, keyturn } = await project(TOOLS);
    const effect = { kind: 'tool' as const, tool: 'endless', arguments: {} };
    const { intent_id } = await keyturn.intents.propose({ declared_goal: 'Wait.', issuer: 'ada', effect });
    const session = inTerminal(['turn', intent_id], { cwd: root });
    await session.expect('Turn the key? (y/n) ');
    session.type('y');
    await session.expect('Passphrase of ada: ');
    session.type(PASSPHRASE);
    while ((await keyturn.intents.get({ intent_id })).status !== 'claimed') await new Promise(setImmediate);
    const copies = copiesIn(session.pid, PASSPHRASE);
    const others = copiesIn(session.pid, intent_id);
    session.kill();
    await session.exited;
    expect(copies).toBe(0);
    expect(others).toBeGreaterThan(0); // the search finds what is there
  });
});
