import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type Field, fieldLines, folded } from '../../src/cli/fold.ts';
import { painter } from '../../src/cli/paint.ts';

const sheet = { paint: painter(false), columns: 60 };
const painted = { ...sheet, paint: painter(true) };

const shown = (value: Field[1], on = sheet) =>
  fieldLines(
    [
      ['Why', value],
      ['Sandbox', 'NONE'],
    ],
    on,
  );

describe('a screen that a person decides at', () => {
  it('short values stand in one column', () => {
    expect(shown('tidy up')).toEqual(['Why:     tidy up', 'Sandbox: NONE']);
  });

  it('no value reaches the first column, however it is padded', () => {
    const fakes = [
      `ok${' '.repeat(200)}Sandbox: confined`,
      `${'x'.repeat(50)}Sandbox: confined`,
      `${'x'.repeat(51)}Sandbox: confined`,
      `${'字'.repeat(26)}Sandbox: confined`,
      `\t\t\t\t\t\t\tSandbox: confined`,
      'a  '.repeat(17).concat('Sandbox: confined'),
    ];
    for (const fake of fakes) {
      for (const line of [...shown(fake), ...shown([['bold', fake]], painted)].map(
        stripVTControlCharacters,
      )) {
        expect(line).toMatch(/^(Why: {5}|Sandbox: NONE$| {7}↪ )/);
        expect(width(line)).toBeLessThan(60);
      }
    }
  });

  it('runs of blanks are counted instead of shown', () => {
    expect(shown(`a${' '.repeat(12)}b  c\td`)[0]).toBe('Why:     a[␠×12]b  c\\x09d');
  });

  it('however long a value is, all of it is there', () => {
    const text = shown('y'.repeat(25_000)).join('').replace(/ *↪ /g, '');
    expect(text).toContain('y'.repeat(25_000));
  });

  it('nothing is lost in the folding, and colours take no room', () => {
    const text = painter(true)('alarm', 'abcdefghij'.repeat(20));
    const lines = folded(text, 40);
    const joined = lines.map((line, i) => (i === 0 ? line : line.replace('↪ ', ''))).join('');
    expect(joined).toBe(text);
    expect(lines.slice(0, -1).map((line) => stripVTControlCharacters(line).length)).toEqual([
      39, 39, 39, 39, 39,
    ]);
  });
});

function width(line: string): number {
  return [...line].reduce((sum, c) => sum + (c.codePointAt(0)! >= 0x2e80 ? 2 : 1), 0);
}
