import { refuse } from '../../refusal.ts';
import { currentRows } from '../agent-rows.ts';
import {
  AGENT_TABLES,
  type AgentCurrentRow,
  type AgentLedgerRow,
  type AgentTable,
  type AgentTableRows,
} from '../agent-tables.ts';
import type { AgentPage } from '../store.ts';
import { AGENT_LEDGERS } from './agent-schema.ts';
import type { Database } from './database.ts';
import type { Tenant } from './rows.ts';

/** The tables of the agent core. Like every other statement of this store, theirs are fixed texts. */
const TABLES = Object.keys(AGENT_TABLES) as AgentTable[];

const columnsOf = (table: AgentTable): readonly string[] => AGENT_TABLES[table].columns;
const keyOf = (table: AgentTable): readonly string[] => AGENT_TABLES[table].key;
const restOf = (table: AgentTable) => columnsOf(table).filter((column) => !keyOf(table).includes(column));

function insertText(table: AgentTable): string {
  const columns = columnsOf(table);
  const text = `INSERT INTO ${table} (${columns.join()}) VALUES (${columns.map(() => '?').join()})`;
  if (table !== 'agent_execution_current') return text;
  const changes = restOf(table).map((column) => `${column} = excluded.${column}`);
  return `${text} ON CONFLICT (${keyOf(table).join()}) DO UPDATE SET ${changes.join()}`;
}

const INSERTS = Object.fromEntries(TABLES.map((table) => [table, insertText(table)])) as Readonly<
  Record<AgentTable, string>
>;

type Value = string | number | null;

export function insertAgentRow(db: Database, table: AgentTable, row: object): void {
  const values = row as Readonly<Record<string, Value>>;
  db.sql(INSERTS[table]).run(...columnsOf(table).map((column) => values[column]!));
}

/** What one entry adds, in the transaction of that entry. */
export function insertAgentRows(db: Database, added: AgentTableRows): void {
  for (const table of AGENT_LEDGERS) for (const row of added[table]) insertAgentRow(db, table, row);
  for (const row of currentRows(added.agent_execution_ledger))
    insertAgentRow(db, 'agent_execution_current', row);
}

const LEDGER = `SELECT ${columnsOf('agent_execution_ledger').join()} FROM agent_execution_ledger`;
const CURRENT = `SELECT ${columnsOf('agent_execution_current').join()} FROM agent_execution_current`;

export function readAgentLedger(db: Database, tenant: Tenant, page: AgentPage): AgentLedgerRow[] {
  const { correlation_id, plan_id, since, limit, after } = page;
  if (!Number.isSafeInteger(limit) || limit < 1) refuse('SHAPE_INVALID', 'The limit of a page is 1 or more.');
  const wanted: [text: string, ...values: Value[]][] = [['tenant_id = ?', tenant.name]];
  if (correlation_id !== undefined) wanted.push(['correlation_id = ?', correlation_id]);
  if (plan_id !== undefined) wanted.push(['plan_id = ?', plan_id]);
  if (since !== undefined) wanted.push(['created_at >= ?', since]);
  if (after) wanted.push(['(created_at, seq, part) > (?, ?, ?)', after.created_at, after.seq, after.part]);
  const where = wanted.map(([text]) => text).join(' AND ');
  return db
    .sql(`${LEDGER} WHERE ${where} ORDER BY created_at, seq, part LIMIT ?`)
    .all(...wanted.flatMap(([, ...values]) => values), limit) as unknown as AgentLedgerRow[];
}

export function readAgentCurrent(
  db: Database,
  tenant: Tenant,
  of: { readonly correlation_id: string } | { readonly plan_id: string },
): AgentCurrentRow[] {
  const [column, value] = 'plan_id' in of ? ['plan_id', of.plan_id] : ['correlation_id', of.correlation_id];
  return db
    .sql(`${CURRENT} WHERE tenant_id = ? AND ${column} = ? ORDER BY correlation_id, plan_id, step_id`)
    .all(tenant.name, value!) as unknown as AgentCurrentRow[];
}
