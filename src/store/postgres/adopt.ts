import { rowsNamedBy } from '../../fold/projection.ts';
import { refuse } from '../../refusal.ts';
import { decideAdoption, type ForeignEntry, foreignObjects, openForeign } from '../adopt.ts';
import type { CheckedCommit } from '../decide.ts';
import { groupCommit } from '../group.ts';
import { refOf } from '../loaded-rows.ts';
import type { StoredObject } from '../rests.ts';
import type { Moved, Receipt, Tip } from '../store.ts';
import { arraysOf } from './array.ts';
import { RAN, type Ran, requireReady } from './begin.ts';
import { chainOf } from './chain.ts';
import type { Connection } from './connection.ts';
import { loadEnd } from './load.ts';
import { requireKeysFit, type Tenant } from './rows.ts';
import { sessionOf } from './session.ts';
import { notErased } from './write.ts';
import type { Work } from './write-paths.ts';

/** Takes over the contents of another store, on a connection of its own, in batches. */
export interface Adopter {
  /** `origin` names the ledger that is here; null where it has not begun. */
  adopt(moved: Moved, origin: string | null): Promise<void>;
  /** The copying process has seen that the ledger ends here. */
  saw(end: Place): void;
  end(): Promise<void>;
}

/**
 * Where the ledger ended when the objects were chosen. An entry that another copy brought since may have erased one of
 * them, and it would come back.
 */
type Place = Pick<Tip, 'size' | 'last'>;

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
  let seen: Place | null = null;
  return {
    adopt: async ({ entries = [], objects = null }, origin) => {
      const stored = foreignObjects(objects ?? []);
      if (entries.length > 0) {
        let end: Place | null = null;
        await group.ask(
          adoptionOf(openForeign(tenant.name, origin, entries), objects && stored, (tip) => {
            end = tip;
          }),
        );
        seen = end;
        return;
      }
      // An object is its own name: one that was written twice, after a lost answer, is the same one.
      await session.read(async (db) => {
        seen ??= (await loadEnd(db, tenant)).tip;
        await insertObjects(db, tenant, stored, seen);
      });
    },
    saw: (end) => {
      seen = end;
    },
    end: async () => {
      await group.answered();
      await session.end();
    },
  };
}

/** A writer waits for its share of the lock, or this waits for the writer and then finds the ledger longer. */
const INSERT_OBJECTS = `
  WITH here AS MATERIALIZED (
    SELECT id FROM keyturn.tenant WHERE id = $1 AND size = $4 AND last = $5 FOR SHARE
  ), put AS (
    INSERT INTO keyturn.object (tenant, digest, bytes)
    SELECT here.id, v.digest, v.bytes FROM here, unnest($2::text[], $3::bytea[]) AS v (digest, bytes)
    WHERE ${notErased('here.id')} ON CONFLICT DO NOTHING
  ) SELECT ${RAN} FROM here`;

async function insertObjects(
  db: Connection,
  tenant: Tenant,
  objects: readonly StoredObject[],
  { size, last }: Place,
): Promise<void> {
  const rows = objects.map(({ digest, bytes }) => [digest, bytes]);
  const warnings = db.warnings();
  const { rows: here } = await db.ask<Ran & { [column: string]: unknown }>({
    name: 'objects',
    text: INSERT_OBJECTS,
    values: [tenant.id, ...arraysOf(['text', 'bytea'], rows), size, last],
  });
  if (!here[0])
    return refuse('STORE_BUSY', 'Another process writes to the target of the copy. Start the copy again.');
  requireReady(db.backend, here[0]);
  if (db.warnings() > warnings)
    refuse('WRITE_FAILED', 'The server gave a warning beside objects. Begin again.');
}

function adoptionOf(
  foreign: readonly ForeignEntry[],
  brought: readonly StoredObject[] | null,
  onEnd: (tip: Tip) => void,
): Work {
  const events = foreign.map(({ event }) => event);
  const claims = foreign.flatMap(({ entry }) => entry.claims);
  requireKeysFit(claims, events);
  const refs = events.flatMap(rowsNamedBy);
  return {
    wanted: { rows: new Map(refs.map((ref) => [refOf(ref), ref])), claims, objects: [] },
    draft: (before, _at, base) => {
      const { tip, erase, ...adoption } = decideAdoption(foreign, before, base, brought);
      const commit: CheckedCommit = {
        ...{ claims, events, objects: brought ?? [], erase },
        // What they rest on was looked at just now.
        ...{ brought: { decisions: new Map(), tokens: new Map() }, quota: null, as_of: null },
      };
      const written = foreign.map(({ sealed, entry, event }) => ({ ...sealed, entry, event }));
      const outcomes = [{ answer: { entries: written } }];
      onEnd(tip);
      return { ...adoption, outcomes, before, after: tip, commits: [commit] };
    },
  };
}
