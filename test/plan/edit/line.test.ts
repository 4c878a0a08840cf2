import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectRefusal } from '../../support/refusal.ts';
import { edit, editBytes } from './edit.ts';

const insert = (line_number: number, content: string) => ({ type: 'line_insert', line_number, content });
const remove = (start_line: number, end_line: number) => ({ type: 'line_delete', start_line, end_line });

describe('inserted lines', () => {
  it.each([
    ['before the first', 'a\nb\n', 1, 'x', 'x\na\nb\n'],
    ['in the middle', 'a\nb\n', 2, 'x', 'a\nx\nb\n'],
    ['after the last', 'a\nb\n', 3, 'x', 'a\nb\nx\n'],
    ['after a last line without an ending', 'a\nb', 3, 'x', 'a\nb\nx'],
    ['before a last line without an ending', 'a\nb', 2, 'x', 'a\nx\nb'],
    ['before the only line without an ending', 'a', 1, 'x', 'x\na'],
    ['after the only line without an ending', 'a', 2, 'x', 'a\nx'],
    ['in an empty file', '', 1, 'x', 'x\n'],
    ['several at once', 'a\nb\n', 2, 'x\ny', 'a\nx\ny\nb\n'],
    ['with a newline at the end of the content', 'a\nb\n', 2, 'x\n', 'a\nx\nb\n'],
    ['empty ones', 'a\nb\n', 2, '', 'a\n\nb\n'],
    ['two empty ones', 'a\n', 2, '\n\n', 'a\n\n\n'],
    ['into CRLF', 'a\r\nb\r\n', 2, 'x\ny', 'a\r\nx\r\ny\r\nb\r\n'],
    ['at the end of CRLF without a final one', 'a\r\nb', 3, 'x', 'a\r\nb\r\nx'],
    ['CRLF content into LF', 'a\nb\n', 2, 'x\r\ny\r\n', 'a\nx\ny\nb\n'],
    ['after a CRLF line of a mixed file', 'a\r\nb\nc\n', 2, 'x', 'a\r\nx\r\nb\nc\n'],
    ['after an LF line of a mixed file', 'a\r\nb\nc\r\n', 3, 'x', 'a\r\nb\nx\nc\r\n'],
    ['before the first of a CRLF file', 'a\r\nb\r\n', 1, 'x', 'x\r\na\r\nb\r\n'],
    ['where a lone CR is an ordinary character', 'a\rb\n', 2, 'x', 'a\rb\nx\n'],
  ])('%s', (_, before, line, content, after) => {
    expect(edit(before, insert(line, content))).toBe(after);
  });

  it('say where they went', () => {
    expect(editBytes(Buffer.from('a\n'), insert(1, 'x')).output).toBe(
      '1 line inserted at line 1 successfully',
    );
    expect(editBytes(Buffer.from('a\n'), insert(2, 'x\ny')).output).toBe(
      '2 lines inserted at line 2 successfully',
    );
  });

  it('cannot end a file without a final newline with an empty line', async () => {
    await expectRefusal('EDIT_TARGET_UNFIT', () => edit('a', insert(2, '')));
    await expectRefusal('EDIT_TARGET_UNFIT', () => edit('a', insert(2, 'x\n\n')));
  });

  it('have no place more than one past the end', async () => {
    await expectRefusal('EDIT_LINE_OUT_OF_RANGE', () => edit('a\nb\n', insert(4, 'x')));
    await expectRefusal('EDIT_LINE_OUT_OF_RANGE', () => edit('', insert(2, 'x')));
  });
});

describe('deleted lines', () => {
  it.each([
    ['the first', 'a\nb\nc\n', 1, 1, 'b\nc\n'],
    ['the last', 'a\nb\nc\n', 3, 3, 'a\nb\n'],
    ['some', 'a\nb\nc\nd\n', 2, 3, 'a\nd\n'],
    ['all', 'a\nb\n', 1, 2, ''],
    ['a last one without an ending', 'a\nb', 2, 2, 'a'],
    ['a last one without an ending, CRLF', 'a\r\nb', 2, 2, 'a'],
    ['the only one without an ending', 'a', 1, 1, ''],
    ['CRLF', 'a\r\nb\r\nc\r\n', 2, 2, 'a\r\nc\r\n'],
    ['an empty one', 'a\n\nb\n', 2, 2, 'a\nb\n'],
  ])('%s', (_, before, start, end, after) => {
    expect(edit(before, remove(start, end))).toBe(after);
  });

  it('say which they were', () => {
    expect(editBytes(Buffer.from('a\nb\n'), remove(1, 1)).output).toBe('Line 1 deleted successfully');
    expect(editBytes(Buffer.from('a\nb\n'), remove(1, 2)).output).toBe('Lines 1 to 2 deleted successfully');
  });

  it('must all be there', async () => {
    await expectRefusal('EDIT_LINE_OUT_OF_RANGE', () => edit('a\nb\n', remove(2, 3)));
    await expectRefusal('EDIT_LINE_OUT_OF_RANGE', () => edit('', remove(1, 1)));
  });
});

describe('any text', () => {
  const line = fc
    .string({ unit: fc.constantFrom('a', 'é', '😀', '\r', ' '), maxLength: 3 })
    .filter((s) => !s.endsWith('\r'));
  const text = fc
    .tuple(fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n')), { maxLength: 6 }), line)
    .map(([lines, last]) => lines.map(([content, ending]) => content + ending).join('') + last);
  const linesIn = (content: string) => content.match(/[^\n]*\n|[^\n]+$/g) ?? [];

  it('inserted lines can be deleted again, and all bytes are back', () => {
    fc.assert(
      fc.property(text, fc.nat(), fc.array(line, { minLength: 1, maxLength: 3 }), (before, pick, added) => {
        const count = linesIn(before).length;
        const at = (pick % (count + 1)) + 1;
        fc.pre(!(at > count && before !== '' && !before.endsWith('\n') && added.at(-1) === ''));
        const after = edit(before, insert(at, `${added.join('\n')}\n`));
        expect(linesIn(after).length).toBe(count + added.length);
        if (before !== '') expect(after.endsWith('\n')).toBe(before.endsWith('\n'));
        expect(edit(after, remove(at, at + added.length - 1))).toBe(before);
      }),
      { numRuns: 1000 },
    );
  });
});
