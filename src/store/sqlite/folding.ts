import { foldEntry, type Ledger, type ReadEntry, verifierOf } from '../../fold/ledger.ts';
import type { Row, RowName } from '../../fold/row.ts';
import { limits, sqliteLimits } from '../../limits.ts';
import { rowToWrite } from '../decide.ts';
import { requireStored, restsIn } from '../rests.ts';
import type { Database } from './database.ts';
import { claimLookup, type Lookup, rowLookup } from './lookup.ts';
import type { RestedObjects } from './rested-objects.ts';
import { ledgerOf, type Tenant } from './rows.ts';
import { insertLookups, insertRow, updateRow } from './write.ts';

/** A ledger that is folded again into fresh tables. */
export interface Folding {
  /** Refuses what commit would have refused. `before` is the time of the entry before it. */
  add(read: ReadEntry, before: string | null): void;
  /** After the last entry: writes what is still in memory. */
  finish(): void;
}

/** A row as it is in memory, and whether it is another one than in the tables. */
interface Known {
  readonly row: Row | null;
  readonly is_changed: boolean;
}

/** The lists follow from the fresh rows when they are all there. */
const NO_LISTS = 0;

export function foldingOf(db: Database, tenant: Tenant, objects: RestedObjects): Folding {
  const stored = ledgerOf(db, tenant);
  const verified = verifierOf(tenant.name, null);
  const rows = new Map<string, Known>();
  const claimed = new Set<string>();
  let written = 0;
  let lookups: Lookup[] = [];

  const ledger: Ledger = {
    ...stored,
    row: <N extends RowName>(name: N, key: string) => {
      const ref = `${name} ${key}`;
      const known = rows.get(ref);
      if (known !== undefined) return known.row as Row<N> | null;
      const row = stored.row(name, key);
      rows.set(ref, { row, is_changed: false });
      return row;
    },
    isClaimed: (claim) => claimed.has(claim) || stored.isClaimed(claim),
  };

  const add: Folding['add'] = ({ entry, event }, before) => {
    const { seq, claims } = entry;
    const rests = restsIn(ledger, event);
    const folded = [...foldEntry(ledger, { entry, event: verified(event) }, before)];
    requireStored(rests, (digest) => objects.find(digest, seq));
    for (const claim of claims) {
      claimed.add(claim);
      look(claimLookup(claim, seq));
    }
    for (const row of folded) {
      rows.set(`${row.name} ${row.key}`, { row, is_changed: true });
      if (row.seq === seq) look(rowLookup(row));
    }
    if (rows.size > limits.folded_rows) writeRows();
  };

  function look(lookup: Lookup): void {
    lookups.push(lookup);
    if (lookups.length === sqliteLimits.statement_rows) writeLookups();
  }

  function writeLookups(): void {
    if (lookups.length > 0) insertLookups(db, tenant, lookups);
    lookups = [];
    claimed.clear();
  }

  function writeRows(): void {
    writeLookups();
    let end = written;
    for (const { row, is_changed } of rows.values()) {
      if (row === null || !is_changed) continue;
      if (row.seq >= written) insertRow(db, tenant, rowToWrite(row));
      else updateRow(db, tenant, rowToWrite(row), NO_LISTS);
      end = Math.max(end, row.seq + 1);
    }
    written = end;
    rows.clear();
  }

  return { add, finish: writeRows };
}
