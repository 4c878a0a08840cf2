import type { Body } from '../event/event.ts';
import type { IntentStatus, Run } from '../gate/state.ts';
import type { StatusWord } from '../gate/status-word.ts';
import { refuse } from '../refusal.ts';
import { isAbsent, type Output, type Printed, readOutput, readSealed } from '../story/tell.ts';
import type { UndoCall } from '../tool/undo.ts';
import { approvalsOf } from './approvals.ts';
import { readerOf } from './contents.ts';
import { type Context, requireIntent } from './context.ts';
import { type UndoneBy, undoerOf, undoIfAny, undoneByOf } from './undo.ts';

/** What became of an intent, for its proposer. */
export interface IntentResult {
  readonly intent_id: string;
  readonly status: IntentStatus;
  readonly status_word: StatusWord;
  /** Nothing follows unless a human begins again. */
  readonly is_over: boolean;
  /** Why a human rejected it, or its proposer withdrew it. */
  readonly reason: string | null;
  /** The intent that a human proposed in its place: what becomes of that one is the answer. */
  readonly replaced_by: string | null;
  /** The call that undoes it, once it succeeded; null where its tool declared none, and where an intent undoes it already. */
  readonly undo: UndoCall | null;
  /** The intent that undoes it; null where none does. */
  readonly undone_by: UndoneBy | null;
  /** The newest run; null where there was none. */
  readonly run: RunResult | null;
}

export interface RunResult extends Pick<Run, 'execution_id' | 'result' | 'exit_code'> {
  /** Empty while it runs. */
  readonly output: Printed;
}

const OVER: ReadonlySet<StatusWord> = new Set<StatusWord>([
  'expired',
  'rejected',
  'withdrawn',
  'replaced',
  'succeeded',
  'failed',
  'happened',
  'rolled back',
  'undone',
]);

export async function resultOf(context: Context, intent_id: string): Promise<IntentResult> {
  const state = await requireIntent(context, intent_id);
  const { status_word } = await approvalsOf(context, state);
  const run = state.runs.at(-1);
  const { reason, printed: digests } = await toldAbout(context, intent_id, run?.execution_id);
  return {
    intent_id,
    status: state.status,
    status_word,
    is_over: OVER.has(status_word),
    reason,
    replaced_by: state.replaced_by,
    undo: await undoIfAny(context, state),
    undone_by: undoneByOf(await undoerOf(context, intent_id)),
    run: run ? await runResult(context, run, digests) : null,
  };
}

/** What one run printed, whichever attempt it was. */
export async function outputOf(context: Context, execution_id: string): Promise<Printed> {
  const { intent_id } =
    (await context.store.find('execution', execution_id)) ?? refuse('EXECUTION_NOT_FOUND');
  return readOutput((await toldAbout(context, intent_id, execution_id)).printed, readerOf(context.store));
}

/** The same as bytes, with how many came in all; null where they are not there any more. */
export async function recordedOutput(
  context: Context,
  { intent_id, execution_id }: { readonly intent_id: string; readonly execution_id: string },
): Promise<Readonly<
  Record<'stdout' | 'stderr', { readonly bytes: Uint8Array; readonly total: number }>
> | null> {
  const { printed, totals } = await toldAbout(context, intent_id, execution_id);
  const read = readerOf(context.store);
  const [stdout, stderr] = [await readSealed(printed.stdout, read), await readSealed(printed.stderr, read)];
  if (isAbsent(stdout) || isAbsent(stderr)) return null;
  return {
    stdout: { bytes: stdout, total: totals.stdout },
    stderr: { bytes: stderr, total: totals.stderr },
  };
}

type Streams = NonNullable<Awaited<ReturnType<typeof recordedOutput>>>;

/** What a run ended with, as its executor recorded it. */
interface RecordedEnd
  extends Streams,
    Pick<
      Body<'execution.finished'>,
      | 'execution_id'
      | 'capability_id'
      | 'tool'
      | 'result'
      | 'reason_code'
      | 'exit_code'
      | 'signal'
      | 'started_at'
      | 'finished_at'
    > {
  readonly intent_id: string;
  readonly folder: string | null;
}

/** Null while the end of the run is not recorded. Of an output that is not stored any more only the length is told. */
export async function recordedEnd(context: Context, execution_id: string): Promise<RecordedEnd | null> {
  const { intent_id } =
    (await context.store.find('execution', execution_id)) ?? refuse('EXECUTION_NOT_FOUND');
  const end = await endOf(context, intent_id, execution_id);
  if (end === null) return null;
  const { runs } = await requireIntent(context, intent_id);
  const gone = (total: number) => ({ bytes: new Uint8Array(), total });
  const { stdout, stderr } = (await recordedOutput(context, { intent_id, execution_id })) ?? {
    stdout: gone(end.stdout.bytes),
    stderr: gone(end.stderr.bytes),
  };
  const { capability_id, tool, result, reason_code, exit_code, signal, started_at, finished_at } = end;
  const folder = runs.find((run) => run.execution_id === execution_id)?.reports ?? null;
  return {
    ...{ execution_id, intent_id, capability_id, tool, result, reason_code, exit_code, signal },
    ...{ started_at, finished_at, stdout, stderr, folder },
  };
}

async function endOf(
  { store, read_entry }: Context,
  intent_id: string,
  execution_id: string,
): Promise<Body<'execution.finished'> | null> {
  for (const { bytes } of await store.entriesOf(intent_id)) {
    const { kind, body } = read_entry(bytes).event;
    if (kind === 'execution.finished' && body.execution_id === execution_id) return body;
  }
  return null;
}

type Digests = Pick<Output, 'stdout' | 'stderr'>;

interface Totals {
  readonly stdout: number;
  readonly stderr: number;
}

async function runResult(
  context: Context,
  { execution_id, result, exit_code }: Run,
  digests: Digests,
): Promise<RunResult> {
  return { execution_id, result, exit_code, output: await readOutput(digests, readerOf(context.store)) };
}

/** What only the entries say: why it was given up, and where the output of a run is. */
async function toldAbout(
  { store, read_entry }: Context,
  intent_id: string,
  execution_id: string | undefined,
): Promise<{ readonly reason: string | null; readonly printed: Digests; readonly totals: Totals }> {
  let reason: string | null = null;
  let found: Digests = { stdout: null, stderr: null };
  let totals: Totals = { stdout: 0, stderr: 0 };
  for (const { bytes } of await store.entriesOf(intent_id)) {
    const { kind, body } = read_entry(bytes).event;
    if (kind === 'approval.denied' || kind === 'intent.withdrawn') reason = body.reason;
    if (kind === 'execution.finished' && body.execution_id === execution_id) {
      found = { stdout: body.stdout.digest, stderr: body.stderr.digest };
      totals = { stdout: body.stdout.bytes, stderr: body.stderr.bytes };
    }
  }
  return { reason, printed: found, totals };
}
