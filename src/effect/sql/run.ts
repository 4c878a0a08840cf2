import { closeSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Digest } from '../../canonical/digest.ts';
import { readRegularFile } from '../../durable/beneath.ts';
import { type Place, pathThrough, statAt } from '../../durable/beneath-write.ts';
import { refuse } from '../../refusal.ts';
import { inspectMachine } from '../machine.ts';
import { confineRunner } from './confine.ts';
import { logBeside, type OpenFile, openFile, requireNoLog } from './database.ts';
import { type Hold, holdDatabases } from './hold.ts';
import type { Done, Save } from './job.ts';
import { askRunner } from './process.ts';
import { readableFiles } from './readable.ts';
import { boundsOf, checkParameters, type SqlBounds, type SqlRequest } from './request.ts';
import {
  copyToStage,
  digestOfOpenFile,
  publish,
  type Settled,
  type Stage,
  type StageAttributes,
  settleStage,
} from './stage.ts';
import { requireRunnable, type Statement, statementsOf } from './statement.ts';
import { Workplace } from './workplace.ts';

export interface SqlOutcome extends Done {
  /** The database file; null for one in memory. `before_sha256` is null where the file is new. */
  readonly database: {
    readonly before_sha256: Digest | null;
    readonly after_sha256: Digest;
    readonly changed: boolean;
  } | null;
  readonly saved: (Settled & { readonly path: string }) | null;
}

/**
 * Runs SQL against DuckDB: all statements in one transaction, in a process that can be killed.
 *
 * The database is locked at its real place, as DuckDB itself locks it, before a byte of it is copied, until the end. The runner works
 * on a copy in a private folder beside it. Only when everything succeeded is the copy, checkpointed and on the disk, renamed over the
 * original. So a failure, a kill or a power cut at any moment leaves the original as it was, byte for byte.
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
    await open.close();
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
  bounds: SqlBounds,
  statements: readonly Statement[],
  open: Workplace,
): Promise<SqlOutcome> {
  const read_only = statements.every(({ kind }) => kind === 'SELECT' || kind === 'EXPLAIN');
  const readable = readableFolders(request);
  const database = request.database === null ? null : await openDatabase(request, bounds, open, read_only);
  const target = request.save_results_to ? await openTarget(request, open) : null;
  const save = target && saveOf(request, target);
  const done = await askRunner(
    {
      command: confineRunner(
        request.sandbox === 'none' ? null : (request.machine ?? inspectMachine()),
        {
          read: readable,
          write: [target, database].flatMap((staged) => (staged ? [staged.stage.folder] : [])),
          cwd: request.root,
        },
        { memory_mb: bounds.memory_mb, file_mb: bounds.max_file_mb },
      ),
      cwd: request.root,
      timeout_ms: bounds.timeout_ms,
      abort: eitherOf(request.abort, database?.hold.lost),
    },
    {
      task: 'execute',
      database: database && { path: database.stage.path, read_only },
      statements: statements.map(({ number, kind, text }) => ({ number, kind, text })),
      parameters: request.parameters ?? {},
      expect_results: request.expect_results,
      save,
      allowed_directories: [...(target ? [target.stage.folder] : []), ...readable],
      memory_mb: bounds.memory_mb,
      threads: bounds.threads,
      max_rows: bounds.max_rows,
    },
  );
  return { ...done, ...(await publishAll({ request, bounds, target, save, database, read_only })) };
}

/** As the runner names them. Each file in them has been looked at. */
function readableFolders({ root, readable = [], requireReadable }: SqlRequest): string[] {
  return readable.map((folder) => {
    for (const path of readableFiles(root, folder)) requireReadable?.(path);
    return join(root, folder);
  });
}

function eitherOf(one: AbortSignal | undefined, other: AbortSignal | undefined): AbortSignal | undefined {
  return one && other ? AbortSignal.any([one, other]) : (one ?? other);
}

/** A file that SQL makes or changes: where it is, what is there, and where the new one is made. */
interface Staged {
  readonly path: string;
  readonly place: Place;
  readonly found: OpenFile | null;
  readonly before_sha256: Digest | null;
  readonly stage: Stage;
}

interface StagedDatabase extends Staged {
  readonly hold: Hold;
}

const NEW_FILE: StageAttributes = { mode: 0o600, of: null };
const MiB = 1024 * 1024;

async function openTarget(request: SqlRequest, open: Workplace): Promise<Staged> {
  const { path } = request.save_results_to!;
  const place = open.place(request.root, path);
  const found = open.file(place);
  const before_sha256 = found && (await digestOfOpenFile(found.fd, path, Number.POSITIVE_INFINITY));
  return { path, place, found, before_sha256, stage: open.stage(request, path) };
}

/** DuckDB reads parquet and writes it compressed, and escapes text in JSON: the rows are searched as they stand in a CSV file. */
function saveOf({ save_results_to, inspectResult }: SqlRequest, { stage }: Staged): Save {
  const { format } = save_results_to!;
  const searched = inspectResult && format !== 'csv';
  return { path: stage.path, format, text_path: searched ? `${stage.path}.csv` : null };
}

async function openDatabase(
  request: SqlRequest,
  bounds: SqlBounds,
  open: Workplace,
  read_only: boolean,
): Promise<StagedDatabase> {
  const path = request.database!;
  const max_bytes = bounds.max_file_mb * MiB;
  const place = open.place(request.root, path);
  const hold = isHeld(request.hold, path, place)
    ? request.hold!
    : open.hold(await holdDatabases(request.root, [path], { ...request, max_bytes }));
  const found = hold.databases.get(path) ?? null;
  if (read_only && found === null) refuse('FILE_NOT_FOUND', `${path} does not exist.`, { path });
  const stage = open.stage(request, path);
  const before_sha256 = found && (await copyToStage(found.fd, stage, max_bytes));
  if (request.expected_sha256 !== undefined && request.expected_sha256 !== before_sha256) changed(place);
  return { path, place, found, before_sha256, stage, hold };
}

/** A lock is on a file and not on a name: once a new file has the name, it needs its own. */
function isHeld(hold: Hold | undefined, path: string, place: Place): boolean {
  const held = hold?.databases.get(path);
  return held !== undefined && isSameFile(held, place);
}

function isSameFile({ stats }: OpenFile, place: Place): boolean {
  const now = statAt(place);
  return now !== null && now.ino === stats.ino && now.dev === stats.dev;
}

interface Finished {
  readonly request: SqlRequest;
  readonly bounds: SqlBounds;
  readonly target: Staged | null;
  readonly save: Save | null;
  readonly database: StagedDatabase | null;
  readonly read_only: boolean;
}

/** Everything is checked and on the disk before the first rename. The result goes first: it changes nothing by itself. */
async function publishAll(finished: Finished): Promise<Pick<SqlOutcome, 'database' | 'saved'>> {
  const { request, bounds, target, save, database, read_only } = finished;
  const max_bytes = bounds.max_file_mb * MiB;
  if (target) inspectResult(request, target, save!, max_bytes);
  const result = target && (await settleStage(target.stage, attributesOf(target), max_bytes));
  const after = database && (await settleDatabase(database, read_only, max_bytes));
  if (request.abort?.aborted) refuse('SQL_ABORTED');
  await database?.hold.confirm();
  if (target) await put(request, target, result!);
  if (database && after?.changed) await putDatabase(request, database, after);
  const saved = result && { ...result, path: target!.path };
  if (!after) return { database: null, saved };
  const { sha256: after_sha256, changed } = after;
  return { database: { before_sha256: database!.before_sha256, after_sha256, changed }, saved };
}

function inspectResult(
  { inspectResult: inspect }: SqlRequest,
  { path, stage }: Staged,
  { text_path }: Save,
  max_bytes: number,
): void {
  if (!inspect) return;
  const { place } = stage;
  const name = text_path === null ? place.name : basename(text_path);
  const { bytes } = readRegularFile(pathThrough(place, name), max_bytes);
  inspect(path, bytes);
}

function attributesOf({ found, place }: Staged): StageAttributes {
  if (!found) return NEW_FILE;
  const { mode, uid, gid } = found.stats;
  return { mode: Number(mode & 0o7777n), of: { place, uid, gid } };
}

async function settleDatabase(
  database: StagedDatabase,
  read_only: boolean,
  max_bytes: number,
): Promise<Settled & { readonly changed: boolean }> {
  const { place, found, before_sha256, stage } = database;
  if (logBeside(stage.place) !== null) refuse('SQL_RUNNER_FAILED', 'The runner left a log behind.');
  if ((await digestNow(place, found, max_bytes)) !== before_sha256) changed(place);
  if (read_only) return { sha256: before_sha256!, size_bytes: Number(found!.stats.size), changed: false };
  const settled = await settleStage(stage, attributesOf(database), max_bytes);
  return { ...settled, changed: settled.sha256 !== before_sha256 };
}

/** The digest of what has the name now. The lock stops DuckDB, but no other program that may write. */
async function digestNow(place: Place, found: OpenFile | null, max_bytes: number): Promise<Digest | null> {
  const again = openFile(place);
  if (again === null) return null;
  try {
    if (found === null || !isSameFile(found, place)) changed(place);
    return await digestOfOpenFile(again.fd, place.path, max_bytes);
  } finally {
    closeSync(again.fd);
  }
}

async function put(request: SqlRequest, staged: Staged, made: Settled): Promise<void> {
  const { path, place, stage, found, before_sha256 } = staged;
  if (made.sha256 === before_sha256) return;
  const { mode } = attributesOf(staged);
  await request.publishing?.({ path, place, sha256: made.sha256, size: made.size_bytes, mode });
  await publish(stage, place, found === null);
}

/** The lock is asked for once more after the rename: one that was lost in between may have let a writer in. */
async function putDatabase(request: SqlRequest, database: StagedDatabase, made: Settled): Promise<void> {
  requireNoLog(database.place);
  await put(request, database, made);
  await database.hold.confirm();
  requireNoLog(database.place);
}

function changed(place: Place): never {
  return refuse('SQL_DATABASE_CHANGED', `${place.path} is not what it was.`, { path: place.path });
}
