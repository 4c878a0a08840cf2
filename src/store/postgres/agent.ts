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
import { freeLedger, keepLedger } from './agent-schema.ts';
import type { Connection } from './connection.ts';
import type { Tables } from './load.ts';
import { isStorable, type Tenant } from './rows.ts';

/** The tables of the agent core. Their rows name the tenant, as 003 has it; all other keys here use its number. */
export const TABLES = Object.keys(AGENT_TABLES) as AgentTable[];

const NUMBERS: ReadonlySet<string> = new Set(['seq', 'part', 'dispatch_ms']);

export const columnsOf = (table: AgentTable): readonly string[] => AGENT_TABLES[table].columns;
const keyOf = (table: AgentTable): readonly string[] => AGENT_TABLES[table].key;

export function typesOf(table: AgentTable): string[] {
  return columnsOf(table).map((column) => (NUMBERS.has(column) ? 'bigint' : 'text'));
}

/** `from` is what gives rows of all columns. */
export function insertText(table: AgentTable, tables: Tables, from: string): string {
  const text = `INSERT INTO ${tables}.${table} (${columnsOf(table).join()}) SELECT v.* FROM ${from}`;
  if (table !== 'agent_execution_current') return text;
  const rest = columnsOf(table).filter((column) => !keyOf(table).includes(column));
  const changes = rest.map((column) => `${column} = excluded.${column}`);
  return `${text} ON CONFLICT (${keyOf(table).join()}) DO UPDATE SET ${changes.join()}`;
}

export type AgentValues = Readonly<Record<AgentTable, readonly (readonly unknown[])[]>>;

/** The rows of one batch, as values in the order of the columns. */
export function agentValues(added: readonly AgentTableRows[]): AgentValues {
  const rowsOf = <T extends keyof AgentTableRows>(table: T) => added.flatMap((rows) => [...rows[table]]);
  const rows: Record<AgentTable, readonly object[]> = {
    agent_execution_ledger: rowsOf('agent_execution_ledger'),
    agent_execution_current: currentRows(rowsOf('agent_execution_ledger') as AgentLedgerRow[]),
    agent_execution_confirmation_ledger: rowsOf('agent_execution_confirmation_ledger'),
    agent_execution_access_decision_ledger: rowsOf('agent_execution_access_decision_ledger'),
  };
  const valuesOf = (table: AgentTable) =>
    rows[table].map((row) => columnsOf(table).map((column) => (row as Record<string, unknown>)[column]));
  return Object.fromEntries(TABLES.map((table) => [table, valuesOf(table)])) as unknown as AgentValues;
}

const LEDGER = `SELECT ${columnsOf('agent_execution_ledger').join()} FROM keyturn.agent_execution_ledger`;
const CURRENT = `SELECT ${columnsOf('agent_execution_current').join()} FROM keyturn.agent_execution_current`;

export async function readAgentLedger(
  db: Connection,
  tenant: Tenant,
  page: AgentPage,
): Promise<AgentLedgerRow[]> {
  const { correlation_id, plan_id, since, limit, after } = page;
  if (!Number.isSafeInteger(limit) || limit < 1) refuse('SHAPE_INVALID', 'The limit of a page is 1 or more.');
  const values: unknown[] = [tenant.name];
  const wanted = ['tenant_id = $1'];
  const want = (text: string, ...more: unknown[]) => {
    wanted.push(text.replaceAll('?', () => `$${values.push(more.shift())}`));
  };
  if (correlation_id !== undefined) want('correlation_id = ?', correlation_id);
  if (plan_id !== undefined) want('plan_id = ?', plan_id);
  if (since !== undefined) want('created_at >= ?', since);
  if (after) want('(created_at, seq, part) > (?, ?, ?)', after.created_at, after.seq, after.part);
  if (values.some((value) => typeof value === 'string' && !isStorable(value))) return [];
  const text = `${LEDGER} WHERE ${wanted.join(' AND ')} ORDER BY created_at, seq, part LIMIT ${limit}`;
  return (await db.ask<AgentLedgerRow & { [column: string]: unknown }>({ text, values })).rows;
}

export async function readAgentCurrent(
  db: Connection,
  tenant: Tenant,
  of: { readonly correlation_id: string } | { readonly plan_id: string },
): Promise<AgentCurrentRow[]> {
  const [column, value] = 'plan_id' in of ? ['plan_id', of.plan_id] : ['correlation_id', of.correlation_id];
  if (!isStorable(value!)) return [];
  const { rows } = await db.ask<AgentCurrentRow & { [column: string]: unknown }>({
    text: `${CURRENT} WHERE tenant_id = $1 AND ${column} = $2 ORDER BY correlation_id, plan_id, step_id`,
    values: [tenant.name, value],
  });
  return rows;
}

/** For a rebuild: the same tables, empty. */
export const FRESH_AGENT_TABLES = TABLES.map(
  (table) => `CREATE TEMP TABLE ${table} (LIKE keyturn.${table} INCLUDING INDEXES) ON COMMIT DROP;`,
).join('');

export async function insertFreshAgentRows(db: Connection, added: readonly AgentTableRows[]): Promise<void> {
  for (const [table, rows] of Object.entries(agentValues(added)) as [AgentTable, readonly unknown[][]][]) {
    if (rows.length === 0) continue;
    const types = typesOf(table);
    const places = types.map((type, i) => `$${i + 1}::${type}[]`);
    const text = insertText(table, 'pg_temp', `unnest(${places.join()}) AS v`);
    await db.ask({ text, values: types.map((_, i) => rows.map((row) => row[i])) });
  }
}

/** Rows of this tenant that are not the same on both sides, in every column. */
function differenceText(table: AgentTable): string {
  const columns = columnsOf(table).join();
  const label = `'${table} ' || ${table === 'agent_execution_current' ? "plan_id || ' ' || step_id" : 'seq'}`;
  const stored = `SELECT ${columns} FROM keyturn.${table} WHERE tenant_id = $1`;
  const folded = `SELECT ${columns} FROM pg_temp.${table}`;
  return `SELECT DISTINCT ${label} AS what
    FROM ((${stored} EXCEPT ${folded}) UNION ALL (${folded} EXCEPT ${stored})) AS differing LIMIT $2`;
}

/** What differs, by table. */
export async function agentDifferences(
  db: Connection,
  tenant: Tenant,
  most: number,
): Promise<ReadonlyMap<AgentTable, readonly string[]>> {
  const found = new Map<AgentTable, readonly string[]>();
  for (const table of TABLES) {
    const { rows } = await db.ask<{ what: string }>({
      text: differenceText(table),
      values: [tenant.name, most],
    });
    if (rows.length > 0)
      found.set(
        table,
        rows.map(({ what }) => what),
      );
  }
  return found;
}

/** Puts the folded rows in the place of what is stored. In a ledger only the role that owns the tables can. */
export async function replaceAgentRows(
  db: Connection,
  tenant: Tenant,
  tables: Iterable<AgentTable>,
): Promise<void> {
  for (const table of tables) {
    const columns = columnsOf(table).join();
    const is_kept = table !== 'agent_execution_current';
    if (is_kept) await db.ask({ text: freeLedger(table) });
    await db.ask({ text: `DELETE FROM keyturn.${table} WHERE tenant_id = $1`, values: [tenant.name] });
    await db.ask({
      text: `INSERT INTO keyturn.${table} (${columns}) SELECT ${columns} FROM pg_temp.${table}`,
    });
    if (is_kept) await db.ask({ text: keepLedger(table) });
  }
}
