import { sqliteLimits } from '../../limits.ts';
import {
  type AgentRow,
  type AgentTableShape,
  CURRENT,
  LEDGER,
  LEDGERS,
  TABLES,
  type Value,
} from '../agent-tables.ts';
import { insertAgentRows } from './agent.ts';
import { FREE_AGENT_LEDGERS, KEEP_AGENT_LEDGERS } from './agent-schema.ts';
import type { Database } from './database.ts';
import type { Tenant } from './rows.ts';

/**
 * The tables of the agent core in a rebuild. Rows of the ledgers follow from single entries in the order of the ledger,
 * so they are compared as the entries go by and are written nowhere.
 */
export interface AgentComparison {
  /** What an entry adds. */
  add(added: readonly AgentRow[]): void;
  /** After the last entry: the rows that differ, as `table key`. */
  finish(): string[];
}

/** It is empty where a plan or step comes into being. */
const FROM_STATE = LEDGER.columns.indexOf('from_state');

interface TableComparison {
  readonly add: (values: readonly Value[]) => void;
  readonly finish: () => string[];
}

export function agentComparison(db: Database, tenant: Tenant, most: number): AgentComparison {
  const ledgers = new Map<AgentTableShape, TableComparison>(
    LEDGERS.map((table) => [table, ledgerComparison(db, tenant, table, most)]),
  );
  let begun = 0;
  return {
    add: (added) => {
      for (const { table, values } of added) {
        ledgers.get(table)!.add(values);
        if (table === LEDGER && values[FROM_STATE] === '') begun += 1;
      }
    },
    finish: () => {
      const differences = [...ledgers.values()].flatMap(({ finish }) => finish());
      // The present follows from the ledger in the file only where that ledger is right.
      return differences.length > 0 ? differences : currentDifferences(db, tenant, begun, most);
    },
  };
}

/** A row as one JSON text: the same that JSON.stringify makes of its values, also where a text has a NUL, at which the driver cuts. */
const textIn = (columns: readonly string[]) => `json_array(${columns.join()})`;

function ledgerComparison(
  db: Database,
  tenant: Tenant,
  table: AgentTableShape,
  most: number,
): TableComparison {
  const { name, columns } = table;
  const stored = storedRows(table);
  const seq_at = columns.indexOf('seq');
  /** What follows the tenant in the key: where a row stands. */
  const place = table.key.slice(1).map((column) => columns.indexOf(column));
  const differing = new Set<number>();
  let waiting: (readonly Value[])[] = [];
  let end: Value[] = table.key.slice(1).map((column) => (column === 'created_at' ? '' : -1));

  /** Everything that is stored between the last window and this one's end; to the very end when it is the last. */
  function compare(is_last: boolean): void {
    const last = waiting.at(-1);
    const here = last ? place.map((i) => last[i]!) : end;
    const span = [tenant.name, ...end, ...(is_last ? [] : here)];
    const { all, each } = is_last ? stored.toEnd : stored.upTo;
    const { is_same } = db.sql(all).get(JSON.stringify(waiting), ...span) as { is_same: number };
    if (is_same !== 1) noteDifferences(db.sql(each).all(...span) as StoredRow[]);
    waiting = [];
    end = here;
  }

  function noteDifferences(found: readonly StoredRow[]): void {
    const texts = new Map(found.map(({ seq, text }) => [text, seq]));
    for (const values of waiting) if (!texts.delete(JSON.stringify(values))) note(values[seq_at] as number);
    for (const seq of texts.values()) note(seq);
  }

  function note(seq: number): void {
    if (differing.size < most) differing.add(seq);
  }

  return {
    add: (values) => {
      waiting.push(values);
      if (waiting.length >= sqliteLimits.compared_rows) compare(false);
    },
    finish: () => {
      compare(true);
      return Array.from(differing, (seq) => `${name} ${seq}`);
    },
  };
}

interface StoredRow {
  readonly seq: number;
  readonly text: string;
}

/** The rows of a ledger behind a place, up to another place or to the end: whether all of them are one text, or each as its own. */
function storedRows({ name, columns, key }: AgentTableShape) {
  const place = key.slice(1).join();
  const marks = key.slice(1).fill('?').join();
  const reading = (upTo: string) => {
    const within = `FROM main.${name} WHERE tenant_id = ? AND (${place}) > (${marks})${upTo} ORDER BY ${place}`;
    return {
      all: `SELECT ? = json_group_array(${textIn(columns)}) AS is_same FROM (SELECT * ${within})`,
      each: `SELECT seq, ${textIn(columns)} AS text ${within}`,
    };
  };
  return { upTo: reading(` AND (${place}) <= (${marks})`), toEnd: reading('') };
}

/** SQLite takes the other columns from the row that has the greatest `seq`; an entry moves a plan or step once. */
const NEWEST = `
  SELECT ${CURRENT.repeats!.map((column, i) => `${column === 'seq' ? 'max(seq)' : column} AS ${CURRENT.columns[i]}`).join()}
  FROM main.${LEDGER.name} WHERE tenant_id = :tenant GROUP BY ${CURRENT.key.join()}`;
const PRESENT = `SELECT ${CURRENT.columns.join()} FROM main.${CURRENT.name} WHERE tenant_id = :tenant`;
const LABEL = `'${CURRENT.name} ' || plan_id || ' ' || step_id AS what`;
const CURRENT_DIFFERENCES = `
  SELECT ${LABEL} FROM (${PRESENT} EXCEPT ${NEWEST})
  UNION SELECT ${LABEL} FROM (${NEWEST} EXCEPT ${PRESENT}) LIMIT :most`;

type Counted = Readonly<Record<'present' | 'same', number>>;

/** Each row of the present with the one of the ledger that it repeats, where that is the newest of its plan and step. */
const CURRENT_SAME = `
  SELECT count(*) AS present, count(told.seq) AS same
  FROM main.${CURRENT.name} AS present LEFT JOIN main.${LEDGER.name} AS told
    ON told.tenant_id = :tenant AND told.created_at = present.updated_at AND told.seq = present.seq
    AND ${CURRENT.columns.map((column, i) => `present.${column} IS told.${CURRENT.repeats![i]}`).join(' AND ')}
    AND told.seq = (SELECT max(newer.seq) FROM main.${LEDGER.name} AS newer
      WHERE newer.tenant_id = :tenant AND newer.plan_id = present.plan_id AND newer.step_id = present.step_id)
  WHERE present.tenant_id = :tenant`;

/** `begun` plans and steps came into being, each once. */
function currentDifferences(db: Database, tenant: Tenant, begun: number, most: number): string[] {
  const { present, same } = db.sql(CURRENT_SAME).get({ tenant: tenant.name }) as Counted;
  if (present === same && same === begun) return [];
  const found = db.sql(CURRENT_DIFFERENCES).all({ tenant: tenant.name, most }) as { what: string }[];
  return found.map(({ what }) => what);
}

/** Puts what the entries say in the place of what is stored. Nothing else may lift the triggers of the ledgers. */
export function replaceAgentRows(db: Database, tenant: Tenant, all: Iterable<AgentRow>): void {
  db.exec(FREE_AGENT_LEDGERS);
  for (const { name } of TABLES) db.sql(`DELETE FROM main.${name} WHERE tenant_id = ?`).run(tenant.name);
  insertAgentRows(db, all);
  db.exec(KEEP_AGENT_LEDGERS);
}
