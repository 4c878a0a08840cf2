import { type Digest, sha256 } from '../../canonical/digest.ts';
import { limits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import { inEntry } from '../adopt.ts';
import { digestsOf, type Rests, refuseLost, requireStored } from '../rests.ts';
import { arrayOf } from './array.ts';
import type { Connection } from './connection.ts';
import { readObjectBytes } from './read.ts';
import type { Tenant } from './rows.ts';

/** What the entry with this number rests on. */
export interface Resting extends Rests {
  readonly seq: number;
}

/**
 * An entry whose decision or token says something else is none that commit could have written. One that is not there, though no entry
 * removed it, was lost from the store; with `takes_lost` that is not asked.
 */
export async function requireRested(
  db: Connection,
  tenant: Tenant,
  resting: readonly Resting[],
  takes_lost: boolean,
): Promise<void> {
  for (let i = 0; i < resting.length; i += limits.rebuild_objects) {
    const some = resting.slice(i, i + limits.rebuild_objects);
    const stored = await storedFor(db, tenant, some);
    if (!takes_lost) await requireNoneLost(db, tenant, some, stored);
    for (const rests of some)
      inEntry(rests.seq, () => requireStored(rests, (digest) => stored.get(digest) ?? null));
  }
}

type Stored = ReadonlyMap<Digest, Uint8Array>;

async function storedFor(db: Connection, tenant: Tenant, resting: readonly Resting[]): Promise<Stored> {
  const digests = [...new Set(resting.flatMap(digestsOf))];
  const found = await readObjectBytes(db, tenant, digests);
  const stored = new Map<Digest, Uint8Array>();
  for (const [n, digest] of digests.entries()) {
    const bytes = found[n];
    if (bytes && sha256(bytes) !== digest) refuse('OBJECT_CORRUPT', undefined, { digest });
    if (bytes) stored.set(digest, bytes);
  }
  return stored;
}

async function requireNoneLost(
  db: Connection,
  tenant: Tenant,
  resting: readonly Resting[],
  stored: Stored,
): Promise<void> {
  const absent = resting.flatMap((rests) =>
    digestsOf(rests)
      .filter((digest) => !stored.has(digest))
      .map((digest) => ({ digest, seq: rests.seq })),
  );
  if (absent.length === 0) return;
  const removed = await removedAmong(
    db,
    tenant,
    absent.map(({ digest }) => digest),
  );
  const lost = absent.find(({ digest }) => !removed.has(digest));
  if (lost) refuseLost(lost);
}

/** The rebuild compares subject and kind with the bytes of each entry. */
async function removedAmong(
  db: Connection,
  tenant: Tenant,
  digests: readonly Digest[],
): Promise<Set<Digest>> {
  const { rows } = await db.ask<{ subject: Digest }>({
    text: `SELECT DISTINCT subject FROM keyturn.entry
      WHERE tenant = $1 AND subject = ANY ($2::text[]) AND kind IN ('object.erased', 'object.expired')`,
    values: [tenant.id, arrayOf('text', digests)],
  });
  return new Set(rows.map(({ subject }) => subject));
}
