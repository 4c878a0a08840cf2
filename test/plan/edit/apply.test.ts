import { describe, expect, it } from 'vitest';
import { editLimits } from '../../../src/limits.ts';
import { inBytes, openText } from '../../../src/plan/edit/splice.ts';
import { expectRefusal } from '../../support/refusal.ts';
import { edit, editBytes } from './edit.ts';

const EDITS = [
  { type: 'text_replace', pattern: 'a', replacement: 'b' },
  { type: 'line_insert', line_number: 1, content: 'x' },
  { type: 'line_delete', start_line: 1, end_line: 1 },
  { type: 'json_add_property', path: '$', key: 'k', value: 1 },
  { type: 'json_remove_property', path: '$', key: 'a' },
  { type: 'json_update_value', path: '$.a', value: 2 },
  { type: 'yaml_update', path: 'a', value: 2 },
];

describe.each(EDITS)('$type', (operation) => {
  it('refuses a binary file', async () => {
    await expectRefusal('EDIT_BINARY', () => editBytes(Buffer.from('{"a":\0 1}\n'), operation));
  });

  it('refuses what is not UTF-8', async () => {
    await expectRefusal('INPUT_NOT_UTF8', () => editBytes(Buffer.from([0x7b, 0xff, 0x7d]), operation));
  });

  it('refuses a file that is too large', async () => {
    const bytes = Buffer.alloc(editLimits.file_bytes + 1, 'a');
    await expectRefusal('INPUT_TOO_LARGE', () => editBytes(bytes, operation));
  });

  it('gives the same bytes for the same bytes, and leaves its input alone', () => {
    const bytes = Buffer.from('{"a": 1}\n');
    const first = editBytes(bytes, operation);
    const second = editBytes(bytes, operation);
    expect(first).toEqual(second);
    expect(bytes.toString()).toBe('{"a": 1}\n');
  });
});

describe('the result of an edit', () => {
  it('an edit that changes nothing is refused', async () => {
    const nothing = { type: 'text_replace', pattern: 'a', replacement: 'a' };
    await expectRefusal('EDIT_CHANGES_NOTHING', () => edit('aaa', nothing));
  });

  it('a result that is too large is refused before it is made', async () => {
    const many = {
      type: 'text_replace',
      pattern: 'a',
      replacement: 'q'.repeat(100_000),
      max_matches: 100_000,
    };
    await expectRefusal('EDIT_RESULT_TOO_LARGE', () => edit('a'.repeat(100_000), many));
    const groups = { ...many, pattern: '(?s)(.+)', replacement: '$1'.repeat(100), regex: true };
    await expectRefusal('EDIT_RESULT_TOO_LARGE', () => edit('a'.repeat(1_000_000), groups));
    const each = { ...many, pattern: '(a)', regex: true };
    await expectRefusal('EDIT_RESULT_TOO_LARGE', () => edit('a'.repeat(600), each));
  });

  it('the byte order mark stays, and no edit sees it', () => {
    const marked = '\uFEFFa: 1\n';
    expect(edit(marked, { type: 'text_replace', pattern: '^a', replacement: 'b', regex: true })).toBe(
      '\uFEFFb: 1\n',
    );
    expect(edit(marked, { type: 'line_insert', line_number: 1, content: 'x' })).toBe('\uFEFFx\na: 1\n');
    expect(edit(marked, { type: 'yaml_update', path: 'a', value: 2 })).toBe('\uFEFFa: 2\n');
    expect(edit('\uFEFF{"a":1}', { type: 'json_update_value', path: '$.a', value: 2 })).toBe('\uFEFF{"a":2}');
  });

  it('places after characters of several bytes are found', () => {
    const operation = { type: 'text_replace', pattern: 'x', replacement: '😀' };
    expect(edit('éx😀x\u2028x', operation)).toBe('é😀😀😀\u2028😀');
  });

  it('parts of an edit that overlap are a fault of the program, not a change', async () => {
    const source = openText(Buffer.from('abc'));
    const overlapping = [
      { start: 0, end: 2, text: '' },
      { start: 1, end: 3, text: '' },
    ];
    await expectRefusal('INTERNAL', () => inBytes(source, 'abc', overlapping));
  });
});

describe('formats', () => {
  it('a YAML edit of a JSON file is refused, and a JSON edit of a YAML file', async () => {
    const yaml = { type: 'yaml_update', path: 'a', value: 2 };
    const json = { type: 'json_update_value', path: '$.a', value: 2 };
    await expectRefusal('EDIT_FORMAT_MISMATCH', () => edit('{"a":1}', yaml, { path: 'x/package.json' }));
    await expectRefusal('EDIT_FORMAT_MISMATCH', () => edit('{"a":1}', yaml, { path: 'tsconfig.json' }));
    await expectRefusal('EDIT_FORMAT_MISMATCH', () => edit('{"a":1}', json, { path: 'x.yml' }));
    await expectRefusal('EDIT_FORMAT_MISMATCH', () => edit('{"a":1}', json, { path: 'X.YAML' }));
  });

  it.each([
    'a.jsonc',
    'tsconfig.json',
    'app/tsconfig.build.json',
    '.vscode/settings.json',
    'x.code-workspace',
  ])('comments are accepted in %s', (path) => {
    const operation = { type: 'json_update_value', path: '$.a', value: 2 };
    expect(edit('{"a":1,} // c', operation, { path })).toBe('{"a":2,} // c');
  });

  it.each(['a.json', 'a.txt', 'mytsconfig.json', 'a', 'vscode/settings.json'])(
    'comments are refused in %s',
    async (path) => {
      const operation = { type: 'json_update_value', path: '$.a', value: 2 };
      await expectRefusal('JSON_MALFORMED', () => edit('{"a":1} // c', operation, { path }));
      await expectRefusal('JSON_MALFORMED', () => edit('{"a":1,}', operation, { path }));
    },
  );
});
