import { foreignObjects, openForeign, planAdoption } from '../adopt.ts';
import type { CheckedCommit, StoredObject } from '../decide.ts';
import type { Moved, Receipt } from '../store.ts';
import { chainOf } from './chain.ts';
import type { Connection } from './connection.ts';
import { groupCommit } from './group.ts';
import type { Work } from './roads.ts';
import { requireKeysFit, type Tenant } from './rows.ts';
import { sessionOf } from './session.ts';
import { rowsOf } from './snapshot.ts';

/** Takes over what another store hands over, on a connection of its own, one handful after the other. */
export interface Adopter {
  adopt(moved: Moved): Promise<void>;
  end(): Promise<void>;
}

export function adopterOf(
  connect: () => Promise<Connection>,
  tenant: Tenant,
  clock: () => Date,
  busy_ms: number,
): Adopter {
  const session = sessionOf(connect);
  const chain = chainOf(session, tenant, clock, busy_ms);
  const group = groupCommit<Work, Receipt>(
    ([work]) => chain.writeWork(work!),
    () => 1,
  );
  return {
    adopt: async ({ entries = [], objects = [] }) => {
      const stored = foreignObjects(objects);
      // An object is its own name: one that was written twice, after a lost answer, is the same one.
      if (entries.length === 0) await session.read((db) => insertObjects(db, tenant, stored));
      else await group.ask(adoptionOf(tenant, entries, stored));
    },
    end: async () => {
      await group.idle();
      await session.end();
    },
  };
}

async function insertObjects(
  db: Connection,
  tenant: Tenant,
  objects: readonly StoredObject[],
): Promise<void> {
  await db.ask({
    name: 'objects',
    text: `INSERT INTO keyturn.object (tenant, digest, bytes)
      SELECT $1::integer, v.* FROM unnest($2::text[], $3::bytea[]) AS v ON CONFLICT DO NOTHING`,
    values: [tenant.id, objects.map(({ digest }) => digest), objects.map(({ bytes }) => bytes)],
  });
}

function adoptionOf(
  tenant: Tenant,
  entries: NonNullable<Moved['entries']>,
  objects: readonly StoredObject[],
): Work {
  const foreign = openForeign(tenant.name, entries);
  const events = foreign.map(({ event }) => event);
  const claims = foreign.flatMap(({ entry }) => entry.claims);
  requireKeysFit(claims, events);
  const refs = events.flatMap(rowsOf);
  return {
    wanted: { rows: new Map(refs.map((ref) => [ref.join(' '), ref])), claims, objects: [] },
    draft: (before, _at, base) => {
      const { tip, erase, ...planned } = planAdoption(foreign, before, base);
      const commit: CheckedCommit = { claims, events, objects, erase };
      const outcomes = [{ answer: { entries } }];
      return { ...planned, outcomes, before, after: tip, commits: [commit] };
    },
  };
}
