import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { signAct } from '../../src/identity/act.ts';
import { copyStore, Keyturn } from '../../src/keyturn.ts';
import { granted, yes } from '../journey/authority.ts';
import { shared } from '../journey/postgres-host.ts';
import { openSqliteStore } from '../store/open.ts';
import { APPLICATION, postgres, urlOf } from '../store/postgres-place.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { runSeen } from '../support/seen.ts';

const server = postgres();

describe('S10: a ledger on a server that has a time of the future', () => {
  it('is behind for every host until a human accepts the time, and a host ahead of the server writes nothing', async () => {
    const p = await shared(server(), 'times');
    await p.keyturn.close();
    const from = urlOf(server().server, APPLICATION);
    const path = join(scratch(), 'times.db');
    await copyStore({ at: p.root, from, to: path });
    await server().sql(`UPDATE keyturn.tenant SET name = 'times before' WHERE name = 'times'`);
    const clock = () => new Date(Date.now() + 86_400_000);
    const store = await openSqliteStore({ path, tenant: 'times', clock, mode: 'write' });
    const { origin } = JSON.parse(readFileSync(join(p.root, '.keyturn', 'ledger.json'), 'utf8'));
    const facts = { scope: 'tool', name: 'none', reason: 'a test' } as const;
    await store.commit({ events: [await signAct(origin, 'system.frozen', 'system', facts, p.ada, clock())] });
    await store.close();
    await copyStore({ at: p.root, from: path, to: from });

    const keyturn = await Keyturn.open({ at: p.root });
    await expectRefusal('CLOCK_BEHIND', () => keyturn.system.checkClock());
    await keyturn.system.acceptClock({ reason: 'the server was a day ahead', signer: p.ada });
    const intent = await granted({ ...p, keyturn });
    await runSeen(keyturn, { ...intent, confirm: yes });
    await keyturn.ledger.verify({ deep: true });
    expect((await keyturn.ledger.rebuild({ write: false })).differences).toEqual([]);
    await keyturn.close();

    const ahead = await Keyturn.open({ at: p.root, clock });
    await expectRefusal('CLOCK_AHEAD', () =>
      ahead.system.acceptClock({ reason: 'it is not', signer: p.ada }),
    );
    await ahead.close();
  });
});
