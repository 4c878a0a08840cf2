import { closeSync } from 'node:fs';
import { closePlace, openPlace, type Place } from '../../durable/beneath-write.ts';
import { sqlLimits } from '../../limits.ts';
import { Refusal } from '../../refusal.ts';
import { inspectMachine, type Machine } from '../machine.ts';
import { confineRunner } from './confine.ts';
import { type OpenFile, openDatabase, requireNoLog } from './database.ts';
import { GUARD_FD } from './job.ts';
import { type Runner, startRunner } from './process.ts';

export interface HoldOptions {
  readonly max_bytes: number;
  readonly sandbox?: 'required' | 'none' | undefined;
  readonly machine?: Machine | undefined;
  readonly abort?: AbortSignal | undefined;
}

/** A database at its real place, open, and locked as DuckDB itself locks it. */
export interface HeldDatabase extends OpenFile {
  readonly place: Place;
}

/** Databases that no other process can open for writing, until they are released. */
export interface Hold {
  /** By path. A file that does not exist is not among them. */
  readonly databases: ReadonlyMap<string, HeldDatabase>;
  /** Aborted, with the refusal as its reason, when the lock is lost. */
  readonly lost: AbortSignal;
  /** Refuses when the lock is lost. Asked just before a database is replaced, and just after. */
  confirm(): Promise<void>;
  release(): Promise<void>;
}

/**
 * Takes DuckDB's lock on databases beneath the root. A child opens them READ_ONLY and does nothing else; that refuses every writer, and is
 * refused where a writer is. Other readers go on: what replaces the file leaves them the one that they have open.
 */
export async function holdDatabases(
  root: string,
  paths: readonly string[],
  options: HoldOptions,
): Promise<Hold> {
  const databases = new Map<string, HeldDatabase>();
  const close = () => {
    for (const { fd, place } of databases.values()) {
      closeSync(fd);
      closePlace(place);
    }
  };
  try {
    for (const path of paths) openInto(databases, root, path, options);
    const child = databases.size === 0 ? null : await lock([...databases.values()], options);
    return holdOf(databases, child, close);
  } catch (error) {
    close();
    throw error;
  }
}

function openInto(
  databases: Map<string, HeldDatabase>,
  root: string,
  path: string,
  { max_bytes }: HoldOptions,
): void {
  const place = openPlace(root, path);
  let file: OpenFile | null = null;
  try {
    file = openDatabase(place, max_bytes);
    if (file) databases.set(path, { ...file, place });
  } finally {
    if (file === null) closePlace(place);
  }
}

async function lock(databases: readonly HeldDatabase[], options: HoldOptions): Promise<Runner> {
  const machine = options.sandbox === 'none' ? null : (options.machine ?? inspectMachine());
  const guards = databases.length;
  const command = confineRunner(
    machine,
    { read: [], write: [], cwd: '/', guards },
    { memory_mb: sqlLimits.memory_mb_default, file_mb: 1 },
  );
  const child = startRunner({ command, cwd: '/', guard_fds: databases.map(({ fd }) => fd) });
  try {
    const names = databases.map(({ place }, i) => lockedName(place, i));
    await child.ask({ task: 'hold', databases: names }, patienceOf(options));
    // A writer that died before the lock was taken may have left one.
    for (const { place } of databases) requireNoLog(place);
    return child;
  } catch (error) {
    await child.end();
    throw named(error, databases);
  }
}

/** The child knows the files by their descriptors, and a holder outside of its sandbox by no number. */
function named(error: unknown, databases: readonly HeldDatabase[]): unknown {
  if (!(error instanceof Refusal)) return error;
  const [name, fd] = /\/proc\/(?:self|\d+)\/fd\/(\d+)/.exec(error.message) ?? [];
  const path = databases[Number(fd) - GUARD_FD]?.place.path;
  if (name === undefined || path === undefined) return error;
  const message =
    error.code === 'SQL_DATABASE_BUSY'
      ? `Another process has ${path} open.`
      : error.message.replaceAll(name, path);
  return new Refusal(error.code, message, { path });
}

/** The same open file that is copied, so that the lock is on it whatever its name leads to by now. */
function lockedName(place: Place, index: number): string {
  return process.platform === 'linux' ? `/proc/self/fd/${GUARD_FD + index}` : `${place.folder}/${place.name}`;
}

function patienceOf({ abort }: HoldOptions) {
  return { timeout_ms: sqlLimits.timeout_ms_default, abort };
}

function holdOf(databases: Hold['databases'], child: Runner | null, close: () => void): Hold {
  const lost = new AbortController();
  let released = false;
  child?.ended.then(() => {
    if (!released) lost.abort(lockLost());
  });
  return {
    databases,
    lost: lost.signal,
    async confirm() {
      try {
        await child?.ask({ task: 'hold', databases: [] }, { timeout_ms: sqlLimits.lock_answer_ms });
      } catch {
        throw lockLost();
      }
    },
    async release() {
      if (released) return;
      released = true;
      await child?.end();
      close();
    },
  };
}

function lockLost(): Refusal {
  return new Refusal('SQL_LOCK_LOST', 'The process that held the lock on the database ended.');
}
