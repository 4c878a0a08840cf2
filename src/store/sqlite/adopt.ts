import { decideAdoption, type ForeignEntry, foreignObjects } from '../adopt.ts';
import type { Database } from './database.ts';
import type { KnownRows } from './known.ts';
import { enterLists, readListed } from './lists.ts';
import type { Tenant } from './rows.ts';
import { forgetErased, insertLookups, lookupsOf, writeFacts } from './write.ts';

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
    insertLookups(db, tenant, lookupsOf(adoption));
    const listed = readListed(db, tenant);
    writeFacts(db, tenant, adoption, { objects: stored, erase: adoption.erase }, listed);
    enterLists(db, tenant, listed, adoption.tip.size);
    return adoption;
  });
  if (erase.length > 0) forgetErased(db);
}
