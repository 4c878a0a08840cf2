import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseEvent } from '../../src/event/event.ts';
import { objectsOf } from '../../src/gate/objects.ts';
import { openEntry } from '../../src/ledger/entry.ts';
import { requireObjects } from '../../src/store/objects.ts';
import { agentPlace, askedFor, yes } from '../agent/agent-place.ts';
import { expectRefusal } from '../support/refusal.ts';
import { allEntries } from './place.ts';
import { opened, sqlite } from './sqlite-file.ts';

const place = agentPlace();

it('what any entry of a conversation names is there, and is missed once it is gone', async () => {
  const { keyturn, root } = place();
  await yes(keyturn, await askedFor(keyturn, 'fill the weekly diary "w"'));
  await keyturn.conversations.ask({ user_id: 'ada', utterance: 'paint the moon green' });
  await keyturn.ledger.verifyStore({ deep: true });

  const path = join(root, '.keyturn', 'store.db');
  const store = await opened(path);
  const events = (await allEntries(store)).map(({ bytes }) => parseEvent(openEntry(bytes)));
  const named = new Set(events.flatMap(objectsOf).map(({ digest }) => digest));
  expect(new Set(events.map(({ kind }) => kind))).toContain('agent.moved');
  expect(named.size).toBeGreaterThan(30);
  for (const digest of named) {
    const here = `WHERE digest = '${digest}'`;
    sqlite(path, (db) =>
      db.exec(`CREATE TABLE kept AS SELECT * FROM object ${here}; DELETE FROM object ${here}`),
    );
    // Read at once, and in many parts as a long ledger is.
    for (const together of [undefined, 5]) {
      const { facts } = await expectRefusal('OBJECT_MISSING', () => requireObjects(store, together));
      expect(facts).toEqual({ missing: 1, first: digest });
    }
    sqlite(path, (db) => db.exec('INSERT INTO object SELECT * FROM kept; DROP TABLE kept'));
  }
  await requireObjects(store, 5);
  await store.close();
});
