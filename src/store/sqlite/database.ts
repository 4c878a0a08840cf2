import { pathToFileURL } from 'node:url';
import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite';
import { limits, sqliteLimits } from '../../limits.ts';
import { Refusal, refuse } from '../../refusal.ts';
import { isBusy, isSqliteError, storeRefusal } from './failure.ts';
import { inPlaceOf } from './in-place.ts';

/** One connection. `run` and `transaction` turn an error of SQLite into a refusal; what they wrap throws it bare. */
export interface Database {
  /** A prepared statement, compiled once per connection. */
  sql(text: string): StatementSyncInstance;
  /** The same, whose rows are lists of values: for many rows, whose names would cost as much as their values. */
  lists(text: string): StatementSyncInstance;
  exec(text: string): void;
  /** All of `act` or nothing. A write is durable when this returns. It waits for another writer, and this process with it. */
  transaction<T>(kind: 'read' | 'write', act: () => T): T;
  /** A write that is refused with STORE_BUSY, at once, where another writer is at work. */
  write<T>(act: () => T): T;
  /** Runs what needs no transaction of its own. */
  run<T>(act: () => T): T;
  /** From now on no write is taken: what the disk holds is unknown. */
  distrust(error: object): void;
  /** STORE_MISSING where the file was removed or replaced: it answers as ever, and will never have anything new. */
  requireThere(): void;
  close(): void;
  /** How long a caller waits for another connection that holds the store. */
  readonly busy_ms: number;
}

type Access = 'read' | 'write' | 'immutable';

/** The driver is a native module: loaded when a store is opened, and not before. */
export async function connect(
  path: string,
  access: Access,
  busy_ms: number = limits.store_busy_ms,
): Promise<Database> {
  const { DatabaseSync } = await import('@photostructure/sqlite');
  const location = access === 'immutable' ? `${pathToFileURL(path)}?immutable=1` : path;
  return mapped(() => {
    const db = new DatabaseSync(location, {
      readOnly: access !== 'write',
      // SQLite would sleep in this thread. A write waits without that, and what cannot wait otherwise sleeps in `patiently`.
      timeout: 0,
      enableForeignKeyConstraints: true,
      defensive: true,
    });
    return closedOnFailure(db, () => {
      patiently(busy_ms, () => db.exec(CAREFUL));
      return databaseOf(db, path, access, busy_ms);
    });
  });
}

/** The file may come from an attacker: nothing in its schema may call functions, no page is taken on trust. */
const CAREFUL = `
  PRAGMA trusted_schema = OFF;
  PRAGMA cell_size_check = ON;
  PRAGMA recursive_triggers = ON;
  PRAGMA cache_size = -${sqliteLimits.cache_KiB};
`;

/** FULL: the WAL is synced before a commit returns. fullfsync: so that macOS means it, too. */
export const DURABLE = `
  PRAGMA synchronous = FULL;
  PRAGMA fullfsync = ON;
  PRAGMA checkpoint_fullfsync = ON;
`;

/** Before the first write, and after the file is known to be ours, because the WAL mode is kept in the file. */
export function makeDurable(db: Database): void {
  // secure_delete: an erased object is overwritten, not only forgotten.
  db.exec(`
    PRAGMA journal_mode = WAL;
    ${DURABLE}
    PRAGMA secure_delete = ON;
    PRAGMA wal_autocheckpoint = ${sqliteLimits.wal_pages};
  `);
}

function databaseOf(db: DatabaseSyncInstance, path: string, access: Access, busy_ms: number): Database {
  const place = inPlaceOf(path);
  const statements = new Map<string, StatementSyncInstance>();
  const sql = (text: string): StatementSyncInstance => {
    const known = statements.get(text);
    if (known) return known;
    const statement = db.prepare(text);
    statements.set(text, statement);
    return statement;
  };
  const lists = (text: string): StatementSyncInstance => {
    const statement = sql(text);
    statement.setReturnArrays(true);
    return statement;
  };
  // After a failed write it is unknown what the disk holds: pages that could not be synced may be marked clean. Only a
  // fresh connection, which reads the disk again, may write.
  let failed: Refusal | null = null;

  const transaction = <T>(kind: 'read' | 'write', act: () => T): T => {
    patiently(busy_ms, () => begin(kind));
    return begun(kind, act);
  };

  const write = <T>(act: () => T): T => {
    begin('write');
    return begun('write', act);
  };

  function begin(kind: 'read' | 'write'): void {
    if (!db.isOpen) refuse('STORE_CLOSED');
    if (kind === 'write' && failed)
      refuse('WRITE_FAILED', `An earlier write failed (${failed.code}). Open the store again.`, {
        found: failed.code,
      });
    mapped(() => sql(kind === 'write' ? 'BEGIN IMMEDIATE' : 'BEGIN').run());
  }

  function begun<T>(kind: 'read' | 'write', act: () => T): T {
    try {
      const result = act();
      place.noteWal();
      sql('COMMIT').run();
      if (kind === 'write') requireInPlace();
      return result;
    } catch (error) {
      const refusal = storeRefusal(error);
      if (kind === 'write' && isSqliteError(error)) failed = refusal as Refusal;
      rollback();
      throw refusal;
    }
  }

  /** A file that was removed or replaced takes every commit and keeps none: a process that opens the store will not see it. */
  function requireInPlace(): void {
    if (place.isWhole()) return;
    failed = new Refusal('WRITE_FAILED', 'The store was removed or replaced while it was open.');
    throw failed;
  }

  function requireThere(): void {
    if (!place.isStore()) refuse('STORE_MISSING', 'The store was removed or replaced while it was open.');
  }

  function rollback(): void {
    // SQLite has rolled back by itself after some errors. A rollback that fails leaves the connection refusing writes.
    if (!db.isTransaction) return;
    try {
      db.exec('ROLLBACK');
    } catch (error) {
      failed ??= new Refusal('WRITE_FAILED', String(error));
    }
  }

  // The driver closes for good only when the prepared statements are garbage, and perhaps the process ends first. So
  // the lock is given back and the WAL emptied here, unless another connection still reads it.
  function close(): void {
    if (!db.isOpen) return;
    rollback();
    try {
      if (access === 'write' && !failed) db.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)');
    } catch (error) {
      if (!isSqliteError(error)) throw error;
    } finally {
      statements.clear();
      db.close();
    }
  }

  return {
    sql,
    lists,
    exec: (text) => patiently(busy_ms, () => db.exec(text)),
    transaction,
    write,
    run: (act) => {
      if (!db.isOpen) refuse('STORE_CLOSED');
      return patiently(busy_ms, () => mapped(act));
    },
    distrust: (error) => {
      failed ??= storeRefusal(error) as Refusal;
    },
    requireThere,
    close,
    busy_ms,
  };
}

function mapped<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw storeRefusal(error);
  }
}

/** Tries again while another connection is in the way. For what reads, and for what begins: it has changed nothing until then. */
function patiently<T>(busy_ms: number, act: () => T): T {
  let until_ms: number | null = null;
  for (;;) {
    try {
      return act();
    } catch (error) {
      if (!isBusy(error)) throw error;
      // Asked for where it is needed: node loads what measures time when it is first used.
      until_ms ??= performance.now() + busy_ms;
      if (performance.now() >= until_ms) throw error;
      Atomics.wait(NEVER_WOKEN, 0, 0, sqliteLimits.retry_ms);
    }
  }
}

const NEVER_WOKEN = new Int32Array(new SharedArrayBuffer(4));

function closedOnFailure<T>(db: DatabaseSyncInstance, act: () => T): T {
  try {
    return act();
  } catch (error) {
    db.close();
    throw error;
  }
}
