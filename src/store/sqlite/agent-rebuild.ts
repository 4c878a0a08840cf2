import { currentRows } from '../agent-rows.ts';
import { AGENT_TABLES, type AgentLedgerRow, type AgentTableRows } from '../agent-tables.ts';
import { insertAgentRow } from './agent.ts';
import { AGENT_LEDGERS, FREE_AGENT_LEDGERS, KEEP_AGENT_LEDGERS } from './agent-schema.ts';
import type { Database } from './database.ts';
import type { Tenant } from './rows.ts';

/**
 * The tables of the agent core in a rebuild. Rows of the ledgers follow from single entries in the order of the ledger,
 * so they are compared as the entries go by and are written nowhere. The current table is folded into a fresh one.
 */

type LedgerTable = (typeof AGENT_LEDGERS)[number];
type Value = string | number | null;
type Values = Readonly<Record<string, Value>>;

const CURRENT = AGENT_TABLES.agent_execution_current;

export const FRESH_CURRENT = `
  CREATE TEMP TABLE agent_execution_current AS SELECT * FROM main.agent_execution_current WHERE 0;
  CREATE UNIQUE INDEX temp.agent_execution_current_key ON agent_execution_current (${CURRENT.key.join()});
`;
export const DROP_CURRENT = 'DROP TABLE temp.agent_execution_current;';

/** What follows the tenant in the key: where a row stands. */
const placeOf = (table: LedgerTable): readonly string[] => AGENT_TABLES[table].key.slice(1);

const STORED = Object.fromEntries(
  AGENT_LEDGERS.map((table) => {
    const place = placeOf(table).join();
    const marks = placeOf(table)
      .map(() => '?')
      .join();
    const within = `FROM main.${table} WHERE tenant_id = ? AND (${place}) > (${marks})`;
    const spans = { upTo: `AND (${place}) <= (${marks}) ORDER BY ${place}`, toEnd: `ORDER BY ${place}` };
    const reading = (columns: string) => ({
      upTo: `SELECT ${columns} ${within} ${spans.upTo}`,
      toEnd: `SELECT ${columns} ${within} ${spans.toEnd}`,
    });
    const { columns } = AGENT_TABLES[table];
    return [
      table,
      {
        texts: reading(`${textIn(columns)} AS text`),
        rows: reading(`${columns.join()}, ${bytesIn(columns)} AS bytes`),
      },
    ];
  }),
) as Readonly<Record<LedgerTable, { readonly texts: Span; readonly rows: Span }>>;

/** A statement for the rows up to a place, and one for all that follow. */
interface Span {
  readonly upTo: string;
  readonly toEnd: string;
}

/**
 * A row as one text, which is read and compared far sooner than its columns: a sign and the value, or nothing where there is
 * none, and a sign behind it. Nothing that commit writes holds the second sign, so there are as many as there are columns.
 */
const VALUE = '\x1e';
const END = '\x1f';

function textIn(columns: readonly string[]): string {
  return `concat_ws(char(31), ${columns.map((column) => `ifnull(char(30) || ${column}, '')`).join()}, '')`;
}

/** The same text of a folded row; null for a value that could be read in two ways. */
function textOf(row: Values, columns: readonly string[]): string | null {
  let text = '';
  for (const column of columns) {
    const value = row[column] ?? null;
    if (typeof value === 'string' && value.includes(END)) return null;
    text += value === null ? END : VALUE + value + END;
  }
  return text;
}

/** The driver cuts a text at a NUL. Its length in bytes tells. */
function bytesIn(columns: readonly string[]): string {
  return columns.map((column) => `ifnull(octet_length(${column}), 0)`).join(' + ');
}

function bytesOf(row: Values, columns: readonly string[]): number {
  return columns.reduce((sum, column) => sum + Buffer.byteLength(String(row[column] ?? '')), 0);
}

/** How many rows are compared together. */
const WINDOW = 1000;

export interface AgentComparison {
  /** What an entry adds. */
  add(added: AgentTableRows): void;
  /** After the last entry: the rows that differ, as `table key`. */
  finish(): string[];
}

export function agentComparison(db: Database, tenant: Tenant, most: number): AgentComparison {
  const ledgers = AGENT_LEDGERS.map((table) => ledgerComparison(db, tenant, table, most));
  const moved: AgentLedgerRow[] = [];

  function flush(): void {
    for (const row of currentRows(moved.splice(0))) insertAgentRow(db, 'agent_execution_current', row);
  }

  return {
    add: (added) => {
      for (const ledger of ledgers) ledger.add(added);
      moved.push(...added.agent_execution_ledger);
      if (moved.length >= KEPT) flush();
    },
    finish: () => {
      flush();
      return [...ledgers.flatMap((ledger) => ledger.finish()), ...currentDifferences(db, tenant, most)];
    },
  };
}

/** Moves that are kept in memory: most plans are over within so many of them and are written once. */
const KEPT = 20_000;

function ledgerComparison(db: Database, tenant: Tenant, table: LedgerTable, most: number) {
  const { columns } = AGENT_TABLES[table];
  const place = placeOf(table);
  const differing = new Set<number>();
  let waiting: Values[] = [];
  let end: Value[] = place.map((column) => (column === 'created_at' ? '' : -1));

  /** Everything that is stored between the last window and this one's end; to the very end when it is the last. */
  function compare(is_last: boolean): void {
    const last = waiting.at(-1);
    const here = last ? place.map((column) => last[column]!) : end;
    const read = ({ upTo, toEnd }: Span) =>
      is_last ? db.sql(toEnd).all(tenant.name, ...end) : db.sql(upTo).all(tenant.name, ...end, ...here);
    const stored = read(STORED[table].texts) as { text: string }[];
    const is_same =
      stored.length === waiting.length &&
      stored.every(({ text }, i) => text === textOf(waiting[i]!, columns));
    if (!is_same) noteDifferences(read(STORED[table].rows) as Values[]);
    waiting = [];
    end = here;
  }

  function noteDifferences(stored: readonly Values[]): void {
    const exact = (row: Values, bytes: Value) =>
      JSON.stringify([...columns.map((column) => row[column]), bytes]);
    const texts = new Map(stored.map((row) => [exact(row, row.bytes!), row.seq as number]));
    for (const row of waiting) if (!texts.delete(exact(row, bytesOf(row, columns)))) note(row.seq as number);
    for (const seq of texts.values()) note(seq);
  }

  function note(seq: number): void {
    if (differing.size < most) differing.add(seq);
  }

  return {
    add: (added: AgentTableRows) => {
      for (const row of added[table]) waiting.push(row as unknown as Values);
      if (waiting.length >= WINDOW) compare(false);
    },
    finish: () => {
      compare(true);
      return Array.from(differing, (seq) => `${table} ${seq}`);
    },
  };
}

const sideOf = (side: string, columns: readonly string[]) =>
  columns.map((column) => `${side}.${column}`).join();
const SAME_KEY = CURRENT.key.map((column) => `s.${column} = f.${column}`).join(' AND ');
const REST: readonly string[] = CURRENT.columns.filter(
  (column) => !CURRENT.key.some((part) => part === column),
);

const CURRENT_DIFFERENCES = `
  SELECT DISTINCT 'agent_execution_current ' || plan_id || ' ' || step_id AS what FROM (
    SELECT s.plan_id, s.step_id
      FROM main.agent_execution_current s LEFT JOIN temp.agent_execution_current f ON ${SAME_KEY}
      WHERE s.tenant_id = :tenant
        AND (f.tenant_id IS NULL OR (${sideOf('s', REST)}) IS NOT (${sideOf('f', REST)}))
    UNION ALL
    SELECT f.plan_id, f.step_id
      FROM temp.agent_execution_current f LEFT JOIN main.agent_execution_current s ON ${SAME_KEY}
      WHERE s.tenant_id IS NULL
  ) LIMIT :most`;

function currentDifferences(db: Database, tenant: Tenant, most: number): string[] {
  const found = db.sql(CURRENT_DIFFERENCES).all({ tenant: tenant.name, most }) as { what: string }[];
  return found.map(({ what }) => what);
}

/** Puts what the entries say in the place of what is stored. Nothing else may lift the triggers of the ledgers. */
export function replaceAgentRows(db: Database, tenant: Tenant, all: Iterable<AgentTableRows>): void {
  db.exec(FREE_AGENT_LEDGERS);
  for (const table of AGENT_LEDGERS) db.sql(`DELETE FROM main.${table} WHERE tenant_id = ?`).run(tenant.name);
  for (const added of all)
    for (const table of AGENT_LEDGERS) for (const row of added[table]) insertAgentRow(db, table, row);
  const columns = CURRENT.columns.join();
  db.sql('DELETE FROM main.agent_execution_current WHERE tenant_id = ?').run(tenant.name);
  db.sql(
    `INSERT INTO main.agent_execution_current (${columns}) SELECT ${columns} FROM temp.agent_execution_current`,
  ).run();
  db.exec(KEEP_AGENT_LEDGERS);
}
