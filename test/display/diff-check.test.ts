import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { diffBlock } from '../../src/display/diff.ts';
import { isDiffOf, textPair } from '../../src/display/diff-check.ts';
import { diffOf } from '../../src/plan/report/diff.ts';

const bytes = (text: string | null) => (text === null ? null : Buffer.from(text, 'utf8'));
const blockOf = (before: string | null, after: string | null) =>
  diffBlock(
    { path: 'a.txt', from: 'agent', was: before !== null, will_be: after !== null },
    diffOf(bytes(before), bytes(after)),
    0,
    { lines: 10_000 },
  );
const line = fc.constantFrom('a\n', 'b\n', 'c\n', '\n', '- minus\n', '\u202e\n', 'end', '\\ odd\n', '\r\n');
const text = fc.array(line, { maxLength: 40 }).map((lines) => lines.join(''));

describe('A diff that was drawn', () => {
  test('is found to be that of its two texts', () => {
    fc.assert(
      fc.property(fc.option(text), fc.option(text), (before, after) =>
        isDiffOf(textPair(before, after), blockOf(before, after).hunks),
      ),
    );
  });

  test('is not that of any other text', () => {
    fc.assert(
      fc.property(text, text, text, (before, after, other) => {
        fc.pre(other !== after && other !== before);
        const { hunks } = blockOf(before, after);
        expect(isDiffOf(textPair(before, other), hunks)).toBe(false);
        expect(isDiffOf(textPair(other, after), hunks)).toBe(false);
      }),
    );
  });

  test('has no line less, no other line and no other place', () => {
    const [before, after] = ['one\ntwo\nthree\n', 'one\n2\nthree\nfour\n'];
    const [hunk] = blockOf(before, after).hunks;
    const { lines } = hunk!;
    expect(isDiffOf(textPair(before, after), [hunk!])).toBe(true);
    expect(isDiffOf(textPair(before, after), [])).toBe(false);
    expect(isDiffOf(textPair(before, after), [hunk!, hunk!])).toBe(false);
    expect(isDiffOf(textPair(before, after), [{ ...hunk!, lines: lines.slice(1) }])).toBe(false);
    expect(isDiffOf(textPair(before, after), [{ ...hunk!, old_start: 2 }])).toBe(false);
    expect(
      isDiffOf(textPair(before, after), [{ ...hunk!, lines: lines.map((one) => one.replace('four', '5')) }]),
    ).toBe(false);
  });
});
