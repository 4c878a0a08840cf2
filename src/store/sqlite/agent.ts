import { type AgentSubject, currentQuery, insertFrom, ledgerQuery } from '../agent-sql.ts';
import {
  type AgentCurrentRow,
  type AgentLedgerRow,
  type AgentRow,
  type AgentTable,
  currentOf,
  TABLES,
} from '../agent-tables.ts';
import type { AgentPage } from '../store.ts';
import type { Database } from './database.ts';
import type { Tenant } from './rows.ts';

const INSERTS = Object.fromEntries(
  TABLES.map((table) => [
    table.name,
    insertFrom(table, 'main.', `VALUES (${table.columns.map(() => '?').join()})`),
  ]),
) as Readonly<Record<AgentTable, string>>;

/** What an entry adds, in the transaction of that entry. */
export function insertAgentRows(db: Database, added: Iterable<AgentRow>): void {
  for (const row of added) {
    insert(db, row);
    const current = currentOf(row);
    if (current) insert(db, current);
  }
}

function insert(db: Database, { table, values }: AgentRow): void {
  db.sql(INSERTS[table.name]).run(...values);
}

export function readAgentLedger(db: Database, tenant: Tenant, page: AgentPage): AgentLedgerRow[] {
  const { text, values } = ledgerQuery('main.', tenant.name, page);
  return db.sql(text).all(...values) as unknown as AgentLedgerRow[];
}

export function readAgentCurrent(db: Database, tenant: Tenant, of: AgentSubject): AgentCurrentRow[] {
  const { text, values } = currentQuery('main.', tenant.name, of);
  return db.sql(text).all(...values) as unknown as AgentCurrentRow[];
}
