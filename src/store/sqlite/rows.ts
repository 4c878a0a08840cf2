import type { Row, RowName, States } from '../../fold/row.ts';
import { refuse } from '../../refusal.ts';
import type { StoredLedger } from '../decide.ts';
import { endOf } from '../store.ts';
import type { Database } from './database.ts';
import { claimKey, rowKey } from './lookup.ts';
import { rowIdOf } from './schema.ts';

/** A tenant of this file: its name in entries, and its number in keys. */
export interface Tenant {
  readonly id: number;
  readonly name: string;
}

export function findTenant(db: Database, name: string): Tenant | null {
  const found = db.sql('SELECT id FROM tenant WHERE name = ?').get(name) as { id: number } | undefined;
  return found ? { id: found.id, name } : null;
}

/** What is stored now, read row by row. Inside a write transaction no other process can change it. */
export function ledgerOf(db: Database, tenant: Tenant): StoredLedger {
  return {
    tenant: tenant.name,
    is_whole: true,
    row: (name, key) => readRow(db, tenant, name, key),
    isClaimed: (claim) =>
      db
        .sql('SELECT seq FROM lookup WHERE tenant = ? AND near = ? AND kind = ? AND key = ?')
        .get(tenant.id, ...claimKey(claim)) !== undefined,
    holdsObject: (digest) =>
      db.sql('SELECT 1 FROM object WHERE tenant = ? AND digest = ?').get(tenant.id, digest) !== undefined,
  };
}

export function readRow<N extends RowName>(
  db: Database,
  tenant: Tenant,
  name: N,
  key: string,
): Row<N> | null {
  const found = db
    .sql(
      `SELECT seq, state FROM lookup JOIN projection ON projection.id = ? + lookup.seq
       WHERE lookup.tenant = ? AND near = ? AND kind = ? AND lookup.key = ?`,
    )
    .get(rowIdOf(tenant.id, name, 0), tenant.id, ...rowKey(name, key)) as
    | { seq: number; state: string }
    | undefined;
  return found ? { name, key, seq: found.seq, state: stateOf<N>(found.state) } : null;
}

export function readKeys(db: Database, tenant: Tenant, name: RowName, beginning: string, limit: number) {
  const found = db
    .sql(
      `SELECT near FROM lookup WHERE tenant = ? AND near >= ? AND near < ? AND kind = ? ORDER BY near LIMIT ?`,
    )
    .all(tenant.id, beginning, endOf(beginning), name, limit) as { near: string }[];
  return found.map(({ near }) => near);
}

/** Written by us as canonical JSON; if it no longer is, another program wrote it. */
export function stateOf<N extends RowName>(text: string): States[N] {
  try {
    return JSON.parse(text) as States[N];
  } catch {
    return refuse(
      'STORE_CORRUPT',
      'A stored state is not JSON. `keyturn ledger rebuild --write` makes it again from the ledger.',
    );
  }
}
