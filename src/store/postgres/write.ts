import type { Digest } from '../../canonical/digest.ts';
import { erasedClaim } from '../../gate/claims.ts';
import { insertFrom } from '../agent-sql.ts';
import { type AgentTable, TABLES } from '../agent-tables.ts';
import type { CheckedCommit, RowToWrite } from '../decide.ts';
import type { BatchDraft } from '../draft.ts';
import { agentValues, typesOf } from './agent.ts';
import { arraysOf, type ElementType } from './array.ts';
import { READY } from './begin.ts';
import type { Connection, PreparedQuery } from './connection.ts';
import type { Tenant } from './rows.ts';

/**
 * The one statement that writes. It moves the end of the chain from where it was when the batch was decided to where
 * the batch ends, and everything else it writes hangs on that: if the chain ends elsewhere by now, or the session is not the one
 * that was made ready, it writes nothing.
 * So it is whole in itself, inside a transaction or alone, and one that arrives late does no harm.
 */
const MOVE = `
  moved_end AS (
    UPDATE keyturn.tenant SET size = $5, last = $6
    WHERE id = $1 AND size = $2 AND last = $3 AND generation = $4 AND ${READY} = $7 RETURNING id
  )`;

/** Each part takes its values from a list of rows. Its letters are part of the name of the statement. */
interface Part {
  readonly letters: string;
  readonly types: readonly ElementType[];
  readonly text: (values: string) => string;
}

const insert = (table: string, columns: string) => (values: string) =>
  `INSERT INTO keyturn.${table} (tenant, ${columns}) SELECT moved_end.id, v.* FROM moved_end, ${values} AS v`;

/**
 * What was erased stays erased, also when the same bytes come again. The rows are `v (digest, …)`. A value and no join, as in all that is
 * asked of several rows here: the plan of a statement is made once, while the tables may be empty, and one that joins them would then
 * read all rows of the tenant at every write.
 */
export function notErased(tenant: string): string {
  const claim = `c.tenant = ${tenant} AND c.key = '${erasedClaim('')}' || v.digest`;
  return `(SELECT c.seq FROM keyturn.claim c WHERE ${claim}) IS NULL`;
}

export const ROW_TYPES: readonly ElementType[] = [
  'text',
  'text',
  'bigint',
  'text',
  'text',
  'text',
  'text',
  'text',
  'text',
];
const insertRows = insert('projection', 'name, key, seq, status, tool, proposer, actor, due, state');

/** The values of the columns of a row, as `ROW_TYPES` has them. */
export function rowValues({ row, status, tool, proposer, actor, due, text }: RowToWrite): unknown[] {
  return [row.name, row.key, row.seq, status, tool, proposer, actor, due, text];
}

/** What may change of a row that is there. */
export const ROW_CHANGES =
  'ON CONFLICT (tenant, name, key) DO UPDATE SET status = excluded.status, tool = excluded.tool, due = excluded.due, state = excluded.state';

const PARTS = {
  entries: {
    letters: 'e',
    types: ['bigint', 'text', 'text', 'text', 'text', 'text', 'text', 'bytea'],
    text: insert('entry', 'seq, hash, peak, at, subject, kind, signer, bytes'),
  },
  claims: { letters: 'c', types: ['text', 'bigint'], text: insert('claim', 'key, seq') },
  // A row that is there already ends the statement: what was decided presumed that it is not.
  made: { letters: 'm', types: ROW_TYPES, text: insertRows },
  changed: {
    letters: 'u',
    types: ROW_TYPES,
    text: (values: string) => `${insertRows(values)} ${ROW_CHANGES}`,
  },
  objects: {
    letters: 'o',
    types: ['text', 'bytea'],
    text: (values: string) => `
      INSERT INTO keyturn.object (tenant, digest, bytes)
      SELECT moved_end.id, v.digest, v.bytes FROM moved_end, ${values} AS v (digest, bytes)
      WHERE ${notErased('moved_end.id')} ON CONFLICT DO NOTHING`,
  },
  erased: {
    letters: 'x',
    types: ['text'],
    text: (values: string) => `
      DELETE FROM keyturn.object
      WHERE tenant = $1 AND digest = ANY (ARRAY(SELECT v.digest FROM moved_end, ${values} AS v (digest)))`,
  },
  ...agentParts(),
} satisfies Record<string, Part>;

type PartName = keyof typeof PARTS;

function agentParts(): Record<AgentTable, Part> {
  const parts = TABLES.map((table, i) => [
    table.name,
    {
      letters: `a${i}`,
      types: typesOf(table),
      text: (values: string) => insertFrom(table, 'keyturn.', `SELECT v.* FROM moved_end, ${values} AS v`),
    },
  ]);
  return Object.fromEntries(parts) as Record<AgentTable, Part>;
}

type Rows = readonly (readonly unknown[])[];

/** Whether it wrote. It did not when the chain ends elsewhere, or the session is not ready. */
export async function writeBatch(
  db: Connection,
  tenant: Tenant,
  draft: BatchDraft,
  generation: number,
): Promise<boolean> {
  return (await db.ask(writeAsked(tenant, draft, generation, db.backend.ready))).count > 0;
}

function writeAsked({ id }: Tenant, draft: BatchDraft, generation: number, ready: string): PreparedQuery {
  const { before, after } = draft;
  const values: unknown[] = [id, before.size, before.last, generation, after.size, after.last, ready];
  const parts: WrittenPart[] = [];
  let name = 'write ';
  for (const [part, rows] of rowsOf(draft)) {
    if (rows.length === 0) continue;
    const { types, letters }: Part = PARTS[part];
    const is_one = rows.length === 1;
    parts.push({ part, first: values.length + 1, is_one });
    if (is_one) values.push(...rows[0]!);
    else values.push(...arraysOf(types, rows));
    name += is_one ? `${letters}1` : letters;
  }
  return { name, text: textOf(name, parts), values };
}

interface WrittenPart {
  readonly part: PartName;
  /** The number of its first value. */
  readonly first: number;
  readonly is_one: boolean;
}

/** The name says which parts there are and how each is given, so it is made once. */
const STATEMENTS = new Map<string, string>();

function textOf(name: string, parts: readonly WrittenPart[]): string {
  const known = STATEMENTS.get(name);
  if (known !== undefined) return known;
  const written = parts.map(({ part, first, is_one }) => {
    const { types, text }: Part = PARTS[part];
    return text(is_one ? oneOf(types, first) : manyOf(types, first));
  });
  const [entries, ...others] = written;
  const beside = others.map((text, i) => `${parts[i + 1]!.part} AS (${text})`);
  const made = `WITH ${[MOVE, ...beside].join()} ${entries}`;
  STATEMENTS.set(name, made);
  return made;
}

/** One row, as it is: the server has no arrays to read, and bytes travel as bytes. */
function oneOf(types: readonly ElementType[], first: number): string {
  return `(VALUES (${types.map((type, i) => `$${first + i}::${type}`).join()}))`;
}

/** One array for each column, so that any number of rows is the same statement. */
function manyOf(types: readonly ElementType[], first: number): string {
  return `unnest(${types.map((type, i) => `$${first + i}::${type}[]`).join()})`;
}

/**
 * What each part is given. The entries are first: they are the statement itself, so the server says how many of them it wrote, and has no
 * row to answer with.
 */
function rowsOf({ before, entries, claims, rows, agent_rows, commits }: BatchDraft): [PartName, Rows][] {
  const made: unknown[][] = [];
  const changed: unknown[][] = [];
  for (const each of rows) (each.row.seq >= before.size ? made : changed).push(rowValues(each));
  const written = entries.map(({ seq, hash, peak, at, subject, kind, signer, bytes }) => {
    return [seq, hash, peak === hash ? null : peak, at, subject, kind, signer, bytes];
  });
  const parts: [PartName, Rows][] = [
    ['entries', written],
    ['claims', claims],
    ['made', made],
    ['changed', changed],
    ...objectRows(commits),
  ];
  if (agent_rows.length > 0) parts.push(...(Object.entries(agentValues(agent_rows)) as [AgentTable, Rows][]));
  return parts;
}

function objectRows(commits: readonly CheckedCommit[]): [PartName, Rows][] {
  const erased = new Set<Digest>();
  const objects = new Map<Digest, Uint8Array>();
  for (const commit of commits) {
    for (const { digest, bytes } of commit.objects) objects.set(digest, bytes);
    for (const digest of commit.erase) erased.add(digest);
  }
  for (const digest of erased) objects.delete(digest);
  return [
    ['objects', [...objects]],
    ['erased', Array.from(erased, (digest) => [digest])],
  ];
}
