import { sqlLimits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import { type SqlToken, sqlTokensOf } from './lex.ts';

/** What a caller may let run. Nothing that is not in this list can be let run at all. */
export const RUNNABLE_KINDS = [
  'SELECT',
  'INSERT',
  'UPDATE',
  'DELETE',
  'MERGE_INTO',
  'CREATE',
  'ALTER',
  'DROP',
  'EXPLAIN',
] as const;
export type RunnableKind = (typeof RUNNABLE_KINDS)[number];

export const DEFAULT_KINDS: readonly RunnableKind[] = RUNNABLE_KINDS.filter((kind) => kind !== 'MERGE_INTO');

/** `delete` and `update` where no WHERE limits the rows, or one that names no column and so is true of all or none. */
export type Danger = 'drop' | 'truncate' | 'delete' | 'update' | 'replace';

export interface Statement {
  /** Counted from 1, as a human counts. */
  readonly number: number;
  /** The name that DuckDB gives to this kind of statement; `UNKNOWN` where the first word says nothing. */
  readonly kind: string;
  /** What CREATE, ALTER and DROP act on: TABLE, VIEW, INDEX …; null for other kinds. */
  readonly object: string | null;
  /** What it takes away without being asked which rows; null for other statements. */
  readonly danger: Danger | null;
  /** The names of its `$name` parameters, each once, in the order of their first use. */
  readonly parameters: readonly string[];
  /** The bytes that run: from the first token to the last, without comments around it. */
  readonly text: string;
  /** Why it may not run; null when it may. */
  readonly forbidden: {
    readonly code: 'SQL_STATEMENT_FORBIDDEN' | 'SQL_FUNCTION_FORBIDDEN';
    readonly what: string;
  } | null;
}

/** Which statements a text holds. Pure, and reads nothing but the text. */
export function statementsOf(text: string, kinds: readonly RunnableKind[] = DEFAULT_KINDS): Statement[] {
  if (Buffer.byteLength(text) > sqlLimits.text_bytes)
    refuse('INPUT_TOO_LARGE', `The SQL has more than ${sqlLimits.text_bytes} bytes.`);
  const groups = splitAtSemicolons(sqlTokensOf(text));
  if (groups.length === 0) refuse('SQL_EMPTY');
  if (groups.length > sqlLimits.statements)
    refuse('INPUT_TOO_LARGE', `The SQL has ${groups.length} statements.`);
  return groups.map((tokens, index) => describe(text, tokens, index + 1, kinds));
}

/** Refuses the first statement that may not run. */
export function requireRunnable(statements: readonly Statement[]): void {
  for (const { number, kind, forbidden } of statements) {
    if (!forbidden) continue;
    refuse(forbidden.code, `Statement ${number} is ${forbidden.what}, which may not run.`, {
      statement: number,
      kind,
      what: forbidden.what,
    });
  }
}

function splitAtSemicolons(tokens: readonly SqlToken[]): SqlToken[][] {
  const groups: SqlToken[][] = [[]];
  for (const token of tokens) {
    if (token.kind === 'symbol' && token.text === ';') groups.push([]);
    else groups.at(-1)!.push(token);
  }
  return groups.filter((group) => group.length > 0);
}

function describe(
  text: string,
  tokens: SqlToken[],
  number: number,
  kinds: readonly RunnableKind[],
): Statement {
  const { kind, object } = kindOf(tokens);
  return {
    number,
    kind,
    object,
    danger: dangerOf(tokens, kind),
    parameters: [...new Set(tokens.filter((t) => t.kind === 'parameter').map((t) => t.text))],
    text: text.slice(tokens[0]!.start, tokens.at(-1)!.end),
    forbidden: whyForbidden(tokens, kind, object, kinds),
  };
}

function dangerOf(tokens: readonly SqlToken[], kind: string): Danger | null {
  const words = tokens.map(wordOf);
  if (kind === 'DROP' || (kind === 'ALTER' && words.includes('DROP'))) return 'drop';
  if (kind === 'CREATE' && words[1] === 'OR' && words[2] === 'REPLACE') return 'replace';
  if (words[0] === 'TRUNCATE') return 'truncate';
  if (kind === 'DELETE' || kind === 'UPDATE')
    return isLimited(tokens) ? null : kind === 'DELETE' ? 'delete' : 'update';
  return null;
}

const CONSTANTS = ['TRUE', 'FALSE', 'NULL', 'NOT', 'AND', 'OR', 'IS', 'IN', 'LIKE', 'BETWEEN', 'RETURNING'];

/** Whether a WHERE of the statement itself, not of a subquery, names something that can differ from row to row. */
function isLimited(tokens: readonly SqlToken[]): boolean {
  let depth = 0;
  for (const [i, token] of tokens.entries()) {
    if (token.kind === 'symbol' && token.text === '(') depth++;
    if (token.kind === 'symbol' && token.text === ')') depth--;
    if (depth > 0 || wordOf(token) !== 'WHERE') continue;
    const after = tokens.slice(i + 1);
    const end = after.findIndex((one) => wordOf(one) === 'RETURNING');
    const condition = end < 0 ? after : after.slice(0, end);
    return condition.some(
      (one) => one.kind === 'quoted' || (one.kind === 'word' && !CONSTANTS.includes(wordOf(one))),
    );
  }
  return false;
}

const FIRST_WORDS: Readonly<Record<string, string>> = {
  ...names('SELECT', 'SELECT FROM VALUES TABLE DESCRIBE DESC SHOW SUMMARIZE'),
  ...names('DELETE', 'DELETE TRUNCATE'),
  ...names('ALTER', 'ALTER COMMENT'),
  ...names('SET', 'SET RESET USE'),
  ...names('CALL', 'CALL CHECKPOINT'),
  ...names('TRANSACTION', 'BEGIN START COMMIT END ROLLBACK ABORT'),
  ...names('MULTI', 'PIVOT UNPIVOT IMPORT'),
  ...names('MERGE_INTO', 'MERGE'),
  ...Object.fromEntries(
    'INSERT UPDATE CREATE DROP EXPLAIN COPY ATTACH DETACH PRAGMA INSTALL LOAD EXPORT PREPARE EXECUTE DEALLOCATE VACUUM ANALYZE'
      .split(' ')
      .map((word) => [word, word]),
  ),
};

function names(kind: string, words: string): Record<string, string> {
  return Object.fromEntries(words.split(' ').map((word) => [word, kind]));
}

function kindOf(tokens: readonly SqlToken[]): { kind: string; object: string | null } {
  const first = wordOf(tokens[0]);
  if (tokens[0]?.text === '(') return { kind: 'SELECT', object: null };
  if (first === 'WITH') return { kind: verbAfterWith(tokens), object: null };
  const kind = FIRST_WORDS[first] ?? 'UNKNOWN';
  if (kind === 'CREATE' || kind === 'ALTER' || kind === 'DROP') return { kind, object: objectOf(tokens) };
  return { kind, object: null };
}

/** The verb that the common table expressions lead to: the first one outside all brackets. */
function verbAfterWith(tokens: readonly SqlToken[]): string {
  let depth = 0;
  for (const token of tokens.slice(1)) {
    if (token.text === '(' && token.kind === 'symbol') depth++;
    if (token.text === ')' && token.kind === 'symbol') depth--;
    const kind = FIRST_WORDS[wordOf(token)];
    if (depth === 0 && kind && ['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'MERGE_INTO'].includes(kind))
      return kind;
  }
  return 'UNKNOWN';
}

const FILLERS = [
  'OR',
  'REPLACE',
  'TEMP',
  'TEMPORARY',
  'LOCAL',
  'GLOBAL',
  'PERSISTENT',
  'UNIQUE',
  'ON',
  'RECURSIVE',
];

function objectOf(tokens: readonly SqlToken[]): string {
  return (
    tokens
      .slice(1)
      .map(wordOf)
      .find((word) => !FILLERS.includes(word)) || 'UNKNOWN'
  );
}

/**
 * A macro is not allowed, because its body is not checked when it is made: it would stay in the database for a later caller
 * who runs it without our lock. A secret goes to the network, and no SQL of ours does.
 */
const OBJECTS: Readonly<Record<string, readonly string[]>> = {
  CREATE: ['TABLE', 'VIEW', 'INDEX', 'SEQUENCE', 'SCHEMA', 'TYPE'],
  ALTER: ['TABLE', 'VIEW', 'SEQUENCE', 'COLUMN'],
  DROP: ['TABLE', 'VIEW', 'INDEX'],
};

/**
 * These do more than read, although they stand in a SELECT: they switch logging, profiling or the parser, run SQL that
 * is hidden in a string, write a checkpoint in the middle, or take an address in memory.
 */
const FUNCTIONS: readonly string[] = [
  'arrow_scan',
  'arrow_scan_dumb',
  'checkpoint',
  'disable_logging',
  'disable_peg_parser',
  'disable_profiling',
  'enable_logging',
  'enable_peg_parser',
  'enable_profiling',
  'force_checkpoint',
  'json_execute_serialized_sql',
  'query',
  'query_table',
  'seq_scan',
  'truncate_duckdb_logs',
  'write_log',
];

function whyForbidden(
  tokens: readonly SqlToken[],
  kind: string,
  object: string | null,
  kinds: readonly RunnableKind[],
): Statement['forbidden'] {
  const what =
    whyKindForbidden(kind, object, kinds) ??
    (kind === 'EXPLAIN' ? whyExplainForbidden(tokens.slice(1), kinds) : null);
  if (what) return { code: 'SQL_STATEMENT_FORBIDDEN', what };
  const called = tokens.find((token, i) => isForbiddenCall(token, tokens[i + 1]));
  return called ? { code: 'SQL_FUNCTION_FORBIDDEN', what: `a call of ${called.text.toLowerCase()}()` } : null;
}

function whyKindForbidden(
  kind: string,
  object: string | null,
  kinds: readonly RunnableKind[],
): string | null {
  if (!isRunnable(kind, kinds)) return kind;
  return object !== null && !OBJECTS[kind]?.includes(object) ? `${kind} ${object}` : null;
}

/** EXPLAIN ANALYZE runs what it explains, and may say so in brackets. */
function whyExplainForbidden(explained: readonly SqlToken[], kinds: readonly RunnableKind[]): string | null {
  if (explained[0]?.text === '(') return 'EXPLAIN with options';
  const { kind, object } = kindOf(explained);
  const what = kind === 'EXPLAIN' ? kind : whyKindForbidden(kind, object, kinds);
  return what && `EXPLAIN ${what}`;
}

function isForbiddenCall(token: SqlToken, next: SqlToken | undefined): boolean {
  if (token.kind !== 'word' && token.kind !== 'quoted') return false;
  return next?.text === '(' && next.kind === 'symbol' && FUNCTIONS.includes(token.text.toLowerCase());
}

function isRunnable(kind: string, kinds: readonly RunnableKind[]): boolean {
  // Both lists: a caller who passes COPY in spite of its type does not get it.
  return (RUNNABLE_KINDS as readonly string[]).includes(kind) && (kinds as readonly string[]).includes(kind);
}

function wordOf(token: SqlToken | undefined): string {
  return token?.kind === 'word' ? token.text.toUpperCase() : '';
}
