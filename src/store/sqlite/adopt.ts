import { sqliteLimits } from '../../limits.ts';
import { type Adoption, decideAdoption, type ForeignEntry, foreignObjects } from '../adopt.ts';
import type { StoredObject } from '../rests.ts';
import { insertAgentRows } from './agent.ts';
import type { Database } from './database.ts';
import type { KnownRows } from './known.ts';
import { enterLists, readListed } from './lists.ts';
import { claimLookup, entryLookup, type Lookup, rowLookup } from './lookup.ts';
import type { Tenant } from './rows.ts';
import {
  eraseObject,
  forgetErased,
  insertEntry,
  insertLookups,
  insertObject,
  insertRow,
  updateRow,
} from './write.ts';

/** Writes entries of another store behind the ones that are here, all of them or none, in one transaction. */
export function adoptEntries(
  db: Database,
  tenant: Tenant,
  known: KnownRows,
  foreign: readonly ForeignEntry[],
  objects: readonly Uint8Array[] | null,
): void {
  const stored = foreignObjects(objects ?? []);
  const { erase } = db.transaction('write', () => {
    const adoption = decideAdoption(foreign, known.tip(), known.ledger, objects && stored);
    known.forget();
    writeAdoption(db, tenant, adoption, stored);
    enterLists(db, tenant, readListed(db, tenant), adoption.tip.size);
    return adoption;
  });
  if (erase.length > 0) forgetErased(db);
}

function writeAdoption(
  db: Database,
  tenant: Tenant,
  adoption: Adoption,
  objects: readonly StoredObject[],
): void {
  const { entries, rows, agent_rows, erase } = adoption;
  const first_seq = entries[0]?.seq ?? adoption.tip.size;
  const lookups = lookupsOf(adoption, first_seq);
  for (let i = 0; i < lookups.length; i += sqliteLimits.statement_rows)
    insertLookups(db, tenant, lookups.slice(i, i + sqliteLimits.statement_rows));
  for (const entry of entries) insertEntry(db, tenant, entry, entry.at);
  const listed = readListed(db, tenant);
  for (const to_write of rows) {
    if (to_write.row.seq < first_seq) updateRow(db, tenant, to_write, listed);
    else insertRow(db, tenant, to_write);
  }
  insertAgentRows(db, agent_rows);
  for (const { digest, bytes } of objects) insertObject(db, tenant, digest, bytes);
  for (const digest of erase) eraseObject(db, tenant, digest);
}

function lookupsOf({ entries, claims, rows }: Adoption, first_seq: number): Lookup[] {
  const lookups = claims.map(([claim, seq]) => claimLookup(claim, seq));
  for (const { subject, seq } of entries) lookups.push(entryLookup(subject, seq));
  for (const { row } of rows) if (row.seq >= first_seq) lookups.push(rowLookup(row));
  return lookups;
}
