import type { Digest } from '../../canonical/digest.ts';
import { GENESIS } from '../../ledger/entry.ts';
import { refuse } from '../../refusal.ts';
import type { Tip } from '../store.ts';
import type { Database } from './database.ts';
import type { Tenant } from './rows.ts';
import { idOf, seqOf } from './schema.ts';

export const EMPTY_TIP: Tip = { size: 0, last: GENESIS, at: null, frontier: [] };

/** Where the chain ends, and what this process knows of it. */
export interface Tips {
  read(): Tip;
  remember(tip: Tip): void;
}

/**
 * Only the frontier is remembered. The hash of the last entry covers all entries before it, so while that hash is the
 * same the frontier is, too, whoever else writes.
 */
export function tipsOf(db: Database, tenant: Tenant): Tips {
  let known = EMPTY_TIP;
  const range = [idOf(tenant.id, 0), idOf(tenant.id + 1, 0)];

  function read(): Tip {
    const found = db
      .sql('SELECT id, hash, at FROM entry WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT 1')
      .get(...range) as { id: number; hash: Digest; at: string } | undefined;
    if (!found) return EMPTY_TIP;
    const { hash: last, at } = found;
    const size = seqOf(found.id) + 1;
    if (known.size !== size || known.last !== last)
      known = { size, last, at, frontier: readFrontier(db, tenant, size) };
    return known;
  }

  function remember(tip: Tip): void {
    known = tip;
  }

  return { read, remember };
}

/** A tree of 13 leaves has peaks over 8, 4 and 1 of them, which end at the leaves 8, 12 and 13. */
function readFrontier(db: Database, tenant: Tenant, size: number): Digest[] {
  const frontier: Digest[] = [];
  let width = 2 ** Math.floor(Math.log2(size));
  for (let end = 0; end < size; width /= 2) {
    if (end + width > size) continue;
    end += width;
    frontier.push(readPeak(db, tenant, end - 1));
  }
  return frontier;
}

function readPeak(db: Database, tenant: Tenant, seq: number): Digest {
  const found = db
    .sql('SELECT ifnull(peak, hash) AS peak FROM entry WHERE id = ?')
    .get(idOf(tenant.id, seq)) as { peak: Digest } | undefined;
  return found?.peak ?? refuse('LEDGER_BROKEN', `Entry ${seq} is missing.`, { seq });
}
