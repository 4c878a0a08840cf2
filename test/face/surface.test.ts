import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as entry from '../../src/index.ts';

const page = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8');
const surface = page.slice(page.indexOf("\n## import from 'keyturn'\n"));

describe('docs/api.md', () => {
  it('has a part for each entry of the package, and the members of Keyturn and of its host', () => {
    for (const name of ['keyturn', 'keyturn/audit', 'keyturn/client'])
      expect(surface).toContain(`## import from '${name}'`);
    expect(surface).toMatch(/^ {2}static open: .*Promise<Keyturn>;$/m);
    expect(surface).toMatch(/^interface Host \{$/m);
    expect(surface).toMatch(/^ {2}execute: \(request: ExecuteRequest\) => Promise<void>;$/m);
  });

  it('has no type that is cut', () => {
    const cut = /\.\.\.(?! ?\w+: )/;
    expect(surface.split('\n').filter((line) => cut.test(line.replace(/\/\*.*?\*\//g, '')))).toEqual([]);
    expect('x: { a: ZodObject<...>; ... 14 more ...; }').toMatch(cut);
  });
});

it('a program imports the class, the version, and what a refusal means', () => {
  const names = Object.keys(entry).sort();
  expect(names).toEqual(['Keyturn', 'Refusal', 'VERSION', 'explain', 'isReasonCode', 'reasonCodes']);
  for (const name of names) expect(surface).toMatch(new RegExp(`^(class|const|function) ${name}\\b`, 'm'));
});
