import { describe, it } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import { granted, yes } from '../journey/authority.ts';
import { anotherHost, shared } from '../journey/postgres-host.ts';
import { postgres } from '../store/postgres-place.ts';
import { expectRefusal } from '../support/refusal.ts';
import { runSeen } from '../support/seen.ts';

const server = postgres();

/** By a superuser of the server: the newest entries are gone, and the row of the tenant says so, too. */
const cut = (tenant: string, count: number) =>
  server().sql(`
    ALTER TABLE keyturn.entry DISABLE TRIGGER entry_is_kept;
    DO $$ DECLARE id_ integer; kept bigint; BEGIN
      SELECT id, size - ${count} INTO id_, kept FROM keyturn.tenant WHERE name = '${tenant}';
      DELETE FROM keyturn.entry WHERE tenant = id_ AND seq >= kept;
      DELETE FROM keyturn.claim WHERE tenant = id_ AND seq >= kept;
      UPDATE keyturn.tenant SET size = kept, generation = generation + 1,
        last = (SELECT hash FROM keyturn.entry WHERE tenant = id_ AND seq = kept - 1) WHERE id = id_;
    END $$;
    ALTER TABLE keyturn.entry ENABLE ALWAYS TRIGGER entry_is_kept;`);

describe('S6: a ledger on a server that is behind the kept head of a host is refused there', () => {
  it('a server that was restored is refused by every host that saw more, and not by one that did not', async () => {
    const p = await shared(server(), 'restored');
    const second = await anotherHost(p);
    await second.keyturn.close();
    const intent = await granted(p);
    await runSeen(p.keyturn, { ...intent, confirm: yes });
    await p.keyturn.close();
    await cut('restored', 2);
    for (const mode of ['read', 'write'] as const)
      await expectRefusal('LEDGER_TRUNCATED', () => Keyturn.open({ at: p.root, mode }));
    await (await Keyturn.open({ at: second.root, mode: 'read' })).close();
  });

  it('one that is restored under an open project refuses the next run', async () => {
    const p = await shared(server(), 'under');
    const [first, second] = [await granted(p), await granted(p)];
    await runSeen(p.keyturn, { ...first, confirm: yes });
    await cut('under', 1);
    await expectRefusal('LEDGER_TRUNCATED', () => runSeen(p.keyturn, { ...second, confirm: yes }));
  });

  it('a host keeps what other hosts wrote when it opens the ledger to write', async () => {
    const p = await shared(server(), 'learned');
    const second = await anotherHost(p);
    await second.keyturn.close();
    await granted(p);
    await (await Keyturn.open({ at: second.root })).close();
    await cut('learned', 1);
    await expectRefusal('LEDGER_TRUNCATED', () => Keyturn.open({ at: second.root }));
  });
});
