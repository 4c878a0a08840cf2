import type { Digest } from '../canonical/digest.ts';
import type { Event } from '../event/event.ts';
import type { IntentState } from '../gate/state.ts';
import { isReasonCode } from '../refusal.ts';
import { notDone, type RanUntil } from './answer.ts';
import type { AgentContext } from './context.ts';
import { type AgentExecutionOutcome, outcomes, type Sealed, type SimulationOutcome } from './contracts.ts';
import type { MoveReason } from './moves.ts';
import type { Refs } from './plan.ts';
import { sayingsIn } from './spoken.ts';
import type { StepInAgentPlan } from './step-in-plan.ts';

export type EndState = 'SUCCEEDED' | 'FAILED_RETRYABLE' | 'FAILED_TERMINAL';

/** How a step ended, as the record of its run says. Nothing is taken from the memory of a process. */
export interface StepEnd {
  readonly to: EndState;
  readonly reason_code: MoveReason;
  readonly execution_id: string | null;
  readonly outcome: Sealed<AgentExecutionOutcome>;
}

/** What a run left in the ledger: its last entry, with the hash that names it. */
interface Ended {
  readonly hash: Digest;
  readonly event: Event<'execution.finished' | 'execution.resolved'>;
}

async function endOf({ journey }: AgentContext, intent_id: string): Promise<Ended | null> {
  const sealed = (await journey.store.entriesOf(intent_id)).toReversed();
  for (const { bytes, hash } of sealed) {
    const { event } = journey.read_entry(bytes);
    if (event.kind === 'execution.finished' || event.kind === 'execution.resolved') return { hash, event };
  }
  return null;
}

/**
 * The end of a step whose run is over, or that never ran and never will. `why` is known only to the process that saw
 * it, such as a timeout; a process that settles it later has only the record.
 */
export async function stepEnd(
  context: AgentContext,
  current: Pick<StepInAgentPlan, 'plan' | 'step'>,
  decision: { readonly refs: Refs; readonly hash: Digest },
  intent: IntentState | null,
  language: string | undefined,
  why?: MoveReason,
  differs: readonly string[] = [],
): Promise<StepEnd> {
  const ended = intent && intent.runs.length > 0 ? await endOf(context, intent.intent_id) : null;
  const ran = ended && intent ? simulationOutcome(intent, ended.event) : null;
  const to = endState(ran);
  const reason_code = to === 'SUCCEEDED' ? 'STEP_SUCCEEDED' : (why ?? codeOf(ran) ?? 'STEP_FAILED');
  const { refs, hash } = decision;
  const outcome = outcomes.seal({
    format: 'keyturn-agent-outcome/1',
    step_id: current.step.step_id,
    simulation_outcome: ran,
    audit_event_id: ended?.hash ?? null,
    proof_refs: proofsOf(refs, hash, ended),
    dispatch_decision_hash: hash,
    next_step: to === 'SUCCEEDED' ? nextStep(current) : null,
    reason_code,
    user_visible_text:
      to === 'SUCCEEDED' ? sayingsIn(language).done : notDone(language, reason_code, differs, ranUntil(ran)),
  });
  return { to, reason_code, execution_id: ran?.execution_id ?? null, outcome };
}

/** Everything that the outcome rests on, so that the chain can be followed from it alone. */
function proofsOf(refs: Refs, decision: Digest, ended: Ended | null): Digest[] {
  const { finder_packet_ref, access_decision_ref, confirmation_parse_proof_ref } = refs;
  const all = [finder_packet_ref, access_decision_ref, confirmation_parse_proof_ref, decision, ended?.hash];
  return all.filter((ref) => typeof ref === 'string');
}

function simulationOutcome(intent: IntentState, { kind, body }: Ended['event']): SimulationOutcome {
  const run = intent.runs.at(-1)!;
  const { execution_id, capability_id } = run;
  const about = { intent_id: intent.intent_id, execution_id, capability_id };
  if (kind === 'execution.resolved')
    return { ...about, result: body.outcome, reason_code: null, exit_code: null, stdout: null, stderr: null };
  const { result, reason_code, exit_code, stdout, stderr } = body;
  return { result, reason_code, exit_code, stdout, stderr, ...about };
}

/** A clean failure may be worth a human's retry. What was left half done, or was refused, is not. */
function endState(ran: SimulationOutcome | null): EndState {
  switch (ran?.result) {
    case 'success':
    case 'happened':
      return 'SUCCEEDED';
    case 'failure':
    case 'rolled_back':
    case 'did_not_happen':
      return 'FAILED_RETRYABLE';
    default:
      return 'FAILED_TERMINAL';
  }
}

/** A program that failed may have changed something first. That it did not happen, only a human or a rollback can say. */
function ranUntil(ran: SimulationOutcome | null): RanUntil {
  if (ran === null || ran.result === 'did_not_happen') return 'not_done';
  return ran.result === 'rolled_back' ? 'rolled_back' : 'failed';
}

function codeOf(ran: SimulationOutcome | null): MoveReason | null {
  const code = ran?.reason_code ?? null;
  return code !== null && isReasonCode(code) ? code : null;
}

export function nextStep({ plan, step }: Pick<StepInAgentPlan, 'plan' | 'step'>): Digest | null {
  const place = plan.ordered_steps.findIndex(({ step_id }) => step_id === step.step_id);
  return plan.ordered_steps[place + 1]?.step_id ?? null;
}
