import { type AgentPlan, type AgentState, currentStep, isOver, liveAgentPlan } from '../gate/agent-state.ts';
import { requireIntent } from '../journey/context.ts';
import { standingNow } from '../journey/standing.ts';
import { Refusal, refuse } from '../refusal.ts';
import { cancelledAnswer, confirmAnswer, pausedAnswer } from './answer.ts';
import type { AgentAnswer, AwaitsApprover, Confirm, Dispatched, Paused } from './answer-shape.ts';
import { type AgentContext, requireCorrelation } from './context.ts';
import { outcomes } from './contracts.ts';
import { settle } from './executor.ts';
import { openStep } from './match.ts';
import { observedDispatch } from './observe.ts';
import { readResult } from './result.ts';
import { definitionOf } from './snapshot.ts';
import { languageLeft, sayingsIn, spokenLanguage } from './spoken.ts';
import { envelopeOf, type StepInAgentPlan, stepInAgentPlan } from './step-in-plan.ts';
import { weigh } from './weigh.ts';

/**
 * Goes on from what the ledger says, and from nothing else: the same after a crash, in another process, or a week later.
 * One step at most is dispatched; after a yes, only the step that it was said to: another process may have done that one
 * in the meantime, and a yes is not for the next.
 */
export async function advance(
  context: AgentContext,
  correlation_id: string,
  user_id: string | undefined,
  only?: Pick<StepInAgentPlan, 'plan' | 'step'>,
): Promise<AgentAnswer> {
  const state = await requireCorrelation(context, correlation_id, user_id);
  const plan = liveAgentPlan(state);
  const step = plan && currentStep(plan);
  const meant = only && state.plans.find(({ plan_id }) => plan_id === only.plan.plan_id);
  if (!plan || !step || (only && (plan !== meant || step.step_id !== only.step.step_id)))
    return answerNow(context, state, meant);
  const current = await stepInAgentPlan(context, state, plan, step.step_id);
  switch (step.state) {
    case 'PENDING':
      await openNext(context, current);
      return advance(context, correlation_id, user_id, only);
    case 'READY':
      return dispatched(context, current, await observedDispatch(context, envelope(context, current)));
    case 'EXECUTING':
      return dispatched(context, current, await settle(context, correlation_id, plan.plan_id, step.step_id));
    default:
      return waiting(context, current);
  }
}

function envelope({ journey }: AgentContext, current: StepInAgentPlan) {
  return envelopeOf(current, journey.store.tenant);
}

/** The next step of a plan that waited for the next turn. */
async function openNext(
  context: AgentContext,
  { state, plan, plan_now, step }: StepInAgentPlan,
): Promise<void> {
  const { user_id } = state;
  const now = context.journey.clock();
  const weighed = await weigh(context, { user_id, plan, step, confirmation: null, now });
  const opening = { plan, plan_now, step, user_id, language: await languageLeft(context, state) };
  const { events, objects } = await openStep(context, opening, weighed);
  await context.journey.store.commit({ events, objects });
}

async function dispatched(
  context: AgentContext,
  before: StepInAgentPlan,
  done: Dispatched,
): Promise<AgentAnswer> {
  const { correlation_id, plan_id } = before.plan;
  const { step_id } = before.step;
  if (done.kind === 'AWAITS_APPROVER') {
    const { intent_id, hash } = done;
    const whom = await awaitedNow(context, intent_id);
    return {
      kind: 'AWAITS_APPROVER',
      correlation_id,
      plan_id,
      step_id,
      intent_id,
      hash,
      ...whom,
      reason_code: 'ACCESS_AP_REQUIRED',
      user_visible_text: awaitedWords(whom),
    };
  }
  const state = await promptNext(context, await requireCorrelation(context, correlation_id, undefined));
  return outcomeAnswer(context, state, plan_id, done);
}

type Awaited = Pick<AwaitsApprover, 'missing' | 'reviewers'>;

/** At least one: where a delegation approved it, the signature of a human is missing all the same. */
async function awaitedNow({ journey }: AgentContext, intent_id: string): Promise<Awaited> {
  const { missing, reviewers } = await standingNow(journey, await requireIntent(journey, intent_id));
  return { missing: Math.max(1, missing), reviewers: await reviewers() };
}

function awaitedWords({ missing, reviewers }: Awaited): string {
  const who = missing === 1 ? 'An approver has' : `${missing} approvers have`;
  const asked = reviewers?.length ? ` Asked: ${reviewers.join(', ')}.` : '';
  return `${who} to sign this first.${asked} Nothing is done yet.`;
}

/** The prompt for the next step comes with the outcome of this one, and as with the first: looked at before it is shown. */
async function promptNext(context: AgentContext, state: AgentState): Promise<AgentState> {
  const plan = liveAgentPlan(state);
  const step = plan && currentStep(plan);
  if (plan?.state !== 'PAUSED' || step?.state !== 'PENDING' || !step.confirmation_required) return state;
  try {
    await openNext(context, await stepInAgentPlan(context, state, plan, step.step_id));
  } catch (error) {
    // Another process was faster, or it is not to be: the ledger says so. What was done is told all the same.
    if (!(error instanceof Refusal)) throw error;
  }
  return requireCorrelation(context, state.correlation_id, undefined);
}

async function outcomeAnswer(
  context: AgentContext,
  state: AgentState,
  plan_id: string,
  { outcome, outcome_ref, is_duplicate }: Extract<Dispatched, { kind: 'OUTCOME' }>,
): Promise<AgentAnswer> {
  const { correlation_id } = state;
  const { reason_code, user_visible_text } = outcome;
  const shared = { correlation_id, reason_code, user_visible_text };
  if (outcome.simulation_outcome === null) return { kind: 'REFUSED', ...shared, outcome, outcome_ref };
  const plan = state.plans.find((one) => one.plan_id === plan_id)!;
  const { done_before } = sayingsIn(await languageLeft(context, state));
  return {
    kind: 'OUTCOME',
    ...shared,
    ...(is_duplicate && outcome.reason_code === 'STEP_SUCCEEDED' && { user_visible_text: done_before }),
    plan_id,
    plan_state: plan.state,
    outcome,
    outcome_ref,
    is_duplicate,
    result: await readResult(context, state, plan, outcome),
    next: await nextOf(context, state, plan),
  };
}

async function nextOf(
  context: AgentContext,
  state: AgentState,
  plan: AgentPlan,
): Promise<Confirm | Paused | null> {
  const step = isOver(plan) ? null : currentStep(plan);
  if (!step) return null;
  const current = await stepInAgentPlan(context, state, plan, step.step_id);
  return step.state === 'WAITING_CONFIRM' ? waiting(context, current) : pausedAnswer(current);
}

/** The prompt, in the language of the conversation. */
export async function waiting(
  context: AgentContext,
  current: StepInAgentPlan,
  reason_code?: 'CONFIRMATION_AMBIGUOUS',
  language?: string,
): Promise<Confirm> {
  const definition = await definitionOf(context, current.step.definition);
  const spoken = language ?? (await spokenLanguage(context, current.state));
  return confirmAnswer(current, definition, spoken, reason_code);
}

/** Where a correlation stands, when nothing is to be done: what its newest plan, or this one, came to or waits for. */
export async function answerNow(
  context: AgentContext,
  state: AgentState,
  plan: AgentPlan | undefined = state.plans.at(-1),
): Promise<AgentAnswer> {
  if (!plan) return refuse('AGENT_TRANSITION_ILLEGAL', 'There is no plan in this correlation.');
  return isOver(plan) ? endOf(context, state, plan) : stands(context, state, plan);
}

async function stands(context: AgentContext, state: AgentState, plan: AgentPlan): Promise<AgentAnswer> {
  const step = currentStep(plan)!;
  const current = await stepInAgentPlan(context, state, plan, step.step_id);
  if (step.state === 'WAITING_CONFIRM') return waiting(context, current);
  const awaits = step.state === 'READY' ? (step.access?.intent_id ?? null) : null;
  return awaits === null ? pausedAnswer(current) : awaited(context, current, awaits);
}

async function endOf(context: AgentContext, state: AgentState, plan: AgentPlan): Promise<AgentAnswer> {
  const last = plan.steps.findLast((step) => step.outcome !== null);
  if (!last || plan.state === 'CANCELLED')
    return cancelledAnswer(plan, state.correlation_id, plan.reason_code, await languageLeft(context, state));
  const outcome = outcomes.open(await context.journey.store.object(last.outcome!));
  const done = { kind: 'OUTCOME', outcome, outcome_ref: last.outcome!, is_duplicate: true } as const;
  return outcomeAnswer(context, state, plan.plan_id, done);
}

async function awaited(
  context: AgentContext,
  current: StepInAgentPlan,
  intent_id: string,
): Promise<AgentAnswer> {
  const { hash } = await requireIntent(context.journey, intent_id);
  return dispatched(context, current, { kind: 'AWAITS_APPROVER', intent_id, hash });
}
