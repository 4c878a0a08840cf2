import { randomBytes } from 'node:crypto';
import type { DuckDBConnection, DuckDBPreparedStatement, DuckDBResult } from '@duckdb/node-api';
import { sqlLimits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import { type DuckDB, literal, openLocked, statementRefusal } from './duckdb.ts';
import {
  type Done,
  type ExecuteJob,
  type JobStatement,
  NOTHING_DONE,
  type ResultFormat,
  type Save,
  type SqlScalar,
} from './job.ts';
import { prepareAsListed } from './verify.ts';

type Counted = Done['statements'][number];
type Rows = Omit<Done, 'statements'>;

/** Runs all statements in one transaction: all of them happen, or none. */
export async function execute(duckdb: DuckDB, job: ExecuteJob): Promise<Done> {
  const { connection, close } = await openLocked(duckdb, {
    path: job.database?.path ?? null,
    read_only: job.database?.read_only ?? false,
    allowed_directories: job.allowed_directories,
    memory_mb: job.memory_mb,
    threads: job.threads,
  });
  try {
    await connection.run('BEGIN TRANSACTION');
    const done = await runAll(duckdb, connection, job);
    await seal(connection, job);
    return done;
  } finally {
    close(); // what was not committed is gone with the copy
  }
}

/** The checkpoint folds the log into the file, so that the one file is the whole database. */
async function seal(connection: DuckDBConnection, job: ExecuteJob): Promise<void> {
  try {
    await connection.run('COMMIT');
    if (job.database && !job.database.read_only) await connection.run('CHECKPOINT');
  } catch (error) {
    throw statementRefusal(error, job.statements.length);
  }
}

async function runAll(duckdb: DuckDB, connection: DuckDBConnection, job: ExecuteJob): Promise<Done> {
  const statements: Counted[] = [];
  let result: Rows = NOTHING_DONE;
  for (const [index, statement] of job.statements.entries()) {
    const last = index === job.statements.length - 1;
    try {
      const prepared = await prepareAsListed(duckdb, connection, statement);
      const ran = await runOne(duckdb, connection, prepared, { job, statement, last });
      statements.push({ number: statement.number, kind: statement.kind, rows_changed: ran.rows_changed });
      result = ran.result;
    } catch (error) {
      throw statementRefusal(error, statement.number);
    }
  }
  if (job.expect_results && result.rows.length === 0 && !result.truncated) {
    refuse('SQL_NO_RESULT', 'Results were expected, and the last statement gave none.');
  }
  return { ...result, statements };
}

interface Turn {
  readonly job: ExecuteJob;
  readonly statement: JobStatement;
  readonly last: boolean;
}

async function runOne(
  duckdb: DuckDB,
  connection: DuckDBConnection,
  prepared: DuckDBPreparedStatement,
  { job, statement, last }: Turn,
): Promise<{ rows_changed: number; result: Rows }> {
  if (last && job.save) {
    if (statement.kind !== 'SELECT')
      refuse('SQL_NO_RESULT', 'Results are to be saved, and the last statement is no SELECT.');
    return { rows_changed: 0, result: await saveResult(connection, job, statement, job.save) };
  }
  bind(prepared, job.parameters);
  const outcome = last ? await prepared.stream() : await prepared.run();
  const rows_changed = outcome.rowsChanged;
  if (!last || outcome.returnType !== duckdb.ResultReturnType.QUERY_RESULT)
    return { rows_changed, result: NOTHING_DONE };
  return { rows_changed, result: await readRows(outcome, job.max_rows) };
}

/**
 * The result is made once and kept in a temporary table: evaluated a second time it could differ, and then the report
 * would show other rows than the file.
 */
async function saveResult(
  connection: DuckDBConnection,
  job: ExecuteJob,
  { text }: JobStatement,
  save: Save,
): Promise<Rows> {
  const table = `"keyturn_result_${randomBytes(12).toString('hex')}"`;
  const prepared = await connection.prepare(`CREATE TEMP TABLE ${table} AS\n${text}`);
  bind(prepared, job.parameters);
  await prepared.run();
  const counted = await connection.runAndReadAll(`SELECT count(*)::INTEGER FROM temp.main.${table}`);
  const row_count = Number(counted.getRows()[0]?.[0]);
  const rows = await readRows(await connection.stream(`FROM temp.main.${table}`), job.max_rows);
  const copyTo = (path: string, format: ResultFormat) =>
    connection.run(`COPY temp.main.${table} TO ${literal(path)} (${COPY_OPTIONS[format]})`);
  await copyTo(save.path, save.format);
  if (save.text_path !== null) await copyTo(save.text_path, 'csv');
  await connection.run(`DROP TABLE temp.main.${table}`);
  return { ...rows, row_count };
}

const COPY_OPTIONS: Readonly<Record<ResultFormat, string>> = {
  parquet: 'FORMAT parquet, USE_TMP_FILE false',
  csv: 'FORMAT csv, HEADER true, USE_TMP_FILE false',
  json: 'FORMAT json, ARRAY true, USE_TMP_FILE false',
};

/** Reads at most `max_rows` rows, and at most so many bytes of them. */
async function readRows(result: DuckDBResult, max_rows: number): Promise<Rows> {
  const columns = result.columnNames().map((name, i) => ({ name, type: result.columnType(i).toString() }));
  const rows: unknown[][] = [];
  let bytes = 0;
  for await (const chunk of result.yieldRowsJson()) {
    for (const row of chunk) {
      bytes += Buffer.byteLength(JSON.stringify(row));
      if (rows.length === max_rows || bytes > sqlLimits.rows_bytes) {
        return { columns, rows, row_count: null, truncated: true };
      }
      rows.push(row);
    }
  }
  return { columns, rows, row_count: rows.length, truncated: false };
}

/** Names that differ only in case are one name to DuckDB; the parent has refused a second one. */
function bind(prepared: DuckDBPreparedStatement, parameters: Readonly<Record<string, SqlScalar>>): void {
  const byName = new Map(Object.entries(parameters).map(([name, value]) => [name.toLowerCase(), value]));
  for (let index = 1; index <= prepared.parameterCount; index++) {
    const name = prepared.parameterName(index);
    const value = byName.get(name.toLowerCase());
    if (value === undefined)
      refuse('SQL_PARAMETER_MISSING', `There is no value for $${name}.`, { parameter: name });
    bindScalar(prepared, index, value);
  }
}

function bindScalar(prepared: DuckDBPreparedStatement, index: number, value: SqlScalar): void {
  if (value === null) prepared.bindNull(index);
  else if (typeof value === 'string') prepared.bindVarchar(index, value);
  else if (typeof value === 'boolean') prepared.bindBoolean(index, value);
  else if (Number.isInteger(value)) prepared.bindBigInt(index, BigInt(value));
  else prepared.bindDouble(index, value);
}
