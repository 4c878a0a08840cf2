import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectRefusal } from '../../support/refusal.ts';
import { edit, editBytes } from './edit.ts';

const literal = (pattern: string, replacement: string, more: object = {}) => ({
  type: 'text_replace',
  pattern,
  replacement,
  ...more,
});
const regex = (pattern: string, replacement: string, more: object = {}) =>
  literal(pattern, replacement, { regex: true, ...more });

/** A group in braces. */
const group = (name: string) => `$${`{${name}}`}`;

describe('a literal replacement', () => {
  it('replaces every place and says how many', () => {
    const { bytes, output } = editBytes(Buffer.from('a b a b a'), literal('a', 'cc'));
    expect(Buffer.from(bytes).toString()).toBe('cc b cc b cc');
    expect(output).toBe('3 matches replaced successfully');
  });

  it.each(['$1', '$$', '$&', group('name'), "$'", '\\1', '\\n'])('%s is taken as it is', (replacement) => {
    expect(edit('x', literal('x', replacement))).toBe(replacement);
  });

  it('a pattern is text, not an expression', async () => {
    expect(edit('a.c abc', literal('a.c', 'x'))).toBe('x abc');
    await expectRefusal('EDIT_NO_MATCH', () => edit('abc', literal('a.c', 'x')));
    await expectRefusal('EDIT_NO_MATCH', () => edit('ABC', literal('abc', 'x')));
  });

  it('places do not overlap and the new text is not searched again', () => {
    expect(edit('aaaa', literal('aa', 'a'))).toBe('aa');
    expect(edit('ab', literal('a', 'aa'))).toBe('aab');
  });

  it('the byte order mark is not searched', async () => {
    await expectRefusal('EDIT_NO_MATCH', () => edit('\ufeffa', literal('\ufeff', 'x')));
    expect(edit('\ufeffa\ufeff', literal('\ufeff', 'x'))).toBe('\ufeffax');
  });

  it('a line ending in the pattern is the one it says', async () => {
    await expectRefusal('EDIT_NO_MATCH', () => edit('a\r\nb', literal('a\nb', 'x')));
    expect(edit('a\r\nb', literal('a\r\nb', 'x'))).toBe('x');
  });
});

describe('the number of matches', () => {
  it('none is refused', async () => {
    await expectRefusal('EDIT_NO_MATCH', () => edit('abc', literal('x', 'y')));
    await expectRefusal('EDIT_NO_MATCH', () => edit('', regex('x', 'y')));
  });

  it.each([1, 2, 4])('three matches are not the %i that the plan expects', async (expected_matches) => {
    await expectRefusal('EDIT_MATCH_COUNT', () => edit('aaa', literal('a', 'b', { expected_matches })));
    await expectRefusal('EDIT_MATCH_COUNT', () => edit('aaa', regex('a', 'b', { expected_matches })));
  });

  it('exactly the expected number is accepted', () => {
    expect(edit('aaa', literal('a', 'b', { expected_matches: 3 }))).toBe('bbb');
    expect(edit('aaa', regex('a', 'b', { expected_matches: 3 }))).toBe('bbb');
  });

  it('more than the bound is refused, also when the plan sets none', async () => {
    expect(edit('aaa', literal('a', 'b', { max_matches: 3 }))).toBe('bbb');
    await expectRefusal('EDIT_MATCH_COUNT', () => edit('aaa', literal('a', 'b', { max_matches: 2 })));
    await expectRefusal('EDIT_MATCH_COUNT', () => edit('aaa', regex('a', 'b', { max_matches: 2 })));
    await expectRefusal('EDIT_MATCH_COUNT', () => edit('a'.repeat(1001), literal('a', 'b')));
    expect(edit('a'.repeat(1000), literal('a', 'b'))).toBe('b'.repeat(1000));
  });
});

describe('a regular expression', () => {
  it('groups are named by number and by name', () => {
    expect(edit('key: 12', regex('(\\w+): (?P<n>\\d+)', `${group('n')}=$1`))).toBe('12=key');
    expect(edit('ab', regex('(?<x>a)(b)', `[$0|${group('0')}|$2${group('x')}]`))).toBe('[ab|ab|ba]');
  });

  it('two dollar signs are one, and braces end a number', () => {
    expect(edit('a', regex('(a)', `$$1 ${group('1')}0`))).toBe('$1 a0');
  });

  it('a group that took no part is empty', () => {
    expect(edit('b', regex('(a)?b', '<$1>'))).toBe('<>');
  });

  it.each(['$', '$ ', '$x', '$2', '$10', group('2'), group('name'), '${', '$&', '$<x>'])(
    'the replacement "%s" is refused',
    async (replacement) => {
      await expectRefusal('EDIT_REPLACEMENT_INVALID', () => edit('a', regex('(a)', replacement)));
    },
  );

  it('a replacement with more groups than anyone needs is refused', async () => {
    expect(edit('a', regex('(a)', '$1'.repeat(100)))).toBe('a'.repeat(100));
    await expectRefusal('EDIT_REPLACEMENT_INVALID', () => edit('a', regex('(a)', '$1'.repeat(101))));
  });

  it('a backslash in the replacement is a backslash', () => {
    expect(edit('a', regex('a', '\\n\\1'))).toBe('\\n\\1');
  });

  it('the flags i, m and s mean what they mean everywhere', async () => {
    expect(edit('A', regex('a', 'b', { flags: 'i' }))).toBe('b');
    expect(edit('a\na', regex('^a$', 'b', { flags: 'm' }))).toBe('b\nb');
    await expectRefusal('EDIT_NO_MATCH', () => edit('a\na', regex('^a$', 'b')));
    expect(edit('a\nb', regex('a.b', 'x', { flags: 's' }))).toBe('x');
    await expectRefusal('EDIT_NO_MATCH', () => edit('a\nb', regex('a.b', 'x')));
    expect(edit('A\nB', regex('^a.b$', 'x', { flags: 'ims' }))).toBe('x');
  });

  it.each(['(', '(?=a)', '(?<=a)b', '(a)\\1', 'a{1001}', '[z-a]', '*'])('%s is not RE2', async (pattern) => {
    await expectRefusal('EDIT_PATTERN_INVALID', () => edit('aaa', regex(pattern, 'b')));
  });

  it.each(['x*', '^', '', 'b?'])('"%s(a|)" that matches empty text is refused', async (pattern) => {
    await expectRefusal('EDIT_PATTERN_INVALID', () => edit('ccc', regex(`${pattern}(a|)`, 'b')));
  });

  it('an expression that makes other engines hang is harmless', async () => {
    const text = `${'a'.repeat(20_000)}!`;
    await expectRefusal('EDIT_NO_MATCH', () => edit(text, regex('^(a+)+$', 'b')));
  });

  it('many searches that each read the whole text are refused', async () => {
    const operation = regex('ab', 'c', { max_matches: 100_000 });
    await expectRefusal('EDIT_COSTLY', () => edit('ab'.repeat(100_000), operation));
    expect(edit('ab'.repeat(1_000), operation)).toBe('c'.repeat(1_000));
    expect(edit('ab\n'.repeat(100_000), operation)).toBe('c\n'.repeat(100_000));
    for (const pattern of ['a[^c]', 'a[b\\n]', 'a(?s:.)', 'a\\D', 'a[[:^digit:]]', '(?i)ab']) {
      await expectRefusal('EDIT_COSTLY', () => edit('ab\n'.repeat(100_000), { ...operation, pattern }));
    }
    await expectRefusal('EDIT_COSTLY', () =>
      edit('a'.repeat(200_000), regex('(?:a?){1000}(?:b?){900}c', 'x')),
    );
  });

  it('a quoted expression does what the literal does', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '.', '$', 'é', '😀', '\n'), maxLength: 40 });
    const pattern = fc.string({
      unit: fc.constantFrom('a', 'b', '.', '$', 'é', '😀'),
      minLength: 1,
      maxLength: 3,
    });
    fc.assert(
      fc.property(text, pattern, (content, wanted) => {
        fc.pre(content.includes(wanted));
        const quoted = wanted.replace(/[.$]/g, '\\$&');
        expect(edit(content, regex(quoted, 'X'))).toBe(edit(content, literal(wanted, 'X')));
        expect(edit(content, literal(wanted, 'X'))).toBe(content.replaceAll(wanted, 'X'));
      }),
    );
  });
});
