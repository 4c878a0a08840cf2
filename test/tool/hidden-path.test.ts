import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { requirePathsInSandbox } from '../../src/tool/hidden-path.ts';
import { toolNamed } from '../../src/tool/select.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { ENTRY, effectOf, registryOf } from './fixture.ts';

const SANDBOX = { read: ['data'], write: ['out'] };

function proposed(file: string, entry: object = {}) {
  const folder = scratch();
  for (const name of ['data', 'out', 'data/sub', '.keyturn']) mkdirSync(join(folder, name));
  for (const name of ['notes.txt', 'data/a.txt', 'data/sub/b.txt', '.keyturn/ada.key'])
    writeFileSync(join(folder, name), 'x');
  const tool = { args: ['--', '{file}'], parameters: { file: { type: 'path' } }, sandbox: SANDBOX, ...entry };
  const effect = effectOf(folder, tool, { file });
  const registry = registryOf(scratch(), { ...ENTRY, ...tool });
  requirePathsInSandbox(toolNamed(registry, 'say'), effect, {
    root: folder,
    hidden_paths: [join(folder, '.keyturn')],
  });
}

it('a path to a file of the project that the sandbox hides is refused, with what it shows', async () => {
  await expectRefusal('ARGUMENT_INVALID', () => proposed('notes.txt'));
  await expectRefusal('ARGUMENT_INVALID', () => proposed('notes.txt', { sandbox: {} }));
  expect(() => proposed('notes.txt')).toThrow(
    /"file" names \S+\/notes\.txt, which the sandbox of "say" hides: /,
  );
});

it('of what Keyturn keeps, an agent is not told what is there', async () => {
  for (const file of ['.keyturn/ada.key', '.keyturn/bo.key', '.keyturn'])
    await expectRefusal('ARGUMENT_INVALID', () => proposed(file));
});

it.each([
  ['data/a.txt', {}],
  ['out/new.txt', {}],
  ['new.txt', {}],
  ['.', {}],
  ['sub/b.txt', {}],
  ['notes.txt', { sandbox: 'none' }],
  ['notes.txt', { args: ['--name={file}'] }],
  ['notes.txt', { parameters: { file: { type: 'string' } } }],
])('%s with %j is taken', (file, entry) => {
  proposed(file, entry);
});
