import { type AgentQuery, type AgentSubject, currentQuery, insertFrom, ledgerQuery } from '../agent-sql.ts';
import {
  type AgentCurrentRow,
  type AgentLedgerRow,
  type AgentRow,
  type AgentTable,
  type AgentTableShape,
  CURRENT,
  currentOf,
  TABLES,
  type Value,
} from '../agent-tables.ts';
import type { AgentPage } from '../store.ts';
import { freeLedger, keepLedger } from './agent-schema.ts';
import { arraysOf, type ElementType } from './array.ts';
import type { Connection } from './connection.ts';
import { isStorable, type Tenant } from './rows.ts';

/** The tables of the agent core. Their rows name the tenant, as 003 has it; all other keys here use its number. */

export function typesOf({ types }: AgentTableShape): ElementType[] {
  return types.map((type) => (type === 'number' ? 'bigint' : 'text'));
}

type Rows = readonly (readonly Value[])[];

/** The rows of one batch by table. One statement changes a row once, so of a table of the present only the newest of each key. */
export function agentValues(added: readonly AgentRow[]): Readonly<Record<AgentTable, Rows>> {
  const all = [...added, ...added.map(currentOf).filter((row) => row !== null)];
  const valuesOf = (table: AgentTableShape): Rows => {
    const rows = all.filter((row) => row.table === table).map(({ values }) => values);
    if (table !== CURRENT) return rows;
    const key_at = table.key.map((column) => table.columns.indexOf(column));
    return [...new Map(rows.map((row) => [key_at.map((i) => row[i]).join(' '), row])).values()];
  };
  return Object.fromEntries(TABLES.map((table) => [table.name, valuesOf(table)])) as Record<AgentTable, Rows>;
}

export function readAgentLedger(db: Connection, tenant: Tenant, page: AgentPage): Promise<AgentLedgerRow[]> {
  return ask(db, ledgerQuery('keyturn.', tenant.name, page));
}

export function readAgentCurrent(
  db: Connection,
  tenant: Tenant,
  of: AgentSubject,
): Promise<AgentCurrentRow[]> {
  return ask(db, currentQuery('keyturn.', tenant.name, of));
}

async function ask<R>(db: Connection, { text, values }: AgentQuery): Promise<R[]> {
  if (values.some((value) => typeof value === 'string' && !isStorable(value))) return [];
  let place = 0;
  const numbered = text.replaceAll('?', () => `$${++place}`);
  return (await db.ask<R & { [column: string]: unknown }>({ text: numbered, values: [...values] })).rows;
}

/** For a rebuild: the same tables, empty. */
export const FRESH_AGENT_TABLES = TABLES.map(
  ({ name }) => `CREATE TEMP TABLE ${name} (LIKE keyturn.${name} INCLUDING INDEXES) ON COMMIT DROP;`,
).join('');

export async function insertFreshAgentRows(db: Connection, added: readonly AgentRow[]): Promise<void> {
  const rows = agentValues(added);
  for (const table of TABLES) {
    const some = rows[table.name];
    if (some.length === 0) continue;
    const types = typesOf(table);
    const places = types.map((type, i) => `$${i + 1}::${type}[]`);
    const text = insertFrom(table, 'pg_temp.', `SELECT v.* FROM unnest(${places.join()}) AS v`);
    await db.ask({ text, values: arraysOf(types, some) });
  }
}

/** Rows of this tenant that are not the same on both sides, in every column. */
function differenceText({ name, columns, repeats }: AgentTableShape): string {
  const label = `'${name} ' || ${repeats ? "plan_id || ' ' || step_id" : 'seq'}`;
  const stored = `SELECT ${columns.join()} FROM keyturn.${name} WHERE tenant_id = $1`;
  const folded = `SELECT ${columns.join()} FROM pg_temp.${name}`;
  return `SELECT DISTINCT ${label} AS what
    FROM ((${stored} EXCEPT ${folded}) UNION ALL (${folded} EXCEPT ${stored})) AS differing LIMIT $2`;
}

/** What differs, by table. */
export async function agentDifferences(
  db: Connection,
  tenant: Tenant,
  most: number,
): Promise<ReadonlyMap<AgentTableShape, readonly string[]>> {
  const found = new Map<AgentTableShape, readonly string[]>();
  for (const table of TABLES) {
    const asked = { text: differenceText(table), values: [tenant.name, most] };
    const { rows } = await db.ask<{ what: string }>(asked);
    const differing = rows.map(({ what }) => what);
    if (differing.length > 0) found.set(table, differing);
  }
  return found;
}

/** Puts the folded rows in the place of what is stored. In a ledger only the role that owns the tables can. */
export async function replaceAgentRows(
  db: Connection,
  tenant: Tenant,
  tables: Iterable<AgentTableShape>,
): Promise<void> {
  for (const { name, columns, repeats } of tables) {
    if (repeats === null) await db.ask({ text: freeLedger(name) });
    await db.ask({ text: `DELETE FROM keyturn.${name} WHERE tenant_id = $1`, values: [tenant.name] });
    const folded = `SELECT ${columns.join()} FROM pg_temp.${name}`;
    await db.ask({ text: `INSERT INTO keyturn.${name} (${columns.join()}) ${folded}` });
    if (repeats === null) await db.ask({ text: keepLedger(name) });
  }
}
