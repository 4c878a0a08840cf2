import type { Digest } from '../canonical/digest.ts';
import type { Body, Event } from '../event/event.ts';
import { isAuditor } from '../identity/auditor.ts';
import type { Principal } from '../identity/principal.ts';
import { refuse } from '../refusal.ts';
import { isDispatch, isEnd } from './agent-move.ts';
import type { AgentPlan, AgentState, AgentStep, Dispatch } from './agent-state.ts';
import { requireActive, type Simulation } from './simulation.ts';
import type { IntentState } from './state.ts';

type Moved = Event<'agent.moved'>;

/** Pure: what is known of an idempotency key after this move; null when the move is not about one. */
export function nextDispatch(before: Dispatch | null, { body }: Moved, state: AgentState): Dispatch | null {
  if (!isDispatch(body) && !isEnd(body)) return null;
  const { idempotency_key, plan_id, step_id, intent_id, execution_id, outcome } = body;
  if (isEnd(body)) {
    if (before === null) refuse('AGENT_TRANSITION_ILLEGAL', 'Nothing was dispatched under this key.');
    return { ...before, execution_id, outcome };
  }
  if (before !== null) refuse('IDEMPOTENCY_VIOLATION');
  const { correlation_id } = state;
  return {
    idempotency_key: idempotency_key!,
    correlation_id,
    plan_id,
    step_id: step_id!,
    intent_id: intent_id!,
    execution_id,
    outcome: null,
  };
}

/** What a move rests on besides the correlation itself. */
export interface DispatchGrounds {
  simulation(id: string): Simulation | null;
  intent(intent_id: string): IntentState | null;
  principal(name: string): Principal | null;
  /** The policies that are active now. */
  readonly policy: Digest | null;
}

/**
 * The last look before an effect, inside the transaction that writes the dispatch: the simulation is active now, in the
 * version that was planned, and so is the template that it is a step of; the policies are those that were asked; and the
 * user was not revoked meanwhile, and is no agent and no auditor. And the last look after it: a step ends as its run did.
 */
export function requireDispatchGrounds(
  state: AgentState | null,
  { body }: Moved,
  at: string,
  facts: DispatchGrounds,
): void {
  if (isDispatch(body)) {
    requireStands(state, body, at, facts);
    if (body.refs.policy_snapshot_ref !== facts.policy) refuse('DECISION_STALE');
  }
  if (isEnd(body)) requireRan(body.intent_id === null ? null : facts.intent(body.intent_id), body);
}

/**
 * What a step rests on, when it is dispatched and again when its run is claimed: it and the template that it is a step of are
 * active, and the user who asked for it is no agent, is no auditor and was not revoked.
 */
export function requireStands(
  state: AgentState | null,
  of: Pick<Body<'agent.moved'>, 'plan_id' | 'step_id'>,
  at: string,
  facts: Pick<DispatchGrounds, 'simulation' | 'principal'>,
): void {
  const { plan, step } = stepOf(state, of);
  for (const one of plan.template ? [plan.template, step] : [step])
    requireActive(facts.simulation(one.simulation), one, at);
  const user = facts.principal(state!.user_id);
  if (user?.kind === 'agent') refuse('USER_IS_AGENT');
  if (user?.status === 'revoked') refuse('ACCESS_SCOPE_VIOLATION', 'The user who asked for it was revoked.');
  if (user && isAuditor(user))
    refuse('ACCESS_SCOPE_VIOLATION', 'The user who asked for it is an auditor, who acts on nothing.');
}

function stepOf(
  state: AgentState | null,
  { plan_id, step_id }: Pick<Body<'agent.moved'>, 'plan_id' | 'step_id'>,
): { readonly plan: AgentPlan; readonly step: AgentStep } {
  const plan = state?.plans.find((known) => known.plan_id === plan_id);
  const step = plan?.steps.find((known) => known.step_id === step_id);
  if (!plan || !step) return refuse('AGENT_TRANSITION_ILLEGAL', 'There is no such plan or step.');
  return { plan, step };
}

/** The agent core never says how a run ended: the record of the run does. */
function requireRan(intent: IntentState | null, { to, execution_id }: Body<'agent.moved'>): void {
  const run = intent?.runs.at(-1) ?? null;
  if ((run?.execution_id ?? null) !== execution_id)
    refuse('EXECUTION_NOT_FOUND', 'The newest run of the intent is another one.');
  if (intent === null || run === null) return;
  if (intent.status === 'claimed') refuse('RUN_IN_DOUBT', undefined, { execution_id: run.execution_id });
  const has_happened = run.result === 'success' || intent.status === 'happened';
  if (has_happened !== (to === 'SUCCEEDED'))
    refuse('AGENT_TRANSITION_ILLEGAL', 'The step does not end as its run did.', { status: intent.status });
  if (to === 'FAILED_RETRYABLE' && intent.status !== 'failed' && intent.status !== 'rolled_back')
    refuse('AGENT_TRANSITION_ILLEGAL', 'What was left half done cannot be retried.', {
      status: intent.status,
    });
}
