import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { sqlLimits } from '../../limits.ts';
import { type ReasonCode, Refusal, refuse } from '../../refusal.ts';

export type DuckDB = typeof import('@duckdb/node-api');

/** Loaded only in the runner, and only when there is something to run: the library costs 80 ms. */
export function loadDuckDB(): Promise<DuckDB> {
  return import('@duckdb/node-api');
}

interface OpenOptions {
  readonly path: string | null;
  readonly read_only: boolean;
  readonly allowed_directories: readonly string[];
  readonly memory_mb: number;
  readonly threads: number;
}

export interface OpenDatabase {
  readonly connection: DuckDBConnection;
  close(): void;
}

/**
 * Opens a database and locks it down before it sees a byte of foreign SQL. Extensions are off before the file is opened,
 * since a hostile file could ask for one; then files, then the settings themselves. The parser too comes after the lock:
 * IMPORT DATABASE reads files while it is parsed.
 */
export async function openLocked(duckdb: DuckDB, options: OpenOptions): Promise<OpenDatabase> {
  const instance = await openFile(duckdb, options.path ?? ':memory:', {
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
    threads: String(options.threads),
    memory_limit: `${options.memory_mb}MiB`,
    ...(options.read_only ? { access_mode: 'READ_ONLY' } : {}),
  });
  const connection = await instance.connect();
  for (const setting of lockdown(options.allowed_directories)) await connection.run(setting);
  return {
    connection,
    close() {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

/** Holds DuckDB's own lock on a file: while it is open here, no other process can open it for writing. */
export function holdLock(duckdb: DuckDB, path: string): Promise<DuckDBInstance> {
  return openFile(duckdb, path, {
    access_mode: 'READ_ONLY',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    threads: '1',
  });
}

function lockdown(allowed_directories: readonly string[]): string[] {
  return [
    'SET autoinstall_known_extensions=false',
    'SET autoload_known_extensions=false',
    'SET allow_community_extensions=false',
    "SET temp_directory=''", // nothing is spilled to disk: more than the memory is a refusal
    'SET allow_persistent_secrets=false',
    "SET TimeZone='UTC'",
    `SET allowed_directories=[${allowed_directories.map(literal).join(', ')}]`,
    'SET enable_external_access=false',
    'SET lock_configuration=true',
  ];
}

export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

async function openFile(
  duckdb: DuckDB,
  path: string,
  config: Record<string, string>,
): Promise<DuckDBInstance> {
  try {
    return await duckdb.DuckDBInstance.create(path, config);
  } catch (error) {
    return refuse(whyNotOpened(messageOf(error)), `The database cannot be opened: ${messageOf(error)}`);
  }
}

function whyNotOpened(message: string): ReasonCode {
  if (/Could not set lock/i.test(message)) return 'SQL_DATABASE_BUSY';
  if (/database file with version number|newer version of DuckDB/i.test(message))
    return 'SQL_DATABASE_VERSION';
  if (/encrypted database/i.test(message)) return 'SQL_DATABASE_ENCRYPTED';
  if (/No space left/i.test(message)) return 'DISK_FULL';
  return 'SQL_DATABASE_CORRUPT';
}

/** DuckDB's message as a refusal of this statement. */
export function statementRefusal(error: unknown, statement: number): Refusal {
  if (error instanceof Refusal) return error;
  const message = messageOf(error);
  return new Refusal(whyNotRun(message), `Statement ${statement}: ${message}`, { statement });
}

function whyNotRun(message: string): ReasonCode {
  if (/^(Failed to extract statements: )?Parser Error/.test(message)) return 'SQL_MALFORMED';
  if (/Permission Error|^Invalid Input Error: Cannot change configuration/.test(message))
    return 'SQL_ACCESS_DENIED';
  if (/^Out of Memory Error|bad_alloc|bad allocation/i.test(message)) return 'SQL_OUT_OF_MEMORY';
  if (/File too large/i.test(message)) return 'SQL_FILE_TOO_LARGE';
  if (/No space left/i.test(message)) return 'DISK_FULL';
  if (/Corrupt database file/i.test(message)) return 'SQL_DATABASE_CORRUPT';
  return 'SQL_STATEMENT_FAILED';
}

/** The first line: what follows is advice about settings that are locked. */
export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n', 1)[0]!.slice(0, sqlLimits.message_chars);
}
