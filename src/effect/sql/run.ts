import { closeSync, fstatSync, lstatSync, realpathSync } from 'node:fs';
import type { Digest } from '../../canonical/digest.ts';
import { refuse } from '../../refusal.ts';
import { inspectMachine } from '../machine.ts';
import { confineRunner } from './confine.ts';
import { type Done, type ExecuteJob, GUARD_FD } from './job.ts';
import {
  copyToStage,
  digestOf,
  makeStage,
  openFileAt,
  openPlace,
  type Place,
  type Published,
  publish,
  readableFolder,
  type Stage,
  settleStage,
} from './place.ts';
import { askRunner } from './process.ts';
import { type Bounds, boundsOf, checkParameters, type SqlRequest } from './request.ts';
import { requireRunnable, type Statement, statementsOf } from './statement.ts';

export interface SqlOutcome extends Done {
  /** The database file; null for one in memory. `before_sha256` is null where the file is new. */
  readonly database: {
    readonly before_sha256: Digest | null;
    readonly after_sha256: Digest;
    readonly changed: boolean;
  } | null;
  readonly saved: (Published & { readonly path: string }) | null;
}

/**
 * Runs SQL against DuckDB: all statements in one transaction, in a process that can be killed.
 *
 * The runner works on a copy of the database, in a private folder beside it. Only when everything succeeded is the copy,
 * checkpointed and on the disk, renamed over the original. So a failure, a kill or a power cut at any moment leaves the
 * original as it was, byte for byte. Meanwhile the runner holds DuckDB's lock on the original: no other process can
 * write to it.
 */
export async function runSql(request: SqlRequest): Promise<SqlOutcome> {
  const bounds = boundsOf(request);
  const statements = statementsOf(request.text, request.kinds);
  requireRunnable(statements);
  checkParameters(statements, request.parameters ?? {});
  const open = new Workplace();
  try {
    return await runStaged({ ...request, root: realRoot(request.root) }, bounds, statements, open);
  } finally {
    open.close();
  }
}

/** The root itself is ours to choose, so a link may lead to it. */
function realRoot(root: string): string {
  try {
    return realpathSync(root);
  } catch {
    return refuse('FILE_NOT_FOUND', 'The root folder does not exist.', { path: root });
  }
}

async function runStaged(
  request: SqlRequest,
  bounds: Bounds,
  statements: readonly Statement[],
  open: Workplace,
): Promise<SqlOutcome> {
  const read_only = statements.every(({ kind }) => kind === 'SELECT' || kind === 'EXPLAIN');
  const target = request.save_results_to
    ? openTarget(request.root, request.save_results_to.path, open)
    : null;
  const database = request.database === null ? null : await openDatabase(request, bounds, open);
  if (read_only && database?.fd === null) refuse('FILE_NOT_FOUND', `${request.database} does not exist.`);
  const readable = (request.readable ?? []).map((folder) => readableFolder(request.root, folder));
  const write = [target, database].flatMap((staged) => (staged ? [staged.stage.folder] : []));
  const command = confineRunner(
    request.sandbox === 'none' ? null : (request.machine ?? inspectMachine()),
    { read: readable, write, cwd: request.root },
    { memory_mb: bounds.memory_mb, file_mb: bounds.max_file_mb },
  );
  const job: ExecuteJob = {
    task: 'execute',
    database: database && { path: database.stage.path, read_only },
    guard: database === null || database.fd === null ? null : guardPath(database.place),
    statements: statements.map(({ number, kind, text }) => ({ number, kind, text })),
    parameters: request.parameters ?? {},
    expect_results: request.expect_results,
    save: target && { path: target.stage.path, format: request.save_results_to!.format },
    allowed_directories: [...(target ? [target.stage.folder] : []), ...readable],
    memory_mb: bounds.memory_mb,
    threads: bounds.threads,
    max_rows: bounds.max_rows,
  };
  const runner = await askRunner(
    {
      command,
      cwd: request.root,
      timeout_ms: bounds.timeout_ms,
      abort: request.abort,
      guard_fd: database?.fd ?? undefined,
    },
    job,
  );
  try {
    return { ...runner.done, ...(await publishAll({ request, bounds, target, database, read_only })) };
  } finally {
    await runner.release();
  }
}

/** The same open file that was copied, so that the lock is on it whatever its name leads to by now. */
function guardPath(place: Place): string {
  return process.platform === 'linux' ? `/proc/self/fd/${GUARD_FD}` : `${place.folder}/${place.name}`;
}

interface Staged {
  readonly place: Place;
  readonly stage: Stage;
  readonly mode: number;
}

interface StagedDatabase extends Staged {
  readonly fd: number | null;
  readonly before_sha256: Digest | null;
}

const NEW_FILE_MODE = 0o600;
const MiB = 1024 * 1024;

function openTarget(root: string, path: string, open: Workplace): Staged {
  const place = open.place(root, path);
  const fd = open.file(place);
  return { place, stage: open.stage(place), mode: modeOf(fd) };
}

async function openDatabase(request: SqlRequest, bounds: Bounds, open: Workplace): Promise<StagedDatabase> {
  const place = open.place(request.root, request.database!);
  const fd = open.file(place);
  refuseLog(place);
  const stage = open.stage(place);
  const before_sha256 = fd === null ? null : await copyToStage(fd, stage, bounds.max_file_mb * MiB);
  if (request.expected_sha256 !== undefined && request.expected_sha256 !== before_sha256) changed(place);
  return { place, stage, mode: modeOf(fd), fd, before_sha256 };
}

function modeOf(fd: number | null): number {
  return fd === null ? NEW_FILE_MODE : fstatSync(fd).mode & 0o777;
}

/**
 * A log beside the file holds changes that the file does not: then the digest that a human approved is not the digest of
 * the database, and a copy of the file is no snapshot of it.
 */
function refuseLog(place: Place): void {
  const log = lstatSync(place.at(`${place.name}.wal`), { throwIfNoEntry: false });
  if (log) refuse('SQL_DATABASE_HAS_LOG', `${place.shown}.wal exists.`, { path: `${place.shown}.wal` });
}

interface Finished {
  readonly request: SqlRequest;
  readonly bounds: Bounds;
  readonly target: Staged | null;
  readonly database: StagedDatabase | null;
  readonly read_only: boolean;
}

/** Everything is checked and on the disk before the first rename. The result goes first: it changes nothing by itself. */
async function publishAll(finished: Finished): Promise<Pick<SqlOutcome, 'database' | 'saved'>> {
  const { request, bounds, target, database, read_only } = finished;
  const max_bytes = bounds.max_file_mb * MiB;
  const result = target && (await settleStage(target.stage, target.mode, max_bytes));
  const after = database && (await settleDatabase(database, read_only, max_bytes));
  if (request.abort?.aborted) refuse('SQL_ABORTED');
  if (target) publish(target.stage, target.place, false);
  if (database && after?.changed) publish(database.stage, database.place, database.fd === null);
  return { database: after, saved: result && { ...result, path: target!.place.shown } };
}

async function settleDatabase(
  database: StagedDatabase,
  read_only: boolean,
  max_bytes: number,
): Promise<SqlOutcome['database']> {
  const { place, fd, before_sha256, stage, mode } = database;
  if (lstatSync(`${stage.own}.wal`, { throwIfNoEntry: false }))
    refuse('SQL_RUNNER_FAILED', 'The runner left a log behind.');
  if ((await digestNow(place, fd, max_bytes)) !== before_sha256) changed(place);
  if (read_only && before_sha256 !== null)
    return { before_sha256, after_sha256: before_sha256, changed: false };
  const { sha256 } = await settleStage(stage, mode, max_bytes);
  return { before_sha256, after_sha256: sha256, changed: sha256 !== before_sha256 };
}

/** The digest of what has the name now. The lock stops DuckDB, but nobody else who may write. */
async function digestNow(place: Place, fd: number | null, max_bytes: number): Promise<Digest | null> {
  const again = openFileAt(place);
  if (again === null) return null;
  try {
    if (fd === null || fstatSync(fd).ino !== fstatSync(again).ino) changed(place);
    return await digestOf(again, place.shown, max_bytes);
  } finally {
    closeSync(again);
  }
}

function changed(place: Place): never {
  return refuse('SQL_DATABASE_CHANGED', `${place.shown} is not what it was.`, { path: place.shown });
}

/** What is open during one run, closed in reverse. */
class Workplace {
  readonly #closers: (() => void)[] = [];

  place(root: string, relative: string): Place {
    const place = openPlace(root, relative);
    this.#closers.push(() => place.close());
    return place;
  }

  file(place: Place): number | null {
    const fd = openFileAt(place);
    if (fd !== null) this.#closers.push(() => closeSync(fd));
    return fd;
  }

  stage(place: Place): Stage {
    const stage = makeStage(place);
    this.#closers.push(() => stage.remove());
    return stage;
  }

  close(): void {
    for (const close of this.#closers.reverse()) close();
  }
}
