import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api';
import { refuse } from '../../refusal.ts';
import { type DuckDB, messageOf, openLocked, statementRefusal } from './duckdb.ts';
import type { ClassifyJob, JobStatement } from './job.ts';

/** DuckDB must see in this text the one statement that was listed, and of the listed kind. */
export async function prepareAsListed(
  duckdb: DuckDB,
  connection: DuckDBConnection,
  statement: JobStatement,
): Promise<DuckDBPreparedStatement> {
  const { number, kind, text } = statement;
  const found = await countOf(connection, text);
  if (found !== 1) disagree(number, kind, `${found} statements`);
  const prepared = await connection.prepare(text);
  const said = duckdb.StatementType[prepared.statementType];
  if (said !== kind) disagree(number, kind, said ?? 'unknown');
  return prepared;
}

/**
 * Asks DuckDB's parser whether the list is right, without the tables. It counts the statements, and tells a SELECT from
 * everything else; the exact kind needs the tables, so the runner compares it when it runs.
 */
export async function verifyList(duckdb: DuckDB, job: ClassifyJob): Promise<void> {
  const { connection, close } = await openLocked(duckdb, {
    path: null,
    read_only: false,
    allowed_directories: [],
    memory_mb: 128,
    threads: 1,
  });
  try {
    for (const statement of job.statements) await verifyOne(connection, statement);
    const all = await countOf(connection, job.text);
    if (all !== job.statements.length) disagree(1, 'the text', `${all} statements`);
  } finally {
    close();
  }
}

async function verifyOne(connection: DuckDBConnection, { number, kind, text }: JobStatement): Promise<void> {
  try {
    const found = await countOf(connection, text);
    if (found !== 1) disagree(number, kind, `${found} statements`);
    const selects = await isSelect(connection, text);
    if (selects !== (kind === 'SELECT')) disagree(number, kind, selects ? 'SELECT' : 'no SELECT');
  } catch (error) {
    throw statementRefusal(error, number);
  }
}

async function countOf(connection: DuckDBConnection, text: string): Promise<number> {
  return (await connection.extractStatements(text)).count;
}

/** DuckDB serialises only what it parsed as a SELECT; nothing is bound, so no table needs to exist. */
async function isSelect(connection: DuckDBConnection, text: string): Promise<boolean> {
  const answer = await connection.runAndReadAll('SELECT json_serialize_sql($text::VARCHAR)', { text });
  const { error, error_message } = JSON.parse(String(answer.getRows()[0]?.[0])) as Record<string, unknown>;
  if (error === true && !/Only SELECT statements/i.test(messageOf(error_message))) {
    refuse('SQL_MALFORMED', messageOf(error_message));
  }
  return error === false;
}

/** The text was made to be read differently by the two, or our scanner is wrong. Either way nothing runs. */
function disagree(statement: number, listed: string, found: string): never {
  return refuse(
    'SQL_STATEMENT_FORBIDDEN',
    `Statement ${statement} was listed as ${listed}, and DuckDB reads ${found}.`,
    { statement, kind: found, listed },
  );
}
