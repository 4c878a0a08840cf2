import { applyPatch } from 'diff';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffOf } from '../../../src/plan/report/diff.ts';
import { hunkLines, slicesOf } from '../../../src/plan/report/hunk.ts';

const bytes = (text: string | null) => (text === null ? null : Buffer.from(text));
const linesOf = (before: string | null, after: string | null) => {
  const diff = diffOf(bytes(before), bytes(after));
  return diff.kind === 'text' ? hunkLines(diff.hunks ?? []) : [];
};

describe('the difference between two contents', () => {
  it('is the unified diff that people know, with line numbers of the whole file', () => {
    const before = Array.from({ length: 100 }, (_, i) => `line ${i + 1}\n`).join('');
    expect(linesOf(before, before.replace('line 50\n', 'LINE 50\nnew\n'))).toEqual([
      '@@ -47,7 +47,8 @@',
      ' line 47',
      ' line 48',
      ' line 49',
      '-line 50',
      '+LINE 50',
      '+new',
      ' line 51',
      ' line 52',
      ' line 53',
    ]);
  });

  it('a new file and a removed file are all plus and all minus', () => {
    expect(linesOf(null, 'a\nb\n')).toEqual(['@@ -0,0 +1,2 @@', '+a', '+b']);
    expect(linesOf('a\n', null)).toEqual(['@@ -1 +0,0 @@', '-a']);
    expect(linesOf(null, '')).toEqual([]);
  });

  it('a missing last newline and a changed line ending are differences', () => {
    expect(linesOf('a\n', 'a')).toContain('\\ No newline at end of file');
    expect(linesOf('a\r\n', 'a\n')).toEqual(['@@ -1 +1 @@', '-a\r', '+a']);
  });

  it('binary content is not compared line by line', () => {
    expect(diffOf(Buffer.from([1, 0, 2]), bytes('a'))).toEqual({ kind: 'binary' });
    expect(diffOf(bytes('a'), Buffer.from([0xff]))).toEqual({ kind: 'binary' });
  });

  it('40,000 lines without one in common are shown whole, and always the same', () => {
    const noise = (seed: number) =>
      Array.from({ length: 20_000 }, (_, i) => `${(i * seed) % 9973}\n`).join('');
    const diff = diffOf(bytes(noise(7919)), bytes(noise(6007)));
    if (diff.kind !== 'text' || diff.hunks === null) throw new Error('it is a text');
    expect(diff.lines_added - diff.lines_removed).toBe(0);
    expect(diffOf(bytes(noise(7919)), bytes(noise(6007)))).toEqual(diff);
  });

  it('a change in every tenth line of many is found line by line', () => {
    const lines = Array.from({ length: 10_000 }, (_, i) => `line ${i}\n`);
    const changed = lines.map((line, i) => (i % 10 === 0 ? `new ${i}\n` : line));
    expect(diffOf(bytes(lines.join('')), bytes(changed.join('')))).toMatchObject({
      lines_added: 1000,
      lines_removed: 1000,
    });
  });

  it('lines that repeat are found where they stay, also around many changes', () => {
    const before = Array.from({ length: 6000 }, (_, i) => `${(i * i) % 7}${(i * 3) % 5}\n`);
    const after = before.map((line, i) => (i % 20 === 0 ? `new ${line}` : line));
    expect(diffOf(bytes(before.join('')), bytes(after.join('')))).toMatchObject({
      lines_added: 300,
      lines_removed: 300,
    });
  });

  it('applying it gives the other text, also where blocks divide what cannot be searched', () => {
    const line = fc.constantFrom('a\n', 'b\n', 'c\n', 'd\n');
    const long = fc.array(line, { minLength: 150, maxLength: 400 });
    fc.assert(
      fc.property(long, long, long, (shared, one, other) => {
        const before = [...one, ...shared, ...one].join('');
        const after = [...other, ...shared, ...other].join('');
        const patch = `--- a\n+++ b\n${linesOf(before, after).join('\n')}\n`;
        expect(applyPatch(before, patch, { autoConvertLineEndings: false })).toBe(after);
      }),
      { numRuns: 30 },
    );
  });

  it('applying it to the one gives the other, for all texts', () => {
    const text = fc
      .array(fc.constantFrom('a\n', 'b\n', 'c\n', 'd', '\n', 'a\r\n'), { maxLength: 30 })
      .map((a) => a.join(''));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = linesOf(before, after);
        const patch = `--- a\n+++ b\n${lines.join('\n')}\n`;
        expect(
          lines.length === 0 ? before : applyPatch(before, patch, { autoConvertLineEndings: false }),
        ).toBe(after);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('a long hunk in parts', () => {
  const hunksOf = (before: string, after: string) => {
    const diff = diffOf(bytes(before), bytes(after));
    return diff.kind === 'text' ? (diff.hunks ?? []) : [];
  };
  const partsOf = (before: string, after: string, most: number) =>
    hunksOf(before, after).flatMap((hunk) => slicesOf(hunk, most));
  /** The lines of one side, a last one without its end marked. */
  const sideOf = (lines: readonly string[], other: string) =>
    lines.flatMap((line, i) =>
      line[0] === other || line[0] === '\\'
        ? []
        : [line.slice(1) + (lines[i + 1]?.startsWith('\\') ? '' : '\n')],
    );

  it('have the lines of both sides, each once and in order, and their numbers go on', () => {
    const text = fc
      .array(fc.constantFrom('a\n', 'b\n', 'c\n', 'd', '\n', 'a\r\n'), { maxLength: 40 })
      .map((a) => a.join(''));
    fc.assert(
      fc.property(text, text, fc.integer({ min: 2, max: 9 }), (before, after, most) => {
        for (const hunk of hunksOf(before, after)) {
          const parts = slicesOf(hunk, most);
          for (const other of ['+', '-'])
            expect(parts.flatMap(({ lines }) => sideOf(lines, other))).toEqual(sideOf(hunk.lines, other));
          let [old_at, new_at] = [hunk.old_start, hunk.new_start];
          for (const { old_start, old_lines, new_start, new_lines, lines } of parts) {
            expect([old_start, new_start]).toEqual([old_at, new_at]);
            expect([old_lines, new_lines]).toEqual([sideOf(lines, '+').length, sideOf(lines, '-').length]);
            [old_at, new_at] = [old_at + old_lines, new_at + new_lines];
          }
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('has old lines and those in their place in one part, and no part is too large', () => {
    const lines = (word: string) => Array.from({ length: 1000 }, (_, i) => `${word} ${i}\n`).join('');
    const parts = partsOf(lines('old'), lines('new'), 240);
    expect(parts[1]!.lines).toContain('-old 130');
    expect(parts[1]!.lines).toContain('+new 130');
    expect(Math.max(...parts.map((part) => part.lines.length))).toBe(240);
    const [wide, ...others] = partsOf('', `${'w'.repeat(100_000)}\n${'x\n'.repeat(5)}`, 240);
    expect(wide!.lines).toHaveLength(1);
    expect(others).toHaveLength(1);
  });
});
