import type { Digest } from '../../canonical/digest.ts';
import type { Row, RowName } from '../../fold/row.ts';
import { GENESIS } from '../../ledger/entry.ts';
import { refuse } from '../../refusal.ts';
import { ALWAYS } from '../loaded-rows.ts';
import type { FoundRows, Tip, Wanted } from '../store.ts';
import { arrayOf } from './array.ts';
import { RAN, type Ran, requireReady } from './begin.ts';
import type { Connection, PreparedQuery } from './connection.ts';
import { isStorable, stateOf, type Tenant } from './rows.ts';

/** Where the rows of a decision are: in the store, or in the fresh tables of a rebuild. */
export type Tables = 'keyturn' | 'pg_temp';

interface LoadedRow {
  readonly name: RowName | '#claim' | '#object';
  readonly key: string;
  readonly seq: number;
  readonly state: string;
}

/**
 * One statement, one round trip: the rows that are always needed, and those that are asked for. Each of these is looked up by itself
 * (LIMIT 1): a plan that was made while the tables were empty would join them, and read all rows of the tenant.
 */
const loadText = (tables: Tables) => `
  SELECT name, key, seq, state FROM ${tables}.projection
    WHERE tenant = $1 AND name IN ('${[...ALWAYS].join("', '")}')
  UNION ALL
  SELECT found.* FROM unnest($2::text[], $3::text[]) AS wanted (name, key), LATERAL (
    SELECT p.name, p.key, p.seq, p.state FROM ${tables}.projection p
    WHERE p.tenant = $1 AND p.name = wanted.name AND p.key = wanted.key LIMIT 1) AS found
  UNION ALL
  SELECT found.* FROM unnest($4::text[]) AS wanted (key), LATERAL (
    SELECT '#claim', c.key, c.seq, '' FROM ${tables}.claim c
    WHERE c.tenant = $1 AND c.key = wanted.key LIMIT 1) AS found
  UNION ALL
  SELECT found.* FROM unnest($5::text[]) AS wanted (digest), LATERAL (
    SELECT '#object', o.digest, 0, '' FROM keyturn.object o
    WHERE o.tenant = $1 AND o.digest = wanted.digest LIMIT 1) AS found`;

const TEXTS = { keyturn: loadText('keyturn'), pg_temp: loadText('pg_temp') };

function loadAsked(tenant: Tenant, { rows, claims, objects }: Wanted, tables: Tables): PreparedQuery {
  const refs = [...rows.values()].filter(([, key]) => isStorable(key));
  const names = refs.map(([name]) => name);
  const keys = refs.map(([, key]) => key);
  return {
    name: `load ${tables}`,
    text: TEXTS[tables],
    values: [
      tenant.id,
      arrayOf('text', names),
      arrayOf('text', keys),
      arrayOf('text', claims.filter(isStorable)),
      arrayOf('text', objects.filter(isStorable)),
    ],
  };
}

export async function load(
  db: Connection,
  tenant: Tenant,
  wanted: Wanted,
  tables: Tables = 'keyturn',
): Promise<FoundRows> {
  const { rows } = await db.ask<LoadedRow>(loadAsked(tenant, wanted, tables));
  const found = { rows: [] as Row[], claims: new Set<string>(), objects: new Set<Digest>() };
  for (const { name, key, seq, state } of rows) {
    if (name === '#claim') found.claims.add(key);
    else if (name === '#object') found.objects.add(key);
    else found.rows.push({ name, key, seq, state: stateOf(state) });
  }
  return found;
}

/** Where the chain ends, with what the row of the tenant says about it. */
export interface End {
  readonly tip: Tip;
  readonly generation: number;
}

export const END = `SELECT size, last, generation, ${RAN} FROM keyturn.tenant WHERE id = $1`;

/** The lock of the chain. Its holder sees in later statements what others committed before. */
export async function lockEnd(db: Connection, tenant: Tenant): Promise<EndRow> {
  const { rows } = await db.ask<EndRow>({
    name: 'lock',
    text: `${END} FOR UPDATE`,
    values: [tenant.id],
  });
  const end = rows[0] ?? refuse('STORE_CORRUPT', 'The tenant is gone.');
  requireReady(db.backend, end);
  return end;
}

export interface EndRow extends Ran {
  readonly size: number;
  readonly last: Digest;
  readonly generation: number;
}

interface PeakRow extends Omit<EndRow, keyof Ran> {
  readonly is_overrun: boolean | null;
  /** Of the last entry; null where there is none at its place. */
  readonly newest: Digest | null;
  readonly seq: number | null;
  readonly peak: Digest | null;
  readonly at: string | null;
}

/**
 * A tree of 13 leaves has peaks over 8, 4 and 1 of them, one for each bit of 13, which end at the leaves 8, 12 and 13.
 * The peak of the lowest bit ends with the last entry. An entry and the end that covers it are committed together, so one
 * past the end was not written by Keyturn, or the end was moved back: the role of the application can do both. Where the chain ends where
 * this process knows it to end ($2, $3), the peaks are known, and are not looked up.
 */
const PEAKS = `
  SELECT t.size, t.last, t.generation, past.is_overrun, newest.hash AS newest,
    e.seq, coalesce(e.peak, e.hash) AS peak, e.at
  FROM keyturn.tenant t
  LEFT JOIN LATERAL (
    SELECT true AS is_overrun FROM keyturn.entry p WHERE p.tenant = t.id AND p.seq >= t.size LIMIT 1
  ) AS past ON true
  LEFT JOIN LATERAL (
    SELECT n.hash FROM keyturn.entry n WHERE n.tenant = t.id AND n.seq = t.size - 1 LIMIT 1
  ) AS newest ON true
  LEFT JOIN generate_series(CASE WHEN t.size = $2 AND t.last = $3 THEN -1 ELSE 52 END, 0, -1) AS bit
    ON (t.size >> bit) & 1 = 1
  LEFT JOIN LATERAL (
    SELECT e.seq, e.hash, e.peak, e.at FROM keyturn.entry e
    WHERE e.tenant = t.id AND e.seq = ((t.size >> bit) << bit) - 1 LIMIT 1
  ) AS e ON true
  WHERE t.id = $1 ORDER BY bit DESC`;

/** The end of the chain from its entries, which must be where the tenant's row says. `known` is where this process left it. */
export async function loadEnd(db: Connection, tenant: Tenant, known: Tip | null = null): Promise<End> {
  const values = [tenant.id, known?.size ?? null, known?.last ?? null];
  const { rows } = await db.ask<PeakRow>({ name: 'peaks', text: PEAKS, values });
  const [first] = rows;
  if (!first) return refuse('STORE_CORRUPT', 'The tenant is gone.');
  const { size, last, generation } = first;
  if (first.is_overrun) refuse('LEDGER_OVERRUN', undefined, { size });
  if (size === 0) return { tip: { size, last: GENESIS, at: null, frontier: [] }, generation };
  const is_known = known !== null && size === known.size && last === known.last;
  if (first.newest !== last || (!is_known && rows.some(({ seq }) => seq === null)))
    return refuse('LEDGER_BROKEN', `The ledger does not end with entry ${size - 1} as it did.`, {
      seq: size - 1,
    });
  if (is_known) return { tip: known, generation };
  return { tip: { size, last, at: rows.at(-1)!.at, frontier: rows.map(({ peak }) => peak!) }, generation };
}
