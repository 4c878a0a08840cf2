import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, it } from 'vitest';
import { canonicalBytes, parseJson } from '../../src/canonical/json.ts';
import { Keyturn } from '../../src/keyturn.ts';
import { leafHash } from '../../src/ledger/entry.ts';
import { project, TOOLS } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';

it('a ledger of 0.1 is refused with a line that says so, and is left as it is', async () => {
  const { root, keyturn } = await project(TOOLS);
  await keyturn.close();
  const db = new DatabaseSync(join(root, '.keyturn', 'store.db'));
  const first = db.prepare('SELECT id, bytes FROM entry ORDER BY id LIMIT 1').get() as {
    id: number;
    bytes: Uint8Array;
  };
  const entry = parseJson(first.bytes) as { body: object };
  const bytes = canonicalBytes({ ...entry, body: { ...entry.body, version: '0.1.0' } } as never);
  db.exec('DROP TRIGGER entry_no_update');
  db.prepare('UPDATE entry SET bytes = ?, hash = ? WHERE id = ?').run(bytes, leafHash(bytes), first.id);
  db.close();
  for (const mode of ['write', 'read'] as const) {
    const refusal = await expectRefusal('STORE_OLDER', () => Keyturn.open({ at: root, mode }));
    expect(refusal.message).toBe('The ledger was written by Keyturn 0.1, which this version does not read.');
  }
});
