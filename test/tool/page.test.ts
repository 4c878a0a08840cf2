import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { writeStarterFiles } from '../../src/project/starter.ts';
import { meanings, registryJsonSchema } from '../../src/tool/json-schema.ts';
import { loadRegistry } from '../../src/tool/registry.ts';
import { scratch } from '../support/scratch.ts';
import { ENTRY, writeRegistry } from './fixture.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'docs/tools.md'), 'utf8');
const published = JSON.parse(readFileSync(join(ROOT, 'schemas/tools.json'), 'utf8'));

/** The examples as whole files: one that begins with a dash is an item of `tools`. */
const examples = [...PAGE.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text]) =>
  text!.startsWith('-') ? `version: 1\ntools:\n${text!.replace(/^(?=.)/gm, '  ')}` : text!,
);

/** The paths of the keys of a value, with `[]` for items and `NAME` where the file chooses the name. */
function keysOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => keysOf(item, `${path}[]`));
  if (typeof value !== 'object' || value === null) return [];
  const chosen = path.endsWith('].parameters');
  return Object.entries(value).flatMap(([key, inner]) => {
    const here = [path, chosen ? 'NAME' : key].filter((part) => part !== '').join('.');
    return [here, ...keysOf(inner, here)];
  });
}

describe('docs/tools.md', () => {
  it('has a line about every key that tools.yaml can have', () => {
    // What has none is named in the error.
    expect(() => registryJsonSchema(PAGE)).not.toThrow();
    expect(() => registryJsonSchema(PAGE.replace(/^\| `write`.*$/m, ''))).toThrow('tools[].sandbox.write');
  });

  it('shows every key that it has a line about in an example', () => {
    const shown = new Set(examples.flatMap((text) => keysOf(parse(text))));
    for (const path of meanings(PAGE).keys()) expect(shown).toContain(path);
  });

  it.each(examples)('example %# loads, and fits the published schema', (text) => {
    const path = writeRegistry(scratch(), text);
    expect(loadRegistry(path).tools.size).toBeGreaterThan(0);
    expect(faultsOf(parse(text))).toEqual([]);
  });
});

const validate = new Ajv2020({ strict: false }).compile(published);
const faultsOf = (value: unknown) => (validate(value) ? [] : validate.errors);

describe('schemas/tools.json', () => {
  it('is what the code and the page say; run node scripts/schemas.mjs otherwise', () => {
    expect(published).toEqual(JSON.parse(JSON.stringify(registryJsonSchema(PAGE))));
  });

  it('refuses a key that does not exist, at every level', () => {
    expect(faultsOf({ version: 1, tools: [ENTRY] })).toEqual([]);
    for (const wrong of [
      { version: 1, tools: [ENTRY], tool: [] },
      { version: 1, tools: [{ ...ENTRY, shell: true }] },
      { version: 1, tools: [{ ...ENTRY, sandbox: { reads: ['data'] } }] },
      { version: 1, tools: [{ ...ENTRY, parameters: { words: { type: 'text' } } }] },
      { version: 1, tools: [{ ...ENTRY, undo: undefined }] },
    ])
      expect(faultsOf(JSON.parse(JSON.stringify(wrong)))).not.toEqual([]);
  });

  it('is named in the first line of the starter file, by the version that has it', () => {
    const folder = scratch();
    const names = ['policies', 'simulations', 'config'].map((name) => [name, join(folder, name)]);
    writeStarterFiles({ root: folder, ...Object.fromEntries(names) });
    const [first] = readFileSync(join(folder, 'tools.yaml'), 'utf8').split('\n');
    const { name, version, files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const [, at, path] = /^# yaml-language-server: \$schema=https:\/\/unpkg\.com\/([^/]+)\/(.+)$/.exec(
      first!,
    )!;
    expect(at).toBe(`${name}@${version}`);
    expect(files).toContain(path!.split('/')[0]);
    expect(existsSync(join(ROOT, path!))).toBe(true);
    expect(loadRegistry(join(folder, 'tools.yaml')).tools.has('greet')).toBe(true);
  });
});
