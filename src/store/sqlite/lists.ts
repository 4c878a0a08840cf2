import { type ListedRow, type PagedBy, PROJECTIONS } from '../../fold/projection.ts';
import type { RowName, States } from '../../fold/row.ts';
import { sqliteLimits } from '../../limits.ts';
import type { RowToWrite } from '../decide.ts';
import type { Database } from './database.ts';
import { stateOf, type Tenant } from './rows.ts';
import { idOf, rowIdOf, SEQ_END } from './schema.ts';

/**
 * What lists are read by: `listed` says which entries have a kind and a signer, and which rows a status, a tool, a proposer, an
 * actor and a day on which they are due. An index for each would cost every commit a page for each. So the newest entries, and the rows that they brought into being,
 * are in no list yet: a reader of a list looks through them, too. They are never more than a few hundred, and enter the
 * lists many at a time, in the transaction of a commit. By then most runs are over, and their status changes no more.
 */

/** What entries and rows are listed by. */
const ENTRY_LISTS = ['kind', 'signer'] as const;
const ROW_LISTS = ['status', 'tool', 'proposer', 'actor', 'due'] as const;

/** Rows that are listed lie here, each behind the entry that brought it into being: none of them has a slot of its own. */
const roomOf = ({ id }: Tenant) => rowIdOf(id, 'intent', 0);

/** Entries before this one are in the lists, with the rows that they brought into being. */
export function readListed(db: Database, { id }: Tenant): number {
  return (db.sql('SELECT listed FROM main.tenant WHERE id = ?').get(id) as { listed: number }).listed;
}

const ENTER = [
  ...ENTRY_LISTS.map((by) => ({
    text: `INSERT INTO main.listed (tenant, list, value, seq) SELECT ?, '${by}', ${by}, id - ? FROM main.entry
      WHERE id >= ? AND id < ? AND ${by} IS NOT NULL ORDER BY ${by}, id`,
    room: ({ id }: Tenant) => idOf(id, 0),
  })),
  ...ROW_LISTS.map((by) => ({
    text: `INSERT INTO main.listed (tenant, list, value, seq) SELECT ?, name || ' ${by}', ${by}, id - ? FROM main.projection
      WHERE id >= ? AND id < ? AND ${by} IS NOT NULL ORDER BY name, ${by}, id`,
    room: roomOf,
  })),
];

/** After entries were written: where the lists end now. */
export function enterLists(db: Database, tenant: Tenant, listed: number, size: number): number {
  if (size - listed < sqliteLimits.unlisted_entries + sqliteLimits.listed_together) return listed;
  const end = size - sqliteLimits.unlisted_entries;
  enterUpTo(db, tenant, listed, end);
  return end;
}

function enterUpTo(db: Database, tenant: Tenant, from: number, end: number): void {
  for (const { text, room } of ENTER) {
    const first = room(tenant);
    db.sql(text).run(tenant.id, first, first + from, first + end);
  }
  db.sql('UPDATE main.tenant SET listed = ? WHERE id = ?').run(end, tenant.id);
}

const LISTED_BY = 'SELECT status, tool, due FROM projection WHERE id = ?';
const LEAVE = 'DELETE FROM main.listed WHERE tenant = ? AND list = ? AND value = ? AND seq = ?';
const COME = 'INSERT INTO main.listed (tenant, list, value, seq) VALUES (?, ?, ?, ?)';
const MOVE = 'UPDATE main.listed SET value = ? WHERE tenant = ? AND list = ? AND value = ? AND seq = ?';

/** Before a row that is in the lists changes. Its proposer and its actor never change, so these three are all that can. */
export function moveInLists(db: Database, tenant: Tenant, row_id: number, to_write: RowToWrite): void {
  const { name, seq } = to_write.row;
  const before = db.sql(LISTED_BY).get(row_id) as Pick<RowToWrite, 'status' | 'tool' | 'due'>;
  for (const by of ['status', 'tool', 'due'] as const) {
    const [from, to] = [before[by], to_write[by]];
    const list = `${name} ${by}`;
    if (from === to) continue;
    if (to === null) db.sql(LEAVE).run(tenant.id, list, from, seq);
    else if (from === null) db.sql(COME).run(tenant.id, list, to, seq);
    else db.sql(MOVE).run(to, tenant.id, list, from, seq);
  }
}

/** All rows of a kind that has few, oldest first. */
export function readAll<N extends ListedRow>(db: Database, tenant: Tenant, name: N): States[N][] {
  const all = { values: PROJECTIONS[name].statuses!, limit: -1, newest_first: false, from: 0, end: SEQ_END };
  return readListedRows(db, tenant, { name, column: 'status', ...all }).map(({ state }) => state);
}

/** Rows that have one of the values, brought into being by entries from `from` on and before `end`; a limit below 0 is none. */
interface RowsListed<N extends RowName> {
  readonly name: N;
  readonly column: 'status' | keyof PagedBy;
  readonly values: readonly string[];
  readonly limit: number;
  readonly newest_first: boolean;
  readonly from: number;
  readonly end: number;
}

/** What the lists have, and what is too new to be in them. */
export function readListedRows<N extends RowName>(
  db: Database,
  tenant: Tenant,
  asked: RowsListed<N>,
): { seq: number; state: States[N] }[] {
  const { limit, newest_first, from, end } = asked;
  return db.transaction('read', () => {
    const listed = readListed(db, tenant);
    const older = (left: number) =>
      inLists(db, tenant, { ...asked, limit: left, end: Math.min(end, listed) });
    const newer = (left: number) =>
      inNone(db, tenant, { ...asked, limit: left, from: Math.max(from, listed) });
    const [first, second] = newest_first ? [newer, older] : [older, newer];
    const found = first(limit);
    if (limit < 0 || found.length < limit) found.push(...second(limit < 0 ? limit : limit - found.length));
    return found.map(({ seq, state }) => ({ seq, state: stateOf<N>(state) }));
  });
}

type ListedState = { readonly seq: number; readonly state: string };

/** SQLite merges what each value has, in the order of the lists: it reads no more of each than it takes. */
function inLists(db: Database, tenant: Tenant, asked: RowsListed<RowName>): ListedState[] {
  const { name, column, values, limit, newest_first, from, end } = asked;
  const list = `${name} ${column}`;
  const order = newest_first ? 'DESC' : 'ASC';
  const one = 'SELECT seq FROM listed WHERE tenant = ? AND list = ? AND value = ? AND seq >= ? AND seq < ?';
  const merged = `${values.map(() => one).join(' UNION ALL ')} ORDER BY seq ${order} LIMIT ?`;
  return db
    .sql(`SELECT seq, state FROM (${merged}) JOIN projection ON id = ? + seq ORDER BY seq ${order}`)
    .all(
      ...values.flatMap((value) => [tenant.id, list, value, from, end]),
      limit,
      roomOf(tenant),
    ) as ListedState[];
}

/** The rows themselves, one after the other. */
function inNone(db: Database, tenant: Tenant, asked: RowsListed<RowName>): ListedState[] {
  const { name, column, values, limit, newest_first, from, end } = asked;
  const room = roomOf(tenant);
  return db
    .sql(`SELECT id - ? AS seq, state FROM projection WHERE id >= ? AND id < ? AND name = ?
      AND ${column} IN (${values.map(() => '?').join()}) ORDER BY id ${newest_first ? 'DESC' : 'ASC'} LIMIT ?`)
    .all(room, room + from, room + end, name, ...values, limit) as ListedState[];
}

/** What belongs into the lists, by entries, and by rows that a rebuild has made. */
const RIGHT_ENTRIES = ENTRY_LISTS.map(
  (by) => `SELECT '${by}' AS list, ${by} AS value, id - :entries AS seq FROM main.entry
      WHERE id >= :entries AND id < :entries + :listed AND ${by} IS NOT NULL`,
);
const RIGHT_ROWS = ROW_LISTS.map(
  (by) => `SELECT name || ' ${by}' AS list, ${by} AS value, id - :room AS seq FROM temp.projection
      WHERE id >= :room AND id < :room + :listed AND ${by} IS NOT NULL`,
).join(' UNION ALL ');
const RIGHT = [...RIGHT_ENTRIES, RIGHT_ROWS].join(' UNION ALL ');
const COUNTED_ROWS = `
  SELECT count(*) AS expected, count(stored.seq) AS same,
    (SELECT count(*) FROM main.listed WHERE tenant = :tenant) AS stored
  FROM (${RIGHT_ROWS}) AS wanted LEFT JOIN main.listed AS stored ON stored.tenant = :tenant AND stored.list = wanted.list
    AND stored.value = wanted.value AND stored.seq = wanted.seq`;
const THERE = 'SELECT list, value, seq FROM main.listed WHERE tenant = :tenant';
const DIFFERENCES = `
  SELECT DISTINCT 'list ' || list || ' ' || value AS what FROM (
    SELECT * FROM (SELECT * FROM (${RIGHT}) EXCEPT ${THERE}) UNION ALL SELECT * FROM (${THERE} EXCEPT SELECT * FROM (${RIGHT}))
  ) LIMIT :most`;
const LISTED_SEQS = `SELECT group_concat(seq) AS seqs FROM (
  SELECT seq FROM main.listed WHERE tenant = ? AND list = ? AND value = ? AND seq >= ? AND seq < ? ORDER BY seq)`;

type Counted = Readonly<Record<'expected' | 'same' | 'stored', number>>;

/** The lists in a rebuild. The entries go by, so they are not read once more to be compared. */
export interface ListComparison {
  /** An entry after the one before it. */
  add(kind: string, signer: string | null): void;
  /** After the last entry, once the rows are made: what is in a list and should not be, or should be and is not. */
  finish(): string[];
}

export function listComparison(db: Database, tenant: Tenant, most: number): ListComparison {
  const listed = readListed(db, tenant);
  const by_kind = new Map<string, number[]>();
  const by_signer = new Map<string, number[]>();
  let from = 0;
  let size = 0;
  let expected = 0;
  let is_same = true;

  function look(list: (typeof ENTRY_LISTS)[number], values: Map<string, number[]>): void {
    for (const [value, wanted] of values) {
      const { seqs } = db.sql(LISTED_SEQS).get(tenant.id, list, value, from, size) as { seqs: string | null };
      if (seqs !== wanted.join()) is_same = false;
      expected += wanted.length;
    }
    values.clear();
  }

  function lookAtAll(): void {
    look('kind', by_kind);
    look('signer', by_signer);
    from = size;
  }

  return {
    add: (kind, signer) => {
      if (size < listed) {
        note(by_kind, kind, size);
        if (signer !== null) note(by_signer, signer, size);
      }
      size += 1;
      if (size - from === sqliteLimits.compared_entries) lookAtAll();
    },
    finish: () => {
      lookAtAll();
      if (listed < 0 || listed > size) return ['list end'];
      const within = { tenant: tenant.id, room: roomOf(tenant), listed };
      const rows = db.sql(COUNTED_ROWS).get(within) as Counted;
      if (is_same && rows.expected === rows.same && expected + rows.same === rows.stored) return [];
      const found = db.sql(DIFFERENCES).all({ ...within, entries: idOf(tenant.id, 0), most });
      return (found as { what: string }[]).map(({ what }) => what);
    },
  };
}

function note(values: Map<string, number[]>, value: string, seq: number): void {
  const known = values.get(value);
  if (known) known.push(seq);
  else values.set(value, [seq]);
}

/** After a rebuild put its rows in the place of those that were stored. */
export function replaceLists(db: Database, tenant: Tenant, size: number): void {
  db.sql('DELETE FROM main.listed WHERE tenant = ?').run(tenant.id);
  enterUpTo(db, tenant, 0, Math.max(0, size - sqliteLimits.unlisted_entries));
}
