import { randomUUID } from 'node:crypto';
import { sha256 } from '../canonical/digest.ts';
import type { Event } from '../event/event.ts';
import type { Verdict } from '../gate/eligible.ts';
import type { IntentState } from '../gate/state.ts';
import { type ReasonCode, Refusal, refuse } from '../refusal.ts';
import { provenState } from './audit.ts';
import { check, judge, requireFormats } from './check.ts';
import { type Context, recordingRefusal } from './context.ts';
import type { Captured, Derived, Effect, Ended, Prepared, Progress } from './derived.ts';
import { requireSameEffect } from './effect.ts';

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
  readonly onProgress?: (progress: Progress) => void;
}

export interface Report extends Ended {
  readonly execution_id: string;
  readonly intent_id: string;
  readonly tool: string;
  /** Where the reports of a plan are. */
  readonly folder: string | null;
}

/** Everything that `run` checks, and nothing that it does. Records nothing. */
export async function preview(context: Context, intent_id: string, hash: string): Promise<Preview> {
  const state = await requireEligible(context, intent_id, hash);
  const derived = await requireSameEffect(context, state);
  derived.prepare().close();
  return { state, effect: derived.effect };
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

    // 3. All of it again, because the human may have taken an hour, and from the signed entries: a row can be forged.
    const state = requireYes(await judge(context, await provenState(context, intent_id), hash));
    const derived = await requireSameEffect(context, state);
    const prepared = derived.prepare();
    try {
      // 4. The claim is durable before the effect begins. At most once is this and nothing else.
      const claimed = claim(context, state, derived, prepared);
      await take(context, claimed);

      // 5. The one effect, then its record, always.
      return await record(context, claimed, await effectOf(prepared, claimed, request));
    } finally {
      prepared.close();
    }
  });
}

async function requireEligible(context: Context, intent_id: string, hash: string): Promise<IntentState> {
  return requireYes(await check(context, intent_id, hash));
}

function requireYes(verdict: Verdict): IntentState {
  if (verdict.eligible) return verdict.state;
  return refuse(
    verdict.code,
    undefined,
    verdict.executed_at === null ? {} : { executed_at: verdict.executed_at },
  );
}

function claim(
  context: Context,
  state: IntentState,
  derived: Derived,
  prepared: Prepared,
): Event<'execution.claimed'> {
  return {
    kind: 'execution.claimed',
    subject: state.intent_id,
    body: {
      execution_id: randomUUID(),
      attempt: state.attempt,
      hash: state.hash,
      effect_digest: state.effect_digest,
      registry_digest: derived.registry_digest,
      tool: derived.name,
      reports: prepared.reports,
      executor: context.process,
    },
  };
}

/** Whoever comes second is told when the first one came. */
async function take({ store }: Context, claimed: Event<'execution.claimed'>): Promise<void> {
  const { subject, body } = claimed;
  try {
    await store.commit({ claims: [`execution:${subject}:${body.attempt}`], events: [claimed] });
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'CLAIM_TAKEN') throw error;
    const first = (await store.intent(subject))?.runs.at(-1);
    refuse('CLAIM_TAKEN', undefined, first ? { executed_at: first.claimed_at } : {});
  }
}

/** From the claim on nothing is a refusal any more: whatever goes wrong may have happened, and stays in doubt. */
async function effectOf(
  prepared: Prepared,
  { body }: Event<'execution.claimed'>,
  { abort, onProgress }: RunRequest,
): Promise<Ended> {
  const { execution_id } = body;
  try {
    return await prepared.run({ execution_id, ...(abort && { abort }), ...(onProgress && { onProgress }) });
  } catch (error) {
    return inDoubt(execution_id, error);
  }
}

async function record(context: Context, claimed: Event<'execution.claimed'>, ended: Ended): Promise<Report> {
  const { execution_id, attempt, tool, reports: folder } = claimed.body;
  const { result, reason_code, exit_code, signal, started_at, finished_at } = ended;
  const reports = Object.entries(ended.reports);
  const finished: Event<'execution.finished'> = {
    kind: 'execution.finished',
    subject: claimed.subject,
    body: {
      execution_id,
      attempt,
      tool,
      result,
      reason_code,
      exit_code,
      signal,
      started_at,
      finished_at,
      stdout: captured(ended.stdout),
      stderr: captured(ended.stderr),
      reports: Object.fromEntries(reports.map(([name, bytes]) => [name, sha256(bytes)])),
    },
  };
  const objects = [ended.stdout.bytes, ended.stderr.bytes, ...reports.map(([, bytes]) => bytes)];
  try {
    await context.store.commit({ events: [finished], objects });
  } catch (error) {
    inDoubt(execution_id, error);
  }
  return { ...ended, execution_id, intent_id: claimed.subject, tool, folder };
}

function inDoubt(execution_id: string, error: unknown): never {
  const because = error instanceof Refusal ? error.code : 'INTERNAL';
  return refuse('RECORDING_FAILED', undefined, { execution_id, because });
}

function captured({ bytes, total, truncated }: Captured) {
  return { digest: sha256(bytes), bytes: total, truncated };
}

function refused(subject: string, hash: string) {
  return (reason_code: ReasonCode): Event => ({
    kind: 'execution.refused',
    subject,
    body: { hash, reason_code },
  });
}
