import type { Digest } from '../../canonical/digest.ts';
import { refuse } from '../../refusal.ts';
import { parseAddress } from './address.ts';
import { BUSY_ms, type Connection, connect } from './connection.ts';
import { mapped } from './failure.ts';
import { lockEnd } from './load.ts';
import { findTenant } from './read.ts';
import { FRESH_TABLES, refold } from './rebuild.ts';
import type { Tenant } from './rows.ts';
import { MIGRATIONS, readVersion } from './schema.ts';

export interface CutOptions {
  readonly url: string;
  readonly tenant: string;
  /** Where the ledger ends after the cut. */
  readonly size: number;
  readonly last: Digest;
  /** How many rows the caller saw past that end. More of them would be entries that the caller did not see. */
  readonly past: number;
  /** Without it everything is tried and taken back. */
  readonly write: boolean;
}

/** Where the store said that the ledger ends. */
export type StoredEnd = Readonly<{ size: number; last: Digest }>;

/**
 * Ends a chain where its entries verify, and moves what lies past that to `set_aside`. One transaction under the lock of the
 * chain. Only the role that owns the tables can do it, because only that one can lift the trigger that keeps entries.
 */
export async function cutPostgresStore(options: CutOptions): Promise<StoredEnd> {
  const address = parseAddress(options.url);
  return mapped(async () => {
    const db = await connect(address, { access: 'write', busy_ms: BUSY_ms, patient: true, primary: true });
    try {
      if ((await readVersion(db)) !== MIGRATIONS.length)
        refuse('STORE_READ_ONLY', 'The store has an older form. Run `keyturn store migrate` first.');
      const tenant = await findTenant(db, options.tenant);
      return await cut(db, tenant ?? refuse('STORE_MISSING'), options);
    } finally {
      // What is not committed by now is taken back by the server.
      await db.end();
    }
  });
}

/** The rights of the owner over entries were revoked when the tables were made; here they last as long as the transaction. */
const FREE = `
  GRANT DELETE ON keyturn.entry TO CURRENT_USER;
  ALTER TABLE keyturn.entry DISABLE TRIGGER entry_is_kept;`;
const KEEP = `
  ALTER TABLE keyturn.entry ENABLE ALWAYS TRIGGER entry_is_kept;
  REVOKE DELETE ON keyturn.entry FROM CURRENT_USER;`;

const MOVE = `
  WITH past AS (DELETE FROM keyturn.entry WHERE tenant = $1 AND seq >= $2 RETURNING *),
    moved AS (INSERT INTO keyturn.set_aside SELECT past.* FROM past RETURNING 1)
  SELECT count(*) AS moved FROM moved`;

async function cut(db: Connection, tenant: Tenant, options: CutOptions): Promise<StoredEnd> {
  const { size, last, past, write } = options;
  await db.ask({ text: 'BEGIN' });
  const end = await lockEnd(db, tenant);
  const is_due = past > 0 || size !== end.size || last !== end.last;
  if (is_due) await moveEnd(db, tenant, options);
  await db.ask({ text: FRESH_TABLES });
  // Refuses an entry that verifies by its bytes and does not fit what is stored beside it.
  await refold(db, tenant, { size, last }, { write: is_due, takes_lost: true });
  if (write && is_due) await db.ask({ text: 'COMMIT' });
  return { size: end.size, last: end.last };
}

async function moveEnd(db: Connection, tenant: Tenant, { size, last, past }: CutOptions): Promise<void> {
  await db.ask({ text: FREE });
  const { rows } = await db.ask<{ moved: number }>({ text: MOVE, values: [tenant.id, size] });
  if (rows[0]!.moved !== past)
    refuse('STORE_BUSY', 'The ledger grew while it was looked at. Stop what writes to it, and begin again.');
  await db.ask({ text: KEEP });
  await db.ask({
    text: 'UPDATE keyturn.tenant SET size = $2, last = $3, generation = generation + 1 WHERE id = $1',
    values: [tenant.id, size, last],
  });
}
