import { randomUUID } from 'node:crypto';
import { sha256 } from '../canonical/digest.ts';
import type { Outcome } from '../effect/child.ts';
import { thisProcess } from '../effect/process.ts';
import type { Event } from '../event/event.ts';
import type { IntentState } from '../gate/state.ts';
import { type ReasonCode, Refusal, refuse } from '../refusal.ts';
import type { Effect } from '../tool/effect.ts';
import { prepareRun } from '../tool/run.ts';
import { check, requireFormats } from './check.ts';
import { type Context, recordingRefusal } from './context.ts';
import { type Derived, requireSameEffect } from './effect.ts';

export interface Preview {
  readonly state: IntentState;
  readonly effect: Effect;
}

export interface RunRequest {
  readonly intent_id: string;
  readonly hash: string;
  /** Asks the human at the terminal, and is true only for an explicit yes. There is no default. */
  readonly confirm: (preview: Preview) => Promise<boolean>;
  readonly abort?: AbortSignal;
}

export interface Report {
  readonly execution_id: string;
  readonly intent_id: string;
  readonly tool: string;
  readonly result: 'success' | 'failure' | 'partial';
  readonly reason_code: ReasonCode | null;
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly finished_at: string;
  /** What was kept of the output, and how much there was of it. */
  readonly stdout: Uint8Array;
  readonly stdout_bytes: number;
  readonly stderr: Uint8Array;
  readonly stderr_bytes: number;
}

/** Everything that `run` checks, and nothing that it does. Records nothing. */
export async function preview(context: Context, intent_id: string, hash: string): Promise<Preview> {
  const state = await requireEligible(context, intent_id, hash);
  const { effect } = await requireSameEffect(context, state);
  prepareRun(effect, placesOf(context)).close();
  return { state, effect };
}

/** The adapter of 001: check, look again, claim, run once, record, stop. */
export async function run(context: Context, request: RunRequest): Promise<Report> {
  const { intent_id, hash } = request;
  requireFormats(intent_id, hash);
  return recordingRefusal(context, refused(intent_id, hash), async () => {
    // 1. The controller, the registry, the tool, its arguments, the sandbox.
    const seen = await preview(context, intent_id, hash);

    // 2. The human at the terminal.
    if (!(await request.confirm(seen))) refuse('CONFIRMATION_DECLINED');

    // 3. All of it again: the human may have taken an hour. The executable stays open from here on.
    const state = await requireEligible(context, intent_id, hash);
    const derived = await requireSameEffect(context, state);
    const prepared = prepareRun(derived.effect, placesOf(context));
    try {
      // 4. The claim is durable before the effect begins. At most once is this and nothing else.
      const claimed = claim(state, derived);
      await take(context, claimed);

      // 5. The one effect, then its record, always.
      const outcome = await prepared.run(request.abort ? { abort: request.abort } : {});
      return await record(context, claimed, outcome);
    } finally {
      prepared.close();
    }
  });
}

async function requireEligible(context: Context, intent_id: string, hash: string): Promise<IntentState> {
  const verdict = await check(context, intent_id, hash);
  if (verdict.eligible) return verdict.state;
  return refuse(
    verdict.code,
    undefined,
    verdict.executed_at === null ? {} : { executed_at: verdict.executed_at },
  );
}

function claim(state: IntentState, { registry, effect }: Derived): Event<'execution.claimed'> {
  return {
    kind: 'execution.claimed',
    subject: state.intent_id,
    body: {
      execution_id: randomUUID(),
      attempt: state.attempt,
      hash: state.hash,
      effect_digest: state.effect_digest,
      registry_digest: registry.digest,
      tool: effect.tool,
      reports: null,
      executor: thisProcess(),
    },
  };
}

/** Whoever comes second is told when the first one came. */
async function take({ store }: Context, claimed: Event<'execution.claimed'>): Promise<void> {
  const { subject, body } = claimed;
  try {
    await store.commit({ claims: [`execution:${subject}:${body.attempt}`], events: [claimed] });
  } catch (error) {
    const run = (await store.intent(subject))?.runs.at(-1);
    if (!(error instanceof Refusal) || error.code !== 'CLAIM_TAKEN' || !run) throw error;
    refuse('CLAIM_TAKEN', undefined, { executed_at: run.claimed_at });
  }
}

async function record(
  context: Context,
  claimed: Event<'execution.claimed'>,
  outcome: Outcome,
): Promise<Report> {
  const { execution_id, attempt, tool } = claimed.body;
  const { result, reason_code } = judge(outcome);
  const finished: Event<'execution.finished'> = {
    kind: 'execution.finished',
    subject: claimed.subject,
    body: {
      execution_id,
      attempt,
      tool,
      result,
      reason_code,
      exit_code: outcome.exit_code,
      signal: outcome.signal,
      started_at: outcome.started_at,
      finished_at: outcome.finished_at,
      stdout: captured(outcome.stdout),
      stderr: captured(outcome.stderr),
      reports: {},
    },
  };
  try {
    await context.store.commit({ events: [finished], objects: [outcome.stdout.bytes, outcome.stderr.bytes] });
  } catch (error) {
    const why = error instanceof Refusal ? error.code : 'INTERNAL';
    refuse('RECORDING_FAILED', undefined, { execution_id, because: why });
  }
  return {
    execution_id,
    intent_id: claimed.subject,
    tool,
    result,
    reason_code,
    exit_code: outcome.exit_code,
    signal: outcome.signal,
    finished_at: outcome.finished_at,
    stdout: outcome.stdout.bytes,
    stdout_bytes: outcome.stdout.total,
    stderr: outcome.stderr.bytes,
    stderr_bytes: outcome.stderr.total,
  };
}

/** A tool that was killed may have done half of its work: that is `partial`, and blocks like in doubt. */
function judge(outcome: Outcome): { result: Report['result']; reason_code: ReasonCode | null } {
  if (!outcome.started) return { result: 'failure', reason_code: 'TOOL_NOT_STARTED' };
  if (outcome.timed_out) return { result: 'partial', reason_code: 'TOOL_TIMED_OUT' };
  if (outcome.signal !== null) return { result: 'partial', reason_code: 'TOOL_KILLED' };
  if (outcome.exit_code !== 0) return { result: 'failure', reason_code: 'TOOL_EXIT_NONZERO' };
  return { result: 'success', reason_code: null };
}

function captured({ bytes, total, truncated }: Outcome['stdout']) {
  return { digest: sha256(bytes), bytes: total, truncated };
}

function placesOf({ hidden_paths, protected_paths, digests }: Context) {
  return { hidden: hidden_paths, protected: protected_paths, digests };
}

function refused(subject: string, hash: string) {
  return (reason_code: ReasonCode): Event => ({
    kind: 'execution.refused',
    subject,
    body: { hash, reason_code },
  });
}
