import { refuse } from '../refusal.ts';
import { type AgentTableShape, CURRENT, LEDGER, TABLES, type Value } from './agent-tables.ts';
import type { AgentPage } from './store.ts';

/** What both databases say to the tables of the agent core. A `?` stands for a value. */

export interface Dialect {
  /** Before the name of a table. */
  readonly schema: string;
  readonly text: string;
  readonly number: string;
  /** Behind the columns of a table. */
  readonly storage: string;
}

export function createTables({ schema, storage, ...types }: Dialect): string {
  const statements = TABLES.flatMap(({ name, columns, key, indexes, ...table }) => {
    const lines = columns.map(
      (column, i) => `${column} ${types[table.types[i]!]}${table.optional[i] ? '' : ' NOT NULL'}`,
    );
    lines.push(`PRIMARY KEY (${key.join(', ')})`);
    return [
      `CREATE TABLE ${schema}${name} (\n  ${lines.join(',\n  ')}\n)${storage}`,
      ...indexes.map(({ name: index, columns, unique_where: only }) => {
        const [unique, where] = only === undefined ? ['', ''] : ['UNIQUE ', ` WHERE ${only}`];
        return `CREATE ${unique}INDEX ${index} ON ${schema}${name} (${columns.join(', ')})${where}`;
      }),
    ];
  });
  return `${statements.join(';\n')};\n`;
}

/** `from` gives rows of all columns. */
export function insertFrom({ name, columns, key, repeats }: AgentTableShape, schema: string, from: string) {
  const text = `INSERT INTO ${schema}${name} (${columns.join()}) ${from}`;
  if (repeats === null) return text;
  const rest = columns.filter((column) => !key.includes(column));
  const changes = rest.map((column) => `${column} = excluded.${column}`);
  return `${text} ON CONFLICT (${key.join()}) DO UPDATE SET ${changes.join()}`;
}

export interface AgentQuery {
  readonly text: string;
  readonly values: readonly Value[];
}

export function ledgerQuery(schema: string, tenant: string, page: AgentPage): AgentQuery {
  const { correlation_id, plan_id, since, newest_first = false, limit, after } = page;
  const [beyond, order] = newest_first ? ['<', ' DESC'] : ['>', ''];
  if (!Number.isSafeInteger(limit) || limit < 1) refuse('SHAPE_INVALID', 'The limit of a page is 1 or more.');
  const wanted: [text: string, ...values: Value[]][] = [['tenant_id = ?', tenant]];
  if (correlation_id !== undefined) wanted.push(['correlation_id = ?', correlation_id]);
  if (plan_id !== undefined) wanted.push(['plan_id = ?', plan_id]);
  if (since !== undefined) wanted.push(['created_at >= ?', since]);
  if (after)
    wanted.push([`(created_at, seq, part) ${beyond} (?, ?, ?)`, after.created_at, after.seq, after.part]);
  const where = wanted.map(([text]) => text).join(' AND ');
  return {
    text: `${select(LEDGER, schema)} WHERE ${where} ORDER BY created_at${order}, seq${order}, part${order} LIMIT ?`,
    values: [...wanted.flatMap(([, ...values]) => values), limit],
  };
}

export type AgentSubject = { readonly correlation_id: string } | { readonly plan_id: string };

export function currentQuery(schema: string, tenant: string, of: AgentSubject): AgentQuery {
  const [column, value] = 'plan_id' in of ? ['plan_id', of.plan_id] : ['correlation_id', of.correlation_id];
  const where = `tenant_id = ? AND ${column} = ? ORDER BY correlation_id, plan_id, step_id`;
  return {
    text: `${select(CURRENT, schema)} WHERE ${where}`,
    values: [tenant, value!],
  };
}

function select({ name, columns }: AgentTableShape, schema: string): string {
  return `SELECT ${columns.join()} FROM ${schema}${name}`;
}
