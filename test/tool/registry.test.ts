import { chmodSync, linkSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { lintRegistry, loadRegistry, lockRegistry } from '../../src/tool/registry.ts';
import { parseYaml } from '../../src/tool/yaml.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { ENTRY, registryOf, writeRegistry } from './fixture.ts';

const YAML = `# Tools of this project.
version: 1
tools:
  - name: say
    summary: Says something.
    executable: /bin/echo
    args:
      - '{words}'
      - { when: loud, args: ['--loud={words}', 'a {{literal}} brace'] }
      - '{more...}'
    parameters:
      words: { type: string }
      loud: { type: boolean, required: false }
      more: { type: list, required: false }
    sandbox: none
    undo: none
bindings:
  - intent: b2831d73-2708-4f50-944b-7b54f11bfbb4
    tool: say
    arguments: { words: hello }
`;

describe('loadRegistry', () => {
  it('reads tools, defaults and bindings, and hashes the bytes', () => {
    const folder = scratch();
    const registry = loadRegistry(writeRegistry(folder, YAML));
    expect(registry.digest).toBe(sha256(YAML));
    expect(registry.folder).toBe(folder);
    expect(registry.tools.get('say')).toMatchObject({ timeout_s: 60, env: {}, cwd: '.', undo: 'none' });
    expect(registry.bindings.size).toBe(1);
  });

  it('knows one that it has read before by its bytes alone', () => {
    const folder = scratch();
    const path = writeRegistry(folder, YAML);
    const known = loadRegistry(path);
    expect(loadRegistry(path, { known })).toBe(known);
    chmodSync(path, 0o644);
    writeRegistry(folder, YAML.replace('/bin/echo', '/bin/true'));
    expect(loadRegistry(path, { known }).tools.get('say')?.executable).toBe('/bin/true');
  });

  it('refuses a registry that is missing, a link, or no file', async () => {
    const folder = scratch();
    await expectRefusal('REGISTRY_MISSING', () => loadRegistry(join(folder, 'tools.yaml')));
    const path = writeRegistry(folder, YAML);
    symlinkSync(path, join(folder, 'link'));
    await expectRefusal('FILE_IS_SYMLINK', () => loadRegistry(join(folder, 'link')));
    mkdirSync(join(folder, 'folder'));
    await expectRefusal('FILE_NOT_REGULAR', () => loadRegistry(join(folder, 'folder')));
  });

  it.each([0o644, 0o464, 0o446, 0o600, 0o200])(
    'refuses a registry with the mode %o, whoever asks',
    async (mode) => {
      const path = writeRegistry(scratch(), YAML, mode);
      await expectRefusal('REGISTRY_WRITABLE', () => loadRegistry(path));
      expect(loadRegistry(path, { requireReadOnly: false }).tools.size).toBe(1);
    },
  );

  it('refuses a file that is too large, or not UTF-8', async () => {
    const folder = scratch();
    const large = writeRegistry(folder, `${YAML}#${'x'.repeat(1024 * 1024)}`);
    await expectRefusal('INPUT_TOO_LARGE', () => loadRegistry(large));
    writeFileSync(join(folder, 'latin'), Buffer.from([0x61, 0xe4]), { mode: 0o444 });
    await expectRefusal('INPUT_NOT_UTF8', () => loadRegistry(join(folder, 'latin')));
  });

  it('refuses a link on the way from the root of the project, and a second name', async () => {
    const root = scratch();
    mkdirSync(join(root, 'real/conf'), { recursive: true });
    const path = writeRegistry(join(root, 'real/conf'), YAML);
    symlinkSync('real', join(root, 'link'));
    expect(loadRegistry(path, { root }).path).toBe(path);
    // The root itself may be reached through a link: it is ours to choose.
    const linked = join(root, 'link/conf/tools.yaml');
    expect(loadRegistry(linked, { root: join(root, 'link') }).path).toBe(linked);
    await expectRefusal('FILE_IS_SYMLINK', () => loadRegistry(linked, { root }));
    await expectRefusal('REGISTRY_MISSING', () => loadRegistry(join(root, 'none.yaml'), { root }));
    const elsewhere = writeRegistry(scratch(), YAML);
    expect(loadRegistry(elsewhere, { root }).path).toBe(elsewhere);
    linkSync(path, join(root, 'second.yaml'));
    await expectRefusal('FILE_HARD_LINKED', () => loadRegistry(path, { root }));
  });

  it('refuses a tool that is listed twice', async () => {
    const path = writeRegistry(scratch(), { version: 1, tools: [ENTRY, { ...ENTRY, summary: 'Again.' }] });
    await expectRefusal('TOOL_DUPLICATE', () => loadRegistry(path));
  });

  it('names the line and the column', async () => {
    const broken = YAML.replace('executable: /bin/echo', 'executable: 7');
    const refusal = await expectRefusal('REGISTRY_MALFORMED', () =>
      loadRegistry(writeRegistry(scratch(), broken)),
    );
    expect(refusal.facts).toEqual({ line: 6, column: 17 });
    expect(refusal.message).toContain('tools.0.executable');
  });
});

describe('YAML that means something else than it seems to', () => {
  it.each([
    ['an anchor', 'version: &one 1\ntools: []\n'],
    ['an alias', 'version: *one\ntools: []\n'],
    ['a tag', 'version: !!int 1\ntools: []\n'],
    ['a tag of its own', 'version: !thing 1\ntools: []\n'],
    ['a directive', '%YAML 1.1\n---\nversion: 1\ntools: []\n'],
    ['a key twice', 'version: 1\nversion: 1\ntools: []\n'],
    ['two documents', 'version: 1\ntools: []\n---\nversion: 1\ntools: []\n'],
    ['a key that is no text', 'version: 1\n? [tools]\n: []\n'],
    ['a number that is none', 'version: .nan\ntools: []\n'],
    ['a number too large', 'version: 99999999999999999999\ntools: []\n'],
    ['a bracket left open', 'version: 1\ntools: [\n'],
    ['a tab for indentation', 'version: 1\ntools:\n\t- name: say\n'],
    ['a lone surrogate', 'version: "\\uD800"\ntools: []\n'],
    ['brackets nested 10,000 deep', '['.repeat(10_000)],
    ['braces nested 10,000 deep', '{a: '.repeat(10_000)],
    ['lists nested 10,000 deep', '- '.repeat(10_000)],
    ['maps nested 10,000 deep', Array.from({ length: 1000 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')],
    ['questions nested 10,000 deep', '? '.repeat(10_000)],
  ])('is refused: %s', async (_, yaml) => {
    await expectRefusal('YAML_MALFORMED', () => loadRegistry(writeRegistry(scratch(), yaml)));
  });

  it('is not mistaken for brackets inside text', () => {
    const summary = '['.repeat(100);
    expect(registryOf(scratch(), { ...ENTRY, summary }).tools.get('say')?.summary).toBe(summary);
  });

  it('is refused as a merge key, which would be an unknown key', async () => {
    const path = writeRegistry(scratch(), 'version: 1\ntools: []\n<<: { bindings: [] }\n');
    await expectRefusal('REGISTRY_MALFORMED', () => loadRegistry(path));
  });
});

describe('YAML that is made to take long', () => {
  it('is read in one pass: a key is not compared with every other key', () => {
    const keys = Array.from({ length: 60_000 }, (_, i) => `k${i}: 1`);
    expect(Object.keys(parseYaml(Buffer.from(keys.join('\n'))).value as object).length).toBe(60_000);
  });

  it('is refused with the place of a key that stands twice, also in a flow', async () => {
    const double = await expectRefusal('YAML_MALFORMED', () =>
      parseYaml(Buffer.from('a: 1\nb: { c: 1, "c": 2 }')),
    );
    expect(double.facts).toEqual({ line: 2, column: 12 });
    await expectRefusal('YAML_MALFORMED', () => parseYaml(Buffer.from('? \n? \n')));
  });
});

describe('an entry is refused', () => {
  const parameters = { words: { type: 'string' } };
  const without = (key: string) => Object.fromEntries(Object.entries(ENTRY).filter(([name]) => name !== key));

  it.each<[string, object]>([
    ['without a sandbox', without('sandbox')],
    ['without saying how it is undone', without('undo')],
    ['without an executable', without('executable')],
    ['with an unknown key', { ...ENTRY, shell: true }],
    ['with a name in capitals', { ...ENTRY, name: 'Say' }],
    ['with an action that could pass for that of a tool', { ...ENTRY, action: 'tool:deploy' }],
    ['with a category that is no name', { ...ENTRY, category: 'all of them' }],
    ['with an unknown sandbox', { ...ENTRY, sandbox: 'all' }],
    ['with an unknown key in its sandbox', { ...ENTRY, sandbox: { root: true } }],
    ['with a pin that is no digest', { ...ENTRY, digest: 'sha256:ABC' }],
    ['with a timeout beyond the limit', { ...ENTRY, timeout_s: 1_000_000 }],
    ['with a control character in its summary', { ...ENTRY, summary: 'a\u001b[2J' }],
    ['with a placeholder for nothing', { ...ENTRY, args: ['{words}', '{other}'] }],
    ['with a condition on nothing', { ...ENTRY, args: ['{words}', { when: 'other', args: ['x'] }] }],
    ['with a lone brace', { ...ENTRY, args: ['{words}', 'a}'] }],
    ['with a brace left open', { ...ENTRY, args: ['{words}', '{words'] }],
    ['with a parameter that it never uses', { ...ENTRY, args: [] }],
    ['with a list inside an element', { ...ENTRY, args: ['-x={l}'], parameters: { l: { type: 'list' } } }],
    ['with a spread that is no list', { ...ENTRY, args: ['{words...}'] }],
    [
      'with an optional parameter outside its condition',
      { ...ENTRY, parameters: { words: { type: 'string', required: false } } },
    ],
    [
      'with a pattern that only a backtracking engine can match',
      { ...ENTRY, parameters: { words: { type: 'string', pattern: '(?=a)(a)\\1' } } },
    ],
    [
      'with a pattern that cannot be read',
      { ...ENTRY, parameters: { words: { type: 'string', pattern: '(' } } },
    ],
    ['with a constraint that means nothing', { ...ENTRY, parameters: { words: { type: 'string', max: 3 } } }],
    [
      'with a default that it would refuse',
      { ...ENTRY, parameters: { words: { type: 'string', pattern: 'a', default: 'b' } } },
    ],
    [
      'with a parameter name of its own kind',
      { ...ENTRY, parameters: { ...parameters, 'a-b': { type: 'string' } } },
    ],
    ['with a variable that is fixed and a secret', { ...ENTRY, env: { TOKEN: 'x' }, secrets: ['TOKEN'] }],
    ['with a secret of no name', { ...ENTRY, secrets: { TOKEN: '' } }],
    ['with a variable of the caller', { ...ENTRY, env_pass: ['HOME'] }],
    ['with a loader variable of its own', { ...ENTRY, env: { LD_PRELOAD: '/x.so' } }],
    ['with a name that is no variable', { ...ENTRY, secrets: ['A=B'] }],
    ['with a secret in what is no variable', { ...ENTRY, secrets: { 'A=B': 'token' } }],
  ])('%s', async (_, entry) => {
    const path = writeRegistry(scratch(), { version: 1, tools: [entry] });
    await expectRefusal('REGISTRY_MALFORMED', () => loadRegistry(path));
  });

  it.each(
    'LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT NODE_OPTIONS BASH_ENV ENV PYTHONPATH PYTHONSTARTUP PERL5LIB RUBYOPT PATH GIT_SSH'.split(
      ' ',
    ),
  )('for a secret in %s', async (name) => {
    const path = writeRegistry(scratch(), {
      version: 1,
      tools: [{ ...ENTRY, secrets: { [name]: 'token' } }],
    });
    await expectRefusal('REGISTRY_MALFORMED', () => loadRegistry(path));
  });
});

describe('lintRegistry', () => {
  it('finds nothing wrong with a locked and sound registry', () => {
    expect(lintRegistry(writeRegistry(scratch(), YAML))).toEqual([]);
  });

  it('reports everything at once, with its place', () => {
    const tools = [
      { ...ENTRY, args: ['{words}', '{nothing}', '}'] },
      ENTRY,
      { ...ENTRY, name: 'lost', executable: './lost' },
      { ...ENTRY, name: 'pinned', digest: `sha256:${'0'.repeat(64)}` },
    ];
    const faults = lintRegistry(writeRegistry(scratch(), { version: 1, tools }, 0o644));
    expect(faults.map(({ code }) => code)).toEqual([
      'REGISTRY_WRITABLE',
      'REGISTRY_MALFORMED',
      'REGISTRY_MALFORMED',
      'TOOL_DUPLICATE',
      'EXECUTABLE_MISSING',
      'EXECUTABLE_CHANGED',
    ]);
    for (const { line, column } of faults.slice(1)) expect([line > 1, column > 1]).toEqual([true, true]);
  });

  it('reports what it cannot read', () => {
    expect(lintRegistry(join(scratch(), 'none'))).toMatchObject([{ code: 'REGISTRY_MISSING' }]);
    expect(lintRegistry(writeRegistry(scratch(), 'a: [\n'))).toMatchObject([{ code: 'YAML_MALFORMED' }]);
    const shape = lintRegistry(writeRegistry(scratch(), { version: 2, tools: [{}] }));
    expect(shape.length).toBeGreaterThan(3);
  });
});

describe('lockRegistry', () => {
  it('takes every write bit away and keeps the rest', () => {
    const path = writeRegistry(scratch(), YAML, 0o664);
    expect(lockRegistry(path)).toBe(true);
    expect(statSync(path).mode & 0o777).toBe(0o444);
    expect(lockRegistry(path)).toBe(false);
    loadRegistry(path);
  });

  it('refuses a link and what is not there', async () => {
    const folder = scratch();
    symlinkSync(writeRegistry(folder, YAML, 0o644), join(folder, 'link'));
    await expectRefusal('FILE_IS_SYMLINK', () => lockRegistry(join(folder, 'link')));
    await expectRefusal('REGISTRY_MISSING', () => lockRegistry(join(folder, 'none')));
  });
});

describe('pipelines', () => {
  it('that are listed twice, or name a tool that nobody registered, are faults with their place', async () => {
    const folder = scratch();
    const path = join(folder, 'tools.yaml');
    writeFileSync(
      path,
      `version: 1
tools: []
pipelines:
  - { name: nightly, summary: Loads., steps: [{ tool: ghost }] }
  - { name: nightly, summary: Loads., steps: [{ sql: a.sql, database: a.duckdb }] }
`,
    );
    expect(lintRegistry(path).map(({ code, line }) => [code, line])).toEqual([
      ['REGISTRY_WRITABLE', 1],
      ['REGISTRY_MALFORMED', 4],
      ['TOOL_DUPLICATE', 5],
    ]);
  });
});
