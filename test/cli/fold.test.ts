import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type Field, fieldLines, fitted, folded, textWidth } from '../../src/cli/fold.ts';
import { painter } from '../../src/cli/paint.ts';
import { table } from '../../src/cli/table.ts';

const drawing = { paint: painter(false), columns: 60 };
const painted = { ...drawing, paint: painter(true) };

const shown = (value: Field[1], on = drawing) =>
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
        expect(width(line.replace(/ $/, ''))).toBeLessThan(60);
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

  it.each([80, 40, 20])('at %i columns a word is cut only where no row has room for it', (columns) => {
    const lines = [
      'A human decides on each of these words, and reads them faster where none of them is cut in two.',
      `Hash ${'0123456789abcdef'.repeat(4)} and more words behind it, which are wrapped as they come`,
      '  indented, with  two spaces, and a path /usr/share/keyturn/policies/starter.cedar at the end',
      `字字字 ${'字'.repeat(30)} and words`,
      painter(true)('alarm', 'RED WORDS that go on and on beyond the edge of whatever terminal shows them'),
    ];
    for (const line of lines)
      for (const hang of [2, 9]) {
        const rows = folded(line, columns, hang);
        const margin = `${' '.repeat(hang - 2)}↪ `;
        const bare = rows.map((row, i) => (i === 0 ? row : row.slice(margin.length)));
        expect(bare.join('')).toBe(line);
        for (const [i, row] of rows.entries()) {
          expect(width(stripVTControlCharacters(row).replace(/ $/, ''))).toBeLessThan(columns);
          const next = rows[i + 1] === undefined ? null : bare[i + 1]!;
          if (next === null || bare[i]!.endsWith(' ') || next.startsWith(' ')) continue;
          const word = `${/[^ ]*$/.exec(bare[i]!)![0]}${/^[^ ]*/.exec(bare.slice(i + 1).join(''))![0]}`;
          expect(width(stripVTControlCharacters(word)), word).toBeGreaterThan(columns - 1 - hang);
        }
      }
  });

  it.each([20, 30, 60, 79, 90])(
    'at %i columns no row is wider than the terminal or holds only the mark',
    (columns) => {
      for (const length of [1, 7, 18, 19, 20, 57, 58, 59, 60, 76, 77, 78, 79, 88, 170])
        for (const hang of [2, 4, 9, 13, 40]) {
          const word = 'w'.repeat(length);
          for (const line of [
            word,
            `${word} ${word} ${word}`,
            `Protected: ${word}  ${word} `,
            `a ${word} b ${word}`,
          ]) {
            for (const row of [
              ...folded(line, columns, hang),
              ...fieldLines([['Asked by', line]], { ...drawing, columns }),
            ]) {
              expect(textWidth(row), row).toBeLessThanOrEqual(columns);
              expect(row, line).not.toMatch(/^ *↪ *$/);
            }
          }
        }
    },
  );

  it.each([20, 30, 60, 72, 79, 90])('at %i columns what is folded is folded once', (columns) => {
    const goal =
      'Count the lines of the log, so that the person who reads it tomorrow sees at once what happens. '.repeat(
        2,
      );
    const rows = [
      ...fieldLines([['Why', goal]], { ...painted, columns }),
      ...folded(painter(true)('alarm', goal), columns, 9),
      ...table(['NAME', 'WHAT'], [['a name', goal]], { columns, prose: true }),
    ];
    expect(rows.flatMap((row) => fitted(row, columns))).toEqual(rows);
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
