import { describe, expect, it } from 'vitest';
import { editLimits } from '../../../src/limits.ts';
import { editJson } from '../../../src/plan/edit/json-edit.ts';
import { editOperationSchema } from '../../../src/plan/edit/operation.ts';
import { expectRefusal } from '../../support/refusal.ts';
import { edit, editBytes } from './edit.ts';

const add = (path: string, key: string, value: unknown) => ({ type: 'json_add_property', path, key, value });
const remove = (path: string, key: string) => ({ type: 'json_remove_property', path, key });
const update = (path: string, value: unknown) => ({ type: 'json_update_value', path, value });
const jsonc = { format: 'jsonc' } as const;

describe('adding a property', () => {
  it('the example of 004 section 12.1 gives its output', () => {
    const schema = '{\n  "properties": {\n    "id": {\n      "type": "integer"\n    }\n  }\n}\n';
    const { bytes, output } = editBytes(
      Buffer.from(schema),
      add('$.properties', 'new_field', { type: 'string' }),
      { path: 'esquemas/esquema_bd.json' },
    );
    expect(output).toBe("Property 'new_field' added successfully");
    expect(Buffer.from(bytes).toString()).toBe(
      '{\n  "properties": {\n    "id": {\n      "type": "integer"\n    },\n    "new_field": {\n      "type": "string"\n    }\n  }\n}\n',
    );
  });

  it.each([
    ['spaces', '{\n   "a": 1\n}', '{\n   "a": 1,\n   "k": [\n      1\n   ]\n}'],
    ['tabs', '{\n\t"a": 1\n}\n', '{\n\t"a": 1,\n\t"k": [\n\t\t1\n\t]\n}\n'],
    ['CRLF', '{\r\n  "a": 1\r\n}\r\n', '{\r\n  "a": 1,\r\n  "k": [\r\n    1\r\n  ]\r\n}\r\n'],
    ['one line', '{ "a": 1 }', '{ "a": 1, "k": [1] }'],
    ['no blanks', '{"a":1}', '{"a":1,"k":[1]}'],
    ['an empty object', '{}', '{"k":[1]}'],
    ['an empty object in a file with lines', '{}\n', '{\n  "k": [\n    1\n  ]\n}\n'],
    ['an empty object with a line', '{\n}', '{\n  "k": [\n    1\n  ]\n}'],
  ])('%s stay as they are', (_, before, after) => {
    expect(edit(before, add('$', 'k', [1]))).toBe(after);
  });

  it('a wide indentation is kept', () => {
    const unit = ' '.repeat(12);
    expect(edit(`{\n${unit}"a": 1\n}`, add('$', 'k', { b: 2 }))).toBe(
      `{\n${unit}"a": 1,\n${unit}"k": {\n${unit}${unit}"b": 2\n${unit}}\n}`,
    );
  });

  it('comments stay where they are', () => {
    expect(edit('{\n  "a": 1 // one\n  // end\n}', add('$', 'k', 2), jsonc)).toBe(
      '{\n  "a": 1, // one\n  // end\n  "k": 2\n}',
    );
    expect(edit('{"a": 1 /* one */}', add('$', 'k', 2), jsonc)).toBe('{"a": 1, "k": 2 /* one */}');
    expect(edit('{ // none\n}', add('$', 'k', 2), jsonc)).toBe('{ // none\n  "k": 2\n}');
    expect(edit('{ /* none */ }', add('$', 'k', 2), jsonc)).toBe('{ /* none */ "k":2 }');
    expect(edit('{\n  "a": 1 // \u2028\n}', add('$', 'k', 2), jsonc)).toBe(
      '{\n  "a": 1, // \u2028\n  "k": 2\n}',
    );
  });

  it('a trailing comma stays the custom of its object', () => {
    expect(edit('{\n  "a": 1,\n}', add('$', 'k', 2), jsonc)).toBe('{\n  "a": 1,\n  "k": 2,\n}');
    expect(edit('{"a": 1,}', add('$', 'k', 2), jsonc)).toBe('{"a": 1, "k": 2,}');
  });

  it('a key that exists is refused, however it is written', async () => {
    await expectRefusal('EDIT_KEY_EXISTS', () => edit('{"a": 1}', add('$', 'a', 2)));
    await expectRefusal('EDIT_KEY_EXISTS', () => edit('{"\\u0061": 1}', add('$', 'a', 2)));
  });

  it('a property of an array or a text is refused', async () => {
    await expectRefusal('EDIT_TARGET_UNFIT', () => edit('{"a": [1]}', add('$.a', 'k', 2)));
    await expectRefusal('EDIT_TARGET_UNFIT', () => edit('{"a": "x"}', add('$.a', 'k', 2)));
  });
});

describe('removing a property', () => {
  it.each([
    ['the first', 'a', '{\n  "b": 2,\n  "c": 3\n}\n'],
    ['the middle', 'b', '{\n  "a": 1,\n  "c": 3\n}\n'],
    ['the last', 'c', '{\n  "a": 1,\n  "b": 2\n}\n'],
  ])('%s takes its line and one comma', (_, key, after) => {
    expect(edit('{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}\n', remove('$', key))).toBe(after);
  });

  it.each([
    ['{"a":1,"b":2}', 'a', '{"b":2}'],
    ['{"a":1,"b":2}', 'b', '{"a":1}'],
    ['{ "a": 1, "b": 2 }', 'b', '{ "a": 1 }'],
    ['{"a":1}', 'a', '{}'],
    ['{\n  "a": 1\n}', 'a', '{}'],
    ['{ "a": 1,\n  "b": 2 }', 'a', '{ "b": 2 }'],
    ['{ "a": 1,\n  "b": 2 }', 'b', '{ "a": 1 }'],
  ])('from %j goes %s', (before, key, after) => {
    expect(edit(before, remove('$', key))).toBe(after);
  });

  it('a comment behind it on its line goes along, all others stay', () => {
    const text = '{\n  // before a\n  "a": 1, // a\n  // before b\n  "b": 2 // b\n  // end\n}';
    expect(edit(text, remove('$', 'a'), jsonc)).toBe(
      '{\n  // before a\n  // before b\n  "b": 2 // b\n  // end\n}',
    );
    expect(edit(text, remove('$', 'b'), jsonc)).toBe(
      '{\n  // before a\n  "a": 1 // a\n  // before b\n  // end\n}',
    );
    expect(edit('{ "a": 1, /* of b */ "b": 2 }', remove('$', 'a'), jsonc)).toBe('{ /* of b */ "b": 2 }');
    expect(edit('{ "a": 1, // a\n "b": 2 }', remove('$', 'b'), jsonc)).toBe('{ "a": 1 // a\n  }');
  });

  it('a missing key is refused', async () => {
    await expectRefusal('EDIT_KEY_MISSING', () => edit('{"a": 1}', remove('$', 'b')));
    await expectRefusal('EDIT_KEY_MISSING', () => edit('{"a": 1}', remove('$', 'toString')));
    await expectRefusal('EDIT_TARGET_UNFIT', () => edit('[1]', remove('$', '0')));
  });
});

describe('updating a value', () => {
  it.each([
    ['a scalar', '{"a": 1, "b": 2}', '$.a', 'x', '{"a": "x", "b": 2}'],
    ['an element', '[1, 2, 3]', '$[1]', null, '[1, null, 3]'],
    ['an element from the end', '[1, 2, 3]', '$[-1]', 4, '[1, 2, 4]'],
    ['the whole', ' [1]\n', '$', true, ' true\n'],
    ['a list on one line', '{\n  "a": [1, 2]\n}', '$.a', [1, { b: 2 }], '{\n  "a": [1, {"b": 2}]\n}'],
    ['a list with lines', '{\n  "a": [\n    1\n  ]\n}', '$.a', [2], '{\n  "a": [\n    2\n  ]\n}'],
    ['a scalar by an object', '{\n  "a": 1\n}', '$.a', { b: {} }, '{\n  "a": {\n    "b": {}\n  }\n}'],
    ['a key with dots', '{"a.b": 1}', "$['a.b']", 2, '{"a.b": 2}'],
    [
      'by a filter',
      '[{"id": 1, "x": 0}, {"id": 2, "x": 0}]',
      '$[?@.id == 2].x',
      5,
      '[{"id": 1, "x": 0}, {"id": 2, "x": 5}]',
    ],
    ['by a descent', '{"a": {"b": {"deep": 1}}}', '$..deep', 2, '{"a": {"b": {"deep": 2}}}'],
    ['minus zero', '{"a": 1}', '$.a', -0, '{"a": 0}'],
  ])('%s', (_, before, path, value, after) => {
    expect(edit(before, update(path, value))).toBe(after);
  });

  it('numbers elsewhere keep every digit', () => {
    const text = '{"big": 12345678901234567890, "long": 1.10000000000000000000, "e": 1E400, "a": 1}';
    expect(edit(text, update('$.a', 2))).toBe(text.replace('"a": 1', '"a": 2'));
  });

  it('a search in a file with comments finds its place', () => {
    const text = '{ // c\n  "list": [ {"id": 1, /* x */ "v": 0,}, /* y */ {"id": 2, "v": 0}, ],\n}';
    expect(edit(text, update('$.list[?@.id == 2].v', 9), jsonc)).toBe(
      text.replace('"v": 0}, ]', '"v": 9}, ]'),
    );
  });

  it('the value that is there already is refused', async () => {
    await expectRefusal('EDIT_CHANGES_NOTHING', () =>
      edit('{"a": [1, {"b":2}]}', update('$.a', [1, { b: 2 }])),
    );
  });
});

describe('the path', () => {
  it.each(['$.x', '$.a.b', '$.list[5]', '$.list.a', '$[0]', '$..x', '$.list[?@ == 9]', '$.list[-4]'])(
    '%s leads to nothing',
    async (path) => {
      await expectRefusal('EDIT_TARGET_MISSING', () => edit('{"a": 1, "list": [1, 2, 3]}', update(path, 7)));
    },
  );

  it.each(['$.list[*]', '$.list[0:2]', '$..*', '$.list[?@ > 1]', '$[?@ != 5]'])(
    '%s leads to several places',
    async (path) => {
      await expectRefusal('EDIT_TARGET_AMBIGUOUS', () =>
        edit('{"a": 1, "list": [1, 2, 3]}', update(path, 7)),
      );
    },
  );

  it.each([
    'a',
    '',
    '$.',
    '$a',
    '$.a b',
    '$[',
    "$['a','a']",
    '$[*,*][*,*]',
    '$..a..b',
    '$[?$.a == 1]',
    '$[?@..a]',
    '$[?count(@.*) > 1]',
    "$[?match(@, '(a+)+')]",
    "$[?search(@, 'a')]",
    '$.list[9007199254740993]',
  ])('%s is not followed', async (path) => {
    const operation = { type: 'json_update_value', path, value: 7 } as const;
    await expectRefusal('EDIT_PATH_MALFORMED', () => editJson('{"a": 1, "list": [1]}', false, operation));
  });

  it('a search through more than it can bear is refused', async () => {
    const deep = `${'['.repeat(250)}${Array.from({ length: 130_000 }, () => 1).join()}${']'.repeat(250)}`;
    await expectRefusal('EDIT_COSTLY', () => edit(`{"a": 1, "d": ${deep}}`, update('$..a', 2)));
    expect(edit(`{"a": 1, "d": ${deep}}`, update('$.a', 2))).toBe(`{"a": 2, "d": ${deep}}`);
  });
});

describe('the document', () => {
  it.each([
    ['', 'JSON_MALFORMED'],
    ['{"a": 1', 'JSON_MALFORMED'],
    ['{"a": 1}}', 'JSON_MALFORMED'],
    ['{"a": 1} {}', 'JSON_MALFORMED'],
    ["{'a': 1}", 'JSON_MALFORMED'],
    ['{a: 1}', 'JSON_MALFORMED'],
    ['{"a": 01}', 'JSON_MALFORMED'],
    ['{"a": 1.}', 'JSON_MALFORMED'],
    ['{"a": +1}', 'JSON_MALFORMED'],
    ['{"a": NaN}', 'JSON_MALFORMED'],
    ['{"a": "\t"}', 'JSON_MALFORMED'],
    ['{"a": "\\x41"}', 'JSON_MALFORMED'],
    ['{"a": "\\u12"}', 'JSON_MALFORMED'],
    ['{"a": 1,}', 'JSON_MALFORMED'],
    ['{"a": 1, "a": 2}', 'JSON_DUPLICATE_KEY'],
    ['{"a": 1, "b": {"c": 1, "\\u0063": 2}}', 'JSON_DUPLICATE_KEY'],
    ['{"a": 1, "b": "\\ud800"}', 'JSON_BAD_STRING'],
    ['{"a": 1, "\\udc00x": 1}', 'JSON_BAD_STRING'],
    ['{"a": 1, "b": "\\ud800\\u0041"}', 'JSON_BAD_STRING'],
    [
      `{"a": 1, "b": ${'['.repeat(editLimits.json_depth)}${']'.repeat(editLimits.json_depth)}}`,
      'JSON_TOO_DEEP',
    ],
  ] as const)('%s is refused', async (text, code) => {
    await expectRefusal(code, () => edit(text, update('$.a', 5)));
  });

  it('an object with many keys may not have one of them twice', async () => {
    const many = Array.from({ length: 100 }, (_, i) => `"k${i}": 1`).join();
    await expectRefusal('JSON_DUPLICATE_KEY', () => edit(`{${many}, "k7": 1}`, update('$.k1', 5)));
    await expectRefusal('JSON_DUPLICATE_KEY', () => edit(`{${many}, "k99": 1}`, update('$.k1', 5)));
    expect(edit(`{${many}, "o": {${many}}}`, update('$.o.k1', 5))).toContain('"k1": 5');
  });

  it('the message says where it is wrong', async () => {
    const refusal = await expectRefusal('JSON_MALFORMED', () =>
      edit('{\n  "a": 1\n  "b": 2\n}', update('$.a', 5)),
    );
    expect(refusal.facts).toEqual({ line: 3, column: 3 });
  });

  it('a result that says something else is not accepted', async () => {
    const operation = editOperationSchema.parse(update('$.a', 2)) as Parameters<typeof editJson>[2];
    const { check } = editJson('{"a": 1}', false, operation);
    await expectRefusal('EDIT_NOT_EXACT', () => check('{"a": 3}'));
    await expectRefusal('EDIT_NOT_EXACT', () => check('{"b": 2}'));
    check('{"a": 2}');
  });
});
