import type { Machine } from '../../effect/machine.ts';
import type { ResultFormat } from '../../effect/sql/job.ts';
import type { Made, SqlRequest } from '../../effect/sql/request.ts';
import { runSql } from '../../effect/sql/run.ts';
import { requireRunnable, statementsOf } from '../../effect/sql/statement.ts';
import { refuse } from '../../refusal.ts';
import { requireNoCredential } from '../input/content.ts';
import type { Action, ActionEffect, PathChange } from '../model.ts';
import type { OperationOf } from '../operation.ts';
import { sameState } from '../state/pin.ts';
import { readContent, type Seen } from '../state/see.ts';
import type { World } from '../state/world.ts';
import { type FileWriter, requireSame } from './apply.ts';
import type { Handler } from './handler.ts';

type Sql = OperationOf<'SQL_EXECUTE'>;

export interface SqlSurroundings {
  readonly machine?: Machine;
  readonly sandbox?: 'required' | 'none';
}

/**
 * SQL_EXECUTE: all statements in one transaction over a copy of the database, which is put in its place only when
 * everything succeeded. What comes out cannot be foretold, so the journal says it just before. Undone by restoring the
 * backup of the file: exact, whatever the statements were.
 */
export function createSqlExecuteHandler(surroundings: SqlSurroundings): Handler<'SQL_EXECUTE'> {
  return {
    undo: 'exact',
    simulate,
    execute: (action, writer) => execute(action, writer, surroundings),
  };
}

async function simulate({ target, operation }: Action<'SQL_EXECUTE'>, world: World) {
  const pins: PathChange[] = [];
  const text = await textOf(operation, async (path) => {
    const { bytes, state } = await world.read(path);
    pins.push({ path, before: state, after: state });
    return bytes;
  });
  const statements = statementsOf(text);
  requireRunnable(statements);
  const changes = [...pins];
  const only_reads = statements.every(({ kind }) => kind === 'SELECT' || kind === 'EXPLAIN');
  if (!inMemory(operation)) {
    await world.requireDatabase(target);
    changes.push(await databaseChange(target, only_reads, world));
  }
  const reads = [
    ...changes.map(({ path }) => path),
    ...operation.readable.flatMap((folder) => world.readableFiles(folder)),
  ];
  const saved = savedTo(operation);
  if (saved && changes.some(({ path }) => path === saved.path))
    refuse('FILE_EXISTS', `The results would replace ${saved.path}, which the SQL itself needs.`, {
      path: saved.path,
    });
  if (saved) changes.push(await unknownChange(saved.path, world));
  const query_text = operation.query_file === undefined ? null : text;
  return { changes, reads, statements: statements.map(({ kind }) => kind), query_text };
}

async function databaseChange(path: string, only_reads: boolean, world: World): Promise<PathChange> {
  const before = await world.look(path);
  if (only_reads && before !== null && before !== 'unknown') return { path, before, after: before };
  return unknownChange(path, world);
}

async function unknownChange(path: string, world: World): Promise<PathChange> {
  const before = await world.look(path);
  if (before === null) await world.requireFree(path);
  else if (before !== 'unknown') await world.existing(path);
  world.leaveUnknown(path);
  return { path, before, after: 'unknown' };
}

async function execute(
  action: ActionEffect<'SQL_EXECUTE'>,
  writer: FileWriter,
  surroundings: SqlSurroundings,
): Promise<string> {
  const { action_id, operation } = action;
  const found = await requireInputs(action, writer);
  const text = await textOf(operation, async (path) => (await readContent(writer.root, path))!.bytes);
  for (const { path } of action.changes) await writer.makeFoldersOf(path);
  const at = () => writer.clock().toISOString();
  writer.proceed();
  writer.journal({ kind: 'started', at: at(), action_id });
  let ok = false;
  try {
    const done = await runSql(requestOf(action, writer, surroundings, text, found));
    ok = true;
    return `Statements executed: ${done.statements.length}, rows returned: ${done.row_count ?? 'many'}`;
  } finally {
    writer.journal({ kind: 'ended', at: at(), action_id, ok });
  }
}

type Found = ReadonlyMap<string, Seen | null>;

/** Each path as it must be now; what an earlier action of this plan left counts as approved. */
async function requireInputs(action: ActionEffect<'SQL_EXECUTE'>, writer: FileWriter): Promise<Found> {
  const found = new Map<string, Seen | null>();
  for (const { path, before } of action.changes) {
    const now = await writer.attributes.see(writer.root, path);
    const expected = before === 'unknown' ? writer.left(path) : before;
    if (!sameState(expected, now?.state ?? null))
      refuse('PLAN_DRIFT', `${path} is not what was approved.`, { path });
    found.set(path, now);
  }
  return found;
}

function requestOf(
  { operation, target }: ActionEffect<'SQL_EXECUTE'>,
  writer: FileWriter,
  surroundings: SqlSurroundings,
  text: string,
  found: Found,
): SqlRequest {
  const save = savedTo(operation);
  const database = inMemory(operation) ? null : target;
  return {
    ...surroundings,
    root: writer.root,
    database,
    ...(database === null ? {} : { expected_sha256: found.get(database)?.state.sha256 ?? null }),
    text,
    parameters: operation.parameters,
    expect_results: operation.expect_results,
    ...(save ? { save_results_to: save } : {}),
    readable: operation.readable,
    timeout_ms: writer.timeout_ms,
    abort: writer.signal,
    hold: writer.hold,
    stageName: writer.temporary,
    requireReadable: writer.requireReadable,
    inspectResult: (path, text) => requireNoCredential(writer.action_id, path, text),
    publishing: (made) => announce(writer, made, found.get(made.path) ?? null),
  };
}

/** The announcement is recorded before the file is in its place, so that a crash at any moment can be told apart. */
async function announce(
  writer: FileWriter,
  { path, place, sha256, size, mode }: Made,
  found: Seen | null,
): Promise<void> {
  const attributes = found?.state.attributes;
  const state = { sha256, size, mode, ...(attributes === undefined ? {} : { attributes }) };
  const at = writer.clock().toISOString();
  await writer.announce({ kind: 'leaves', at, action_id: writer.action_id, path, state });
  writer.proceed();
  if (found) requireSame(place, found);
  writer.leaves(path, state);
  writer.touching(path);
}

/** The schema demands exactly one of the two. */
async function textOf(
  { query, query_file }: Sql,
  readPath: (path: string) => Promise<Uint8Array>,
): Promise<string> {
  return query ?? Buffer.from(await readPath(query_file!)).toString('utf8');
}

function inMemory({ connection }: Sql): boolean {
  return connection === 'memory';
}

/** The schema demands one of these endings. */
function savedTo({ save_results_to: path }: Sql): { path: string; format: ResultFormat } | null {
  if (path === undefined || path === null) return null;
  return { path, format: path.slice(path.lastIndexOf('.') + 1) as ResultFormat };
}
