import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openJournal, readJournal } from '../../src/plan/rollback/journal.ts';
import { loadManifest } from '../../src/plan/rollback/manifest.ts';
import { rollBack } from '../../src/plan/rollback/roll-back.ts';
import { bundleChild, hasStrace, layProject } from '../plan/engine/crash.ts';
import {
  deriveAndExecute,
  everything,
  execute,
  journalOf,
  lay,
  modify,
  picture,
  plan,
  REPORTS,
} from '../plan/engine/story.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';

const JOURNAL = `${REPORTS}/journal.jsonl`;
const AT = '2026-01-15T12:00:00.000Z';

let child: Awaited<ReturnType<typeof bundleChild>>;
beforeAll(async () => {
  child = await bundleChild();
});
afterAll(() => child.remove());

async function ended() {
  const root = scratch();
  lay(root, { a: 'one' });
  const before = picture(root);
  await deriveAndExecute(root, plan([modify('1', 'a', 'one', 'two')]));
  return { root, before, journal: join(root, JOURNAL) };
}

const back = (root: string) => rollBack(loadManifest(root, REPORTS), { root, journal: journalOf(root) });

/** A line that changes nothing: it is about a path that no plan names. */
const filler = (length: number): string => {
  const line = (path: string) => `${JSON.stringify({ kind: 'untouched', at: AT, paths: [path] })}\n`;
  return line('x'.repeat(length - line('').length));
};

describe('P4: a torn last line of the journal', () => {
  it('is cut and written on, so that a second and a third rollback read it', async () => {
    const { root, before, journal } = await ended();
    const whole = readFileSync(journal, 'utf8');
    appendFileSync(journal, '{"kind":"rolled_back","at":"2026-01-');
    writeFileSync(join(root, 'a'), 'theirs');
    expect((await back(root)).status).toBe('stuck');
    writeFileSync(join(root, 'a'), 'two');
    expect((await back(root)).status).toBe('rolled_back');
    expect(picture(root)).toEqual(before);
    expect(readFileSync(journal, 'utf8').startsWith(whole)).toBe(true);
    expect(readJournal(root, REPORTS).map(({ kind }) => kind)).toEqual([
      'finished',
      'rolled_back',
      'rolled_back',
    ]);
  });

  it('left by kill -9 inside the write does not stop the next rollback', async () => {
    if (!hasStrace) return console.warn('SKIPPED: strace is not installed, so no kill inside a write');
    const root = scratch();
    const { effect_file, before } = await layProject(root);
    await execute(root, JSON.parse(readFileSync(effect_file, 'utf8')));
    const journal = join(root, JOURNAL);
    appendFileSync(journal, filler(100_000));
    const { size } = statSync(journal);
    // No file may grow past this size, so the write of the last line ends after 30 bytes; what would take them back is killed.
    const limited = [`--fsize=${size + 30}:${size + 30}`, 'strace', '-f', '-qq', '-o', '/dev/null'];
    const killed = ['-e', 'trace=ftruncate', '-e', 'inject=ftruncate:signal=KILL:when=1'];
    spawnSync('prlimit', [...limited, ...killed, process.execPath, child.path, 'back', root]);
    expect(statSync(journal).size).toBe(size + 30);
    expect(readFileSync(journal, 'utf8').endsWith('\n')).toBe(false);
    for (const _ of [1, 2, 3]) expect((await back(root)).status).toBe('rolled_back');
    expect(everything(root)).toEqual(before);
  });

  it('left by a full disk does not stop the next line', async () => {
    const root = join(scratch(), 'disk');
    mkdirSync(root);
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', root]).status !== 0)
      return console.warn('SKIPPED: this needs the right to mount a tmpfs (run as root)');
    onTestFinished(() => void spawnSync('umount', ['-l', root]));
    mkdirSync(join(root, REPORTS), { recursive: true });
    writeFileSync(join(root, JOURNAL), filler(4096 - 30));
    expect(() => writeFileSync(join(root, 'fills'), Buffer.alloc(2 ** 21))).toThrow('ENOSPC');
    const journal = await openJournal(root, REPORTS);
    onTestFinished(() => journal.close());
    const line = { kind: 'untouched' as const, at: AT, paths: ['y'.repeat(60)] };
    await expectRefusal('DISK_FULL', () => journal.append(line));
    writeFileSync(join(root, 'fills'), '');
    journal.append(line);
    expect(readJournal(root, REPORTS).at(-1)).toEqual(line);
  });

  it('of zeros is cut where one write can have left it', async () => {
    const { root, before, journal } = await ended();
    appendFileSync(journal, Buffer.alloc(300));
    for (const _ of [1, 2]) expect((await back(root)).status).toBe('rolled_back');
    expect(picture(root)).toEqual(before);
    expect(readFileSync(journal).includes(0)).toBe(false);
  });

  it.each([
    ['a journal of zeros that is longer than any line', Buffer.alloc(2 ** 21)],
    ['a line of 10 MB', Buffer.from(filler(10 * 2 ** 20))],
    ['a last line of 10 MB without an end', Buffer.from(filler(10 * 2 ** 20)).subarray(0, -1)],
    ['a whole line that is none', Buffer.from('{"kind":"finished"}\n')],
  ])('%s is refused, and nothing is touched', async (_, bytes) => {
    const { root, journal } = await ended();
    writeFileSync(journal, bytes);
    const after = picture(root);
    await expectRefusal('JOURNAL_CORRUPT', () => back(root));
    expect(picture(root)).toEqual(after);
    expect(readFileSync(journal).equals(bytes)).toBe(true);
  });
});
