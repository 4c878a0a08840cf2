import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { editLimits } from '../../../src/limits.ts';
import { refuseCostly } from '../../../src/plan/edit/yaml-cost.ts';
import { openYamlStream } from '../../../src/plan/edit/yaml-document.ts';
import { checkYaml } from '../../../src/plan/edit/yaml-edit.ts';
import { expectRefusal } from '../../support/refusal.ts';
import { edit, editBytes } from './edit.ts';

const update = (path: string, value: unknown) => ({ type: 'yaml_update', path, value });
const create = (path: string, value: unknown) => ({ ...update(path, value), create: true });

const COMPOSE = `# head
version: '3'   # quoted
services:
  web: # the web
    # own line
    image: nginx
    ports: [80, 443]
    env:
    - A=1
    - B=2 # two
    text: |
      hello
      world
    empty:
  db: {image: pg, tag: "15"}
8080: port
last: >-
  folded
  text
`;

function numbered(count: number, line: (i: number) => string): string {
  return Array.from({ length: count }, (_, i) => line(i)).join('');
}

/** Each row: the place, the new value, and the lines that differ, old and new. */
const CHANGES: readonly (readonly [path: string, value: unknown, old: string, now: string])[] = [
  ['version', '4', "version: '3'   # quoted\n", "version: '4'   # quoted\n"],
  ['$.services.web.image', 'apache', 'image: nginx', 'image: apache'],
  ['services.web.image', 5, 'image: nginx', 'image: 5'],
  ['services.web.image', null, 'image: nginx', 'image: null'],
  [
    'services.web.image',
    { a: 1, b: ['x: y'] },
    'image: nginx\n',
    'image:\n      a: 1\n      b:\n      - "x: y"\n',
  ],
  ['services.web.ports', [80, { a: 1 }], '[80, 443]', '[80, {a: 1}]'],
  ['services.web.ports[1]', 444, '[80, 443]', '[80, 444]'],
  ['services.web.ports', 3, '[80, 443]', '3'],
  ['services.web.env', ['C'], '- A=1\n    - B=2 # two\n', '- C\n'],
  ['services.web.env', { m: 1 }, '    - A=1\n    - B=2 # two\n', '      m: 1\n'],
  ['services.web.env', 'none', 'env:\n    - A=1\n    - B=2 # two\n', 'env: none\n'],
  ['services.web.env.0', 'B', '- A=1', '- B'],
  ['services.web.env[1]', { k: 1, l: 2 }, '- B=2 # two\n', '- k: 1 # two\n      l: 2\n'],
  ['services.web.text', 'one\ntwo\n', 'hello\n      world', 'one\n      two'],
  ['services.web.text', 'one\n\ntwo', '|\n      hello\n      world', '|-\n      one\n\n      two'],
  ['services.web.text', 'x', '|\n      hello\n      world\n', 'x\n'],
  ['services.web.text', { a: 1 }, 'text: |\n      hello\n      world\n', 'text:\n      a: 1\n'],
  ['services.web.empty', true, 'empty:\n', 'empty: true\n'],
  ['services.web.empty', [1], 'empty:\n', 'empty:\n    - 1\n'],
  ['services.db.tag', '16', 'tag: "15"', 'tag: "16"'],
  ['services.db.tag', { q: ['w'] }, 'tag: "15"', 'tag: {q: [w]}'],
  ['services.db', {}, '{image: pg, tag: "15"}', '{}'],
  ['8080', 'x', '8080: port', '8080: x'],
  ['last', 'x', '>-\n  folded\n  text', 'x'],
];

describe('updating YAML', () => {
  it.each(CHANGES)('%s becomes %j and nothing else changes', (path, value, old, now) => {
    expect(COMPOSE.split(old)).toHaveLength(2);
    const { bytes, output } = editBytes(Buffer.from(COMPOSE), update(path, value));
    expect(Buffer.from(bytes).toString()).toBe(COMPOSE.replace(old, () => now));
    expect(output).toBe(`Value at '${path}' updated successfully`);
  });

  it('comments around a map that gives way stay', () => {
    const after = edit(COMPOSE, update('services.web', 'gone'));
    expect(after).toContain('  web: gone # the web\n    # own line\n  db: {');
  });

  it('CRLF stays, and new lines take it', () => {
    expect(edit('a: 1\r\nb: 2\r\n', update('a', { x: 1, z: [2] }))).toBe(
      'a:\r\n  x: 1\r\n  z:\r\n    - 2\r\nb: 2\r\n',
    );
  });

  it('a missing final newline stays missing', () => {
    expect(edit('a: 1', update('a', 2))).toBe('a: 2');
    expect(edit('a:\n  b: 1', update('a', 2))).toBe('a: 2');
    expect(edit('a:\n  b: 1', update('a.b', [1]))).toBe('a:\n  b:\n    - 1');
  });

  it('the indentation of the file is used', () => {
    expect(edit('a:\n    b: 1\nc: 1\n', update('c', { d: { e: 1 } }))).toBe(
      'a:\n    b: 1\nc:\n    d:\n        e: 1\n',
    );
    expect(edit('a:\n- 1\nc: 1\n', update('c', [1]))).toBe('a:\n- 1\nc:\n- 1\n');
  });

  it('lists in lists, and the whole document', () => {
    expect(edit('- 1\n- - 2\n', update('$[1][0]', [5, 6]))).toBe('- 1\n- - - 5\n    - 6\n');
    expect(edit('- 1\n- 2\n', update('$[0]', { a: 1, b: 2 }))).toBe('- a: 1\n  b: 2\n- 2\n');
    expect(edit('# c\na: 1\n', update('$', [1, 2]))).toBe('# c\n- 1\n- 2\n');
  });

  it('anchors, aliases, tags and odd keys elsewhere are left alone', () => {
    const text = 'a: &x {k: 1}\nb: *x\nc: !Ref y\n? [1, 2]\n: z\n<<: *x\nd: 1\n';
    expect(edit(text, update('d', 2))).toBe(text.replace('d: 1', 'd: 2'));
  });

  it.each([
    'yes',
    'No',
    'on',
    'null',
    '~',
    'y',
    '1.0',
    '0x1f',
    '1:30',
    '2024-01-01',
    '1_000',
    '.inf',
    '',
    ' a',
    '- a',
    'a: b',
    'a #b',
    '@a',
    '`a',
    '%a',
    '!a',
    '&a',
    '*a',
    '<<',
    '=',
    '1e3',
  ])('the text "%s" stays a text for every version of YAML', (value) => {
    const after = edit('a: x\n', update('a', value));
    expect(parse(after, { version: '1.2' })).toEqual({ a: value });
    expect(parse(after, { version: '1.1' })).toEqual({ a: value });
  });

  it.each([1e-7, -2.5e-300, 0.1, -0, 9007199254740991])(
    'the number %d stays a number for every version of YAML',
    (value) => {
      const after = edit('a: x\n', update('a', value));
      expect(parse(after, { version: '1.2' }).a).toBeCloseTo(value, 320);
      expect(typeof parse(after, { version: '1.1' }).a).toBe('number');
    },
  );

  it.each([
    'a\tb',
    'tab\t',
    'a\r\nb',
    '\u2028',
    '\u0085',
    '\x7f',
    '\ufeff',
    '"',
    "'",
    '\\',
    'a\n',
    '\na',
    'a \nb',
    'a\n\n',
    'é😀',
  ])('the text %j is read back', (value) => {
    for (const text of ['a: x\n', 'a: "x"\n', "a: 'x'\n", 'a: |\n  x\n', '{a: x}\n']) {
      expect(parse(edit(text, update('a', value)))).toEqual({ a: value });
    }
  });
});

describe('creating a key in YAML', () => {
  it.each([
    ['at the end of the document', 'top', 1, '  text\n', '  text\ntop: 1\n'],
    ['in a nested map', 'services.web.new', ['a'], 'empty:\n', 'empty:\n    new:\n    - a\n'],
    ['in braces', 'services.db.new', { v: 1 }, 'tag: "15"}', 'tag: "15", new: {v: 1}}'],
  ])('%s', (_, path, value, old, now) => {
    const { bytes, output } = editBytes(Buffer.from(COMPOSE), create(path, value));
    expect(Buffer.from(bytes).toString()).toBe(COMPOSE.replace(old, () => now));
    expect(output).toBe(`Property '${path.split('.').at(-1)}' added successfully`);
  });

  it('fills empty braces and keeps a trailing comma', () => {
    expect(edit('a: {}\n', create('a.b', 1))).toBe('a: {b: 1}\n');
    expect(edit('a: {b: 1,}\n', create('a.c', 2))).toBe('a: {b: 1, c: 2,}\n');
  });

  it('is refused where the key exists, or where there is no map', async () => {
    await expectRefusal('EDIT_KEY_EXISTS', () => edit(COMPOSE, create('version', 1)));
    await expectRefusal('EDIT_TARGET_UNFIT', () => edit(COMPOSE, create('version.a', 1)));
    await expectRefusal('EDIT_TARGET_UNFIT', () => edit(COMPOSE, create('services.web.empty.a', 1)));
    await expectRefusal('EDIT_TARGET_MISSING', () => edit(COMPOSE, create('nowhere.a', 1)));
    await expectRefusal('EDIT_PATH_MALFORMED', () => edit(COMPOSE, create('services.web.env[2]', 1)));
    await expectRefusal('EDIT_PATH_MALFORMED', () => edit(COMPOSE, create('$', 1)));
  });
});

describe('a file with several documents', () => {
  const STREAM =
    '# head\n---\nkind: A\nspec:\n  replicas: 1 # one\n---\nkind: B\nspec: {replicas: 1}\n...\n---\n- a\n- b\n';
  const inDocument = (document: number, path: string, value: unknown) => ({
    ...update(path, value),
    document,
  });

  it('one of them is edited, by its number, and no other byte changes', () => {
    expect(edit(STREAM, inDocument(0, 'spec.replicas', 3))).toBe(
      STREAM.replace('replicas: 1 #', 'replicas: 3 #'),
    );
    expect(edit(STREAM, inDocument(1, 'spec.replicas', 3))).toBe(
      STREAM.replace('{replicas: 1}', '{replicas: 3}'),
    );
    expect(edit(STREAM, inDocument(2, '$[1]', 'c'))).toBe(STREAM.replace('- b', '- c'));
    expect(edit(STREAM, { ...inDocument(0, 'spec.paused', true), create: true })).toBe(
      STREAM.replace('replicas: 1 # one\n', 'replicas: 1 # one\n  paused: true\n'),
    );
  });

  it('a number that no document has is refused, and so is no number', async () => {
    await expectRefusal('EDIT_TARGET_MISSING', () => edit(STREAM, inDocument(3, 'kind', 'C')));
    await expectRefusal('EDIT_SEVERAL_DOCUMENTS', () => edit(STREAM, update('kind', 'C')));
    expect(edit('a: 1\n', inDocument(0, 'a', 2))).toBe('a: 2\n');
  });

  it('a broken document beside it is refused, and so are more documents than are read', async () => {
    await expectRefusal('YAML_MALFORMED', () => edit('a: 1\n---\nb: [\n', inDocument(0, 'a', 2)));
    const many = '---\n'.repeat(editLimits.yaml_documents + 1);
    await expectRefusal('INPUT_TOO_LARGE', () => edit(many, inDocument(0, 'a', 2)));
  });

  it('the last of a thousand documents is edited', () => {
    const stream = numbered(1000, (i) => `---\nkind: K\nname: n${i}\n`);
    expect(edit(stream, inDocument(999, 'name', 'last'))).toBe(stream.replace('name: n999', 'name: last'));
  });
});

describe('YAML that is not edited', () => {
  it.each([
    'x',
    'services.x',
    'services.web.ports[9]',
    'services.web.image.a',
    '$.services[0]',
    "$.services.web.env['0']",
  ])('%s leads to nothing', async (path) => {
    await expectRefusal('EDIT_TARGET_MISSING', () => edit(COMPOSE, update(path, 1)));
  });

  it('two keys that read the same are ambiguous', async () => {
    await expectRefusal('EDIT_TARGET_AMBIGUOUS', () => edit('80: a\n"80": b\n', update('80', 1)));
  });

  it.each(['$.a[*]', '$..a', '$[?@.a]', 'a..b', 'a[x]', 'a b', '.a', 'a.', '*'])(
    '%s is not followed',
    async (path) => {
      await expectRefusal('EDIT_PATH_MALFORMED', () => edit('a: {b: 1}\n', update(path, 1)));
    },
  );

  it.each([
    ['an alias', 'a: &x 1\nb: *x\n', 'b'],
    ['a way through an alias', 'a: &x {k: 1}\nb: *x\n', 'b.k'],
    ['an anchor', 'a: &x 1\nb: *x\n', 'a'],
    ['a way through an anchor that is used', 'a: &x {k: 1}\nb: *x\n', 'a.k'],
    ['a value that holds an anchor', 'a: {k: &x 1}\nb: *x\n', 'a'],
    ['a tag', 'a: !Ref x\n', 'a'],
    ['a set', 'a: !!set {k}\n', 'a.k'],
  ])('%s is shared', async (_, text, path) => {
    await expectRefusal('EDIT_TARGET_SHARED', () => edit(text, update(path, 2)));
  });

  it('an anchor that nobody uses is in nobody’s way', () => {
    expect(edit('a: &x {k: 1}\n', update('a.k', 2))).toBe('a: &x {k: 2}\n');
  });

  it.each(['', '# only a comment\n', 'a: 1\n---\nb: 2\n', '---\n---\n'])(
    '%j is not one document',
    async (text) => {
      await expectRefusal('EDIT_SEVERAL_DOCUMENTS', () => edit(text, update('a', 1)));
    },
  );

  it.each(['a: [1', 'a: 1\n b: 2\n', 'a: 1\na: 2\n', '\ta: 1\n', '%YAML 1.1\n---\na: yes\n', 'a: *nobody\n'])(
    '%j is malformed',
    async (text) => {
      await expectRefusal('YAML_MALFORMED', () => edit(text, update('a', 3)));
    },
  );

  it('a pair without braces has no place of its own, and a key without a colon no value', async () => {
    await expectRefusal('EDIT_TARGET_UNFIT', () => edit('? a\n', update('a', 1)));
    await expectRefusal('EDIT_TARGET_UNFIT', () => edit('{a}\n', update('a', 1)));
  });

  it('the value that is there already is refused', async () => {
    await expectRefusal('EDIT_CHANGES_NOTHING', () => edit('a: {b: [1, x]}\n', update('a', { b: [1, 'x'] })));
    await expectRefusal('EDIT_CHANGES_NOTHING', () => edit('a: 0x10\n', update('a', 16)));
  });

  it.each([
    ['brackets', `a: ${'['.repeat(50_000)}`],
    ['dashes', `a:\n${'- '.repeat(50_000)}`],
    ['dashes after a stray bracket', `a: 1\n]\n${'- '.repeat(50_000)}`],
    ['aliases', `a: 1\nl:\n${numbered(editLimits.yaml_anchors, (i) => `- &a${i} x\n- *a${i}\n`)}`],
  ])('too many %s are refused before the parser sees them', async (_, text) => {
    await expectRefusal('YAML_MALFORMED', () => refuseCostly(text));
    await expectRefusal('YAML_MALFORMED', () => edit(text, update('a', 2)));
  });

  it('aliases that multiply are refused', async () => {
    const level = (i: number) =>
      `${'bcdefghijk'[i + 1]}: &${'bcdefghijk'[i + 1]} [${`*${'bcdefghijk'[i]},`.repeat(9)}]\n`;
    await expectRefusal('YAML_MALFORMED', () =>
      edit(`a: 1\nb: &b [x,x]\n${numbered(9, level)}`, update('a', 2)),
    );
  });

  it('too many parts are refused', async () => {
    await expectRefusal('INPUT_TOO_LARGE', () =>
      edit(`a: 1\n${'\n'.repeat(editLimits.yaml_tokens)}`, update('a', 2)),
    );
    await expectRefusal('INPUT_TOO_LARGE', () =>
      edit(`a: 1\n#${'x'.repeat(editLimits.yaml_bytes)}`, update('a', 2)),
    );
  });

  it('a change that would not read back is refused', async () => {
    await expectRefusal('EDIT_NOT_EXACT', () => edit('a: {b: 1 # c\n  }\n', create('a.d', 2)));
    await expectRefusal('EDIT_NOT_EXACT', () => edit('--- x\n', update('$', { a: { b: 1 } })));
    const sources = openYamlStream('a: 0\n---\nb: 0\n');
    const check = (result: string) => checkYaml(result, sources, sources[0]!, new Map([['a', 1n]]));
    check('a: 1\n---\nb: 0\n');
    for (const result of ['a: 2\n---\nb: 0\n', 'a: 1\n---\nb: 1\n', 'a: 1\n', 'a: ['])
      await expectRefusal('EDIT_NOT_EXACT', () => check(result));
  });
});
