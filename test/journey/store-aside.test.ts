import { describe, expect, it } from 'vitest';
import { sqlite } from '../store/sqlite-file.ts';
import { childrenOf, commandOf, until } from '../support/processes.ts';
import type { Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { authority, proposeSay } from './authority.ts';

const helpers = () => childrenOf(process.pid).filter((pid) => commandOf(pid).includes('store-process'));

/** Does it where a service runs. */
const served = <T>({ keyturn }: Project, act: () => Promise<T>): Promise<T> => keyturn.host.asService(act);

describe('a service that verifies its store', () => {
  it('says the same as a command does, has it done beside it, and keeps no process for it', async () => {
    const p = await authority();
    await proposeSay(p);
    const here = await p.keyturn.ledger.verifyStore({ deep: true });
    expect(helpers()).toEqual([]);
    await served(p, async () => {
      const told = p.keyturn.ledger.verifyStore({ deep: true });
      await until(() => helpers().length === 1);
      expect(await told).toEqual(here);
      await until(() => helpers().length === 0);
    });
  });

  it('finds what a command finds: rows that do not follow, and entries that commit would not write', async () => {
    const p = await authority();
    await proposeSay(p);
    const edits = [
      "UPDATE projection SET status = 'approved' WHERE name = 'intent'",
      "DROP TRIGGER entry_no_update; UPDATE entry SET at = '2020-01-01T00:00:00.000Z' WHERE id = (SELECT max(id) FROM entry)",
    ];
    const codes = ['PROJECTION_DRIFT', 'LEDGER_BROKEN'] as const;
    for (const [n, edit] of edits.entries()) {
      sqlite(p.keyturn.layout.store, (db) => db.exec(edit));
      const verify = () => p.keyturn.ledger.verifyStore({});
      const here = await expectRefusal(codes[n]!, verify);
      const beside = await served(p, () => expectRefusal(codes[n]!, verify));
      expect([beside.message, beside.facts]).toEqual([here.message, here.facts]);
    }
  });

  it('says no where the process that compares ends before it has answered, and asks another one next time', async () => {
    const p = await authority();
    await proposeSay(p);
    await served(p, async () => {
      const told = p.keyturn.ledger.verifyStore({}).catch((error: Error) => error);
      await until(() => helpers().length === 1);
      for (const pid of helpers()) process.kill(pid, 'SIGKILL');
      expect(await told).toBeInstanceOf(Error);
      expect(await p.keyturn.ledger.verifyStore({})).toMatchObject({ deep: false });
    });
  });

  it('compares one after another for callers who ask together', async () => {
    const p = await authority();
    await served(p, async () => {
      const all = Promise.all([1, 2, 3].map(() => p.keyturn.ledger.verifyStore({})));
      await until(() => helpers().length > 0);
      expect(helpers()).toHaveLength(1);
      expect(new Set((await all).map(({ rows }) => rows)).size).toBe(1);
    });
  });
});
