import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, it } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import { sealEntry, skimEntry } from '../../src/ledger/entry.ts';
import { authority, granted, yes } from '../journey/authority.ts';
import { expectRefusal } from '../support/refusal.ts';
import { runSeen } from '../support/seen.ts';
import { KEEP, PUT_BACK, sql } from './s06-put-back.ts';

const freezing = { scope: 'system', reason: 'A test.' } as const;

describe('S6: an index that is put back', () => {
  it.each(['the process that ran it', 'another process'])('lets no intent run twice in %s', async (where) => {
    const p = await authority();
    const intent = await granted(p);
    sql(p.root, KEEP);
    await runSeen(p.keyturn, { ...intent, confirm: yes });
    sql(p.root, PUT_BACK);
    const keyturn = where === 'another process' ? await Keyturn.open({ at: p.root }) : p.keyturn;
    await expectRefusal('PROJECTION_DRIFT', () => runSeen(keyturn, { ...intent, confirm: yes }));
    if (keyturn !== p.keyturn) await keyturn.close();
  });

  it.each(['the process that froze', 'another process'])('hides no freeze in %s', async (where) => {
    const p = await authority();
    const intent = await granted(p);
    sql(p.root, KEEP);
    await p.keyturn.system.freeze({ ...freezing, signer: p.ada });
    sql(p.root, PUT_BACK);
    const keyturn = where === 'another process' ? await Keyturn.open({ at: p.root }) : p.keyturn;
    await expectRefusal('PROJECTION_DRIFT', () => runSeen(keyturn, { ...intent, confirm: yes }));
    if (keyturn !== p.keyturn) await keyturn.close();
  });

  it('is refused with entries that were changed in place, also when their hashes were', async () => {
    const p = await authority();
    const intent = await granted(p);
    sql(p.root, KEEP);
    await runSeen(p.keyturn, { ...intent, confirm: yes });
    const other = await granted(p);
    // The kept head goes on: it is no longer the changed entry that it names.
    await (await Keyturn.open({ at: p.root })).close();
    const db = new DatabaseSync(join(p.root, '.keyturn', 'store.db'));
    const rows = db.prepare('SELECT id, bytes FROM entry ORDER BY id').all() as {
      id: number;
      bytes: Uint8Array;
    }[];
    const claim = rows.find(({ bytes }) => skimEntry(bytes)!.kind === 'execution.claimed')!;
    const entry = skimEntry(claim.bytes)!;
    const body = { reason_code: 'HASH_MISMATCH', decision: null };
    const { bytes, hash } = sealEntry({ ...entry, kind: 'intent.refused', claims: [], body });
    db.exec('DROP TRIGGER entry_no_update');
    db.prepare('UPDATE entry SET bytes = ?, hash = ? WHERE id = ?').run(bytes, hash, claim.id);
    db.close();
    const again = await Keyturn.open({ at: p.root });
    for (const one of [intent, other])
      await expectRefusal('LEDGER_BROKEN', () => runSeen(again, { ...one, confirm: yes }));
    await again.close();
    sql(p.root, PUT_BACK);
    await expectRefusal('PROJECTION_DRIFT', () => runSeen(p.keyturn, { ...intent, confirm: yes }));
  });
});

describe('S6: a process that has read the ledger', () => {
  it('goes on with what another process appends', async () => {
    const p = await authority();
    const [first, second] = [await granted(p), await granted(p)];
    await runSeen(p.keyturn, { ...first, confirm: yes });
    const other = await Keyturn.open({ at: p.root });
    await other.system.freeze({ ...freezing, signer: p.ada });
    await expectRefusal('FROZEN', () => runSeen(p.keyturn, { ...second, confirm: yes }));
    await other.system.unfreeze({ ...freezing, signer: p.ada });
    await other.close();
    await runSeen(p.keyturn, { ...second, confirm: yes });
  });
});
