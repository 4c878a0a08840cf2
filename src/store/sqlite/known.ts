import type { Digest } from '../../canonical/digest.ts';
import { deepFrozen } from '../../canonical/frozen.ts';
import type { ListedRow } from '../../fold/projection.ts';
import type { Row, RowName, States } from '../../fold/row.ts';
import { GENESIS } from '../../ledger/entry.ts';
import { limits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import type { StoredLedger } from '../decide.ts';
import { ALWAYS, refOf } from '../loaded-rows.ts';
import type { FoundRows, RowRef, Tip, Wanted } from '../store.ts';
import type { Database } from './database.ts';
import { readAll, readListed } from './lists.ts';
import { ledgerOf, type Tenant } from './rows.ts';
import { idOf, seqOf } from './schema.ts';

export const EMPTY_TIP: Tip = { size: 0, last: GENESIS, at: null, frontier: [] };

/** Where the chain ends and what rows hold, kept from one commit to the next: true while no other connection has written to the file. */
export interface KnownRows {
  /** Where the chain ends now. It also forgets rows that may have changed, so it comes first in a transaction. */
  tip(): Tip;
  /** Entries before this one are in the lists. */
  listed(): number;
  /** What is stored now, inside a write transaction. */
  readonly ledger: StoredLedger;
  /** What a row holds now, frozen: the next commit is judged by it. */
  state<N extends RowName>(name: N, key: string): States[N] | null;
  /** What a decision would look at now. */
  look(wanted: Wanted): FoundRows;
  /** The same of all rows of a kind that has few, oldest first. */
  all<N extends ListedRow>(name: N): States[N][];
  /** What this connection has written by now. */
  absorb(tip: Tip, rows: Iterable<Row>): void;
  absorbLists(listed: number): void;
  /** Another number whenever something was written since, by this connection or another. */
  written(): number;
  /** After a transaction that failed, and after one that wrote without a word to this. */
  forget(): void;
}

export function knownOf(db: Database, tenant: Tenant): KnownRows {
  const stored = ledgerOf(db, tenant);
  const rows = new Map<string, Row | null>();
  const lists = new Map<RowName, readonly unknown[]>();
  let known: Tip | null = null;
  let listed: number | null = null;
  let is_newest = false;
  let version = -1;
  let writes = 0;

  function forget(): void {
    writes++;
    rows.clear();
    lists.clear();
    known = null;
    listed = null;
  }

  /** Forgets what may have changed. */
  function look(): void {
    // Another value whenever another connection has committed. What this one commits leaves it as it is.
    const { data_version } = db.sql('PRAGMA data_version').get() as { data_version: number };
    if (data_version !== version || rows.size > limits.kept_rows) rows.clear();
    if (data_version !== version) {
      writes++;
      lists.clear();
      is_newest = false;
      listed = null;
    }
    version = data_version;
  }

  function tip(): Tip {
    look();
    if (!is_newest || known === null) known = readTip(db, tenant, known);
    is_newest = true;
    return known;
  }

  function state<N extends RowName>(name: N, key: string): States[N] | null {
    look();
    return deepFrozen(ledger.row(name, key)?.state ?? null);
  }

  function all<N extends ListedRow>(name: N): States[N][] {
    look();
    const found = lists.get(name) ?? readAll(db, tenant, name).map(deepFrozen);
    if (found.length <= limits.kept_rows) lists.set(name, found);
    return found.slice() as States[N][];
  }

  const ledger: StoredLedger = {
    ...stored,
    row: <N extends RowName>(name: N, key: string) => {
      const ref = refOf([name, key]);
      const found = rows.get(ref);
      if (found !== undefined) return found as Row<N> | null;
      const read = stored.row(name, key);
      rows.set(ref, read);
      return read;
    },
  };

  function found(wanted: Wanted): FoundRows {
    look();
    const refs: RowRef[] = [...ALWAYS].map((name) => [name, 'system'] as const);
    refs.push(...wanted.rows.values());
    return {
      rows: refs.flatMap(([name, key]) => ledger.row(name, key) ?? []),
      claims: new Set(wanted.claims.filter(ledger.isClaimed)),
      objects: new Set(wanted.objects.filter(ledger.holdsObject)),
    };
  }

  function absorb(tip: Tip, written: Iterable<Row>): void {
    writes++;
    known = tip;
    for (const row of written) {
      rows.set(refOf([row.name, row.key]), row);
      lists.delete(row.name);
    }
  }

  return {
    tip,
    written: () => {
      look();
      return writes;
    },
    listed: () => {
      listed ??= readListed(db, tenant);
      return listed;
    },
    ledger,
    state,
    look: found,
    all,
    absorb,
    absorbLists: (end) => {
      listed = end;
    },
    forget,
  };
}

/** The hash of the last entry covers all entries before it, so while that hash is the same the frontier is, too. */
function readTip(db: Database, tenant: Tenant, known: Tip | null): Tip {
  const found = db
    .sql('SELECT id, hash, at FROM entry WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT 1')
    .get(idOf(tenant.id, 0), idOf(tenant.id + 1, 0)) as { id: number; hash: Digest; at: string } | undefined;
  if (!found) return EMPTY_TIP;
  const { hash: last, at } = found;
  const size = seqOf(found.id) + 1;
  if (known?.size === size && known.last === last) return known;
  return { size, last, at, frontier: readFrontier(db, tenant, size) };
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
