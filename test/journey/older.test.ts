import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import { joinLedger } from '../../src/project/join.ts';
import { project, TOOLS } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';

const WORDS = 'The ledger was written by Keyturn 0.1, which this version does not read.';

/** A project that `keyturn init` of 0.1.0 made, without its keys. */
function older(): { root: string; store: string; pin: string } {
  const root = scratch();
  const own = join(root, '.keyturn');
  const fixture = new URL('./fixtures/0.1/', import.meta.url);
  cpSync(new URL('keyturn.yaml', fixture), join(root, 'keyturn.yaml'));
  cpSync(new URL('own', fixture), own, { recursive: true });
  const store = join(own, 'store.db');
  writeFileSync(store, gunzipSync(readFileSync(`${store}.gz`)));
  return { root, store, pin: join(own, 'ledger.json') };
}

async function expectOlder({ root, store }: ReturnType<typeof older>): Promise<void> {
  const before = readFileSync(store);
  for (const mode of ['write', 'read'] as const) {
    const refusal = await expectRefusal('STORE_OLDER', () => Keyturn.open({ at: root, mode }));
    expect(refusal.message).toBe(WORDS);
  }
  expect(readFileSync(store).equals(before)).toBe(true);
}

it('a project of 0.1 is refused with a line that says so, and is left as it is', async () => {
  await expectOlder(older());
});

it('so it is where nothing says which ledger belongs to it, and where it is joined', async () => {
  const found = older();
  rmSync(found.pin);
  await expectOlder(found);
  await expectRefusal('STORE_OLDER', () => joinLedger({ at: found.root, confirm: async () => true }));
});

it('so it is where what says that was damaged', async () => {
  const found = older();
  writeFileSync(found.pin, '{}');
  await expectOlder(found);
});

it('a project of this version without that file is not called older', async () => {
  const { root, keyturn } = await project(TOOLS);
  await keyturn.close();
  rmSync(keyturn.layout.ledger_file);
  await expectRefusal('LEDGER_UNPINNED', () => Keyturn.open({ at: root, mode: 'read' }));
  rmSync(keyturn.layout.store);
  await expectRefusal('LEDGER_UNPINNED', () => Keyturn.open({ at: root, mode: 'read' }));
});
