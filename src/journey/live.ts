import * as z from 'zod';
import { visible } from '../canonical/visible.ts';
import type { OnOutput } from '../effect/child.ts';
import { readSpool, removeSpool, Spool, spooledRuns } from '../effect/spool.ts';
import type { IntentState, Run } from '../gate/state.ts';
import { journeyLimits, limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { printedText } from '../story/tell.ts';
import { type Context, requireIntent } from './context.ts';
import type { RunStep } from './derived.ts';
import { lifeOf, lostOrNot } from './life.ts';
import { recordedOutput } from './result.ts';
import { type LiveProgress, liveProgress, progressElsewhere, progressTold } from './run-words.ts';
import { soonest } from './wait.ts';

/** What is told of a run while it goes on, to people who watch. Nothing rests on it. */
export interface LiveTold {
  readonly printed: OnOutput;
  step(step: RunStep): void;
  /** When the run is over. What was told is removed once the record is durable. */
  end(of: { readonly is_recorded: boolean }): Promise<void>;
}

/** Of an MCP server only the numbers of its progress are told before its end: no redactor goes through its words. */
export function liveTold(context: Context, execution_id: string, { effect }: IntentState): LiveTold {
  const { runs_folder, clock } = context;
  const elsewhere = progressTold(context, execution_id);
  const spool = new Spool(runs_folder, execution_id);
  const line = (value: object) => spool.add('steps', Buffer.from(`${JSON.stringify(value)}\n`));
  const dropped = { stdout: 0, stderr: 0 };
  let next = 1;
  let last = Number.NEGATIVE_INFINITY;
  const progressed = (chunk: Uint8Array) => {
    const progress = progressIn(chunk);
    if (progress === null || progress.progress <= last) return;
    last = progress.progress;
    line({ progress });
    elsewhere.tell(progress);
  };
  return {
    printed: (chunk, stream, beyond) => {
      if (effect === 'mcp') return stream === 'stderr' ? progressed(chunk) : undefined;
      spool.add(stream, chunk);
      dropped[stream] += beyond;
      // Each time that it has doubled: a tool that floods its output must not fill this file.
      if (dropped.stdout + dropped.stderr < next) return;
      next = 2 * (dropped.stdout + dropped.stderr);
      line({ dropped });
    },
    step: (step) => line({ step: stepOf(step, clock()) }),
    end: async (of) => {
      await Promise.all([spool.end(of), elsewhere.end()]);
    },
  };
}

/** What a plan began or has done. */
export const liveStep = z
  .strictObject({
    at: z.iso.datetime({ precision: 3 }),
    phase: z.enum(['checkpoint', 'action', 'action_done', 'validation', 'rollback', 'done']),
    /** Of `action` and `action_done`. */
    action_id: z.string().nullable(),
    /** How the action, or the plan, ended; null while it goes on. */
    status: z.string().nullable(),
    /** How many actions the plan has. */
    of: z.int(),
  })
  .readonly();
export type LiveStep = z.output<typeof liveStep>;

const counts = z.strictObject({ stdout: z.int(), stderr: z.int() });
const spoolLine = z.union([
  z.strictObject({ step: liveStep }),
  z.strictObject({ dropped: counts }),
  z.strictObject({ progress: liveProgress }),
]);

function progressIn(chunk: Uint8Array): LiveProgress | null {
  try {
    const { progress, total = null } = JSON.parse(Buffer.from(chunk).toString('utf8'));
    return liveProgress.safeParse({ progress, total }).data ?? null;
  } catch {
    return null;
  }
}

function stepOf(step: RunStep, at: Date): LiveStep {
  return {
    at: at.toISOString(),
    phase: step.phase,
    action_id: 'action_id' in step ? step.action_id : null,
    status: 'status' in step ? step.status : null,
    of: step.of,
  };
}

export interface LiveRequest {
  readonly execution_id: string;
  readonly stdout_after: number;
  readonly stderr_after: number;
  readonly steps_after: number;
  readonly progress_after?: number | undefined;
  readonly wait_ms: number;
  readonly signal?: AbortSignal | undefined;
}

export interface LiveOutput {
  readonly execution_id: string;
  readonly intent_id: string;
  readonly state: 'going' | 'lost' | 'ended';
  readonly source: 'live' | 'record' | 'other host' | 'gone';
  readonly stdout: LivePart;
  readonly stderr: LivePart;
  readonly steps: readonly LiveStep[];
  readonly steps_next: number;
  readonly progress: LiveProgress | null;
}

export interface LivePart {
  readonly text: string;
  readonly next: number;
  readonly dropped: number;
  readonly has_more: boolean;
}

/** What came since, as soon as something did, or the time is over. */
export async function liveOutput(context: Context, request: LiveRequest): Promise<LiveOutput> {
  const { execution_id, wait_ms, signal } = request;
  const until_ms = performance.now() + wait_ms;
  const { intent_id } =
    (await context.store.find('execution', execution_id)) ?? refuse('EXECUTION_NOT_FOUND');
  for (;;) {
    signal?.throwIfAborted();
    const news = await context.follower.about(intent_id);
    try {
      const found = await liveNow(context, intent_id, request);
      const rest_ms = until_ms - performance.now();
      if (found.state !== 'going' || hasNews(found, request) || rest_ms <= 0) return found;
      const look_ms =
        found.source === 'other host' ? journeyLimits.live_look_elsewhere_ms : journeyLimits.live_look_ms;
      await soonest(news.came, Math.min(rest_ms, look_ms), signal);
    } finally {
      news.end();
    }
  }
}

function hasNews({ stdout, stderr, steps, progress }: LiveOutput, asked: LiveRequest): boolean {
  const { progress_after = Number.NEGATIVE_INFINITY } = asked;
  if (progress !== null && progress.progress > progress_after) return true;
  return stdout.next > asked.stdout_after || stderr.next > asked.stderr_after || steps.length > 0;
}

async function liveNow(context: Context, intent_id: string, request: LiveRequest): Promise<LiveOutput> {
  const { state, is_lost } = await lostOrNot(context, await requireIntent(context, intent_id));
  if (!isRunGoing(state, request.execution_id)) return recordedNow(context, intent_id, request);
  const run = state.runs.at(-1)!;
  const is_here = lifeOf(context, run.execution_id, run.executor) !== 'other-host';
  return {
    execution_id: run.execution_id,
    intent_id,
    state: is_lost ? 'lost' : 'going',
    source: is_here ? 'live' : 'other host',
    ...(await spooled(context, run, request)),
  };
}

async function spooled(context: Context, { execution_id }: Run, asked: LiveRequest) {
  const { runs_folder } = context;
  const { steps, dropped, progress } = linesIn(
    await readSpool(runs_folder, { execution_id, which: 'steps', after: 0, most: limits.live_steps_bytes }),
  );
  const part = async (which: 'stdout' | 'stderr', after: number): Promise<LivePart> => {
    const bytes = await readSpool(runs_folder, { execution_id, which, after, most: limits.live_bytes });
    return partOf(bytes, after, { dropped: dropped[which], is_whole: false });
  };
  return {
    stdout: await part('stdout', asked.stdout_after),
    stderr: await part('stderr', asked.stderr_after),
    steps: steps.slice(asked.steps_after),
    steps_next: Math.max(asked.steps_after, steps.length),
    progress: progress ?? (await progressElsewhere(context, execution_id)),
  };
}

/** The positions are those of the record: what was printed last is told from there. */
async function recordedNow(context: Context, intent_id: string, asked: LiveRequest): Promise<LiveOutput> {
  const { execution_id, stdout_after, stderr_after, steps_after } = asked;
  const found = await recordedOutput(context, { intent_id, execution_id });
  const part = (which: 'stdout' | 'stderr', after: number): LivePart => {
    const { bytes, total } = found?.[which] ?? { bytes: new Uint8Array(), total: 0 };
    const rest = bytes.subarray(after, after + limits.live_bytes);
    return {
      ...partOf(rest, after, {
        dropped: total - bytes.length,
        is_whole: after + rest.length >= bytes.length,
      }),
      has_more: after + rest.length < bytes.length,
    };
  };
  return {
    execution_id,
    intent_id,
    state: 'ended',
    source: found === null ? 'gone' : 'record',
    stdout: part('stdout', stdout_after),
    stderr: part('stderr', stderr_after),
    steps: [],
    steps_next: steps_after,
    progress: null,
  };
}

interface PartOptions {
  readonly dropped: number;
  /** Nothing follows it: a character that is cut there stays cut. */
  readonly is_whole: boolean;
}

function partOf(bytes: Uint8Array, after: number, { dropped, is_whole }: PartOptions): LivePart {
  const told = is_whole ? bytes : bytes.subarray(0, bytes.length - cutAtEnd(bytes));
  return {
    text: harmless(printedText(told)),
    next: after + told.length,
    dropped,
    has_more: bytes.length === limits.live_bytes,
  };
}

/** How many bytes at the end begin a character that goes on. */
function cutAtEnd(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return 0;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 0;
    if (length > 0) return length > back ? back : 0;
  }
  return 0;
}

/** Lines stay lines; whatever else could move a cursor or hide text is shown as what it is. */
function harmless(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) => visible(line))
    .join('\n');
}

/** The last line may be half written, and a tool without a sandbox could have written anything: what is no such line is left out. */
function linesIn(bytes: Buffer) {
  const steps: LiveStep[] = [];
  let dropped: z.output<typeof counts> = { stdout: 0, stderr: 0 };
  let progress: LiveProgress | null = null;
  for (const text of bytes.toString('utf8').split('\n').slice(0, -1)) {
    const line = lineIn(text);
    if (line && 'step' in line) steps.push(line.step);
    if (line && 'dropped' in line) dropped = line.dropped;
    if (line && 'progress' in line) progress = line.progress;
  }
  return { steps, dropped, progress };
}

function lineIn(text: string): z.output<typeof spoolLine> | null {
  try {
    return spoolLine.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/** Removes what processes left that were killed, once a human has settled their runs. */
export async function removeSettled({ runs_folder, store }: Context): Promise<void> {
  for (const execution_id of await spooledRuns(runs_folder)) {
    const found = await store.find('execution', execution_id);
    const state = found && (await store.find('intent', found.intent_id));
    if (!state || !isRunGoing(state, execution_id)) await removeSpool(runs_folder, execution_id);
  }
}

/** Nothing says yet how it ended. */
export function isRunGoing({ status, runs }: IntentState, execution_id: string): boolean {
  const run = runs.at(-1);
  return status === 'claimed' && run?.execution_id === execution_id && run.result === null;
}
