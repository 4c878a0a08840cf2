import { CALLER_ID } from '../event/agent.ts';
import type { Body, Event } from '../event/event.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { moved } from './agent-move.ts';
import {
  type AgentPlan,
  type AgentState,
  type AgentStep,
  isOpen,
  isOver,
  liveAgentPlan,
  type Turn,
} from './agent-state.ts';
import { conversationStatus } from './conversation.ts';

/** The events that move a correlation of the agent core. */
export const AGENT_KINDS = [
  'agent.received',
  'agent.planned',
  'agent.confirmed',
  'agent.access',
  'agent.moved',
] as const;

export type AgentEvent = Event<(typeof AGENT_KINDS)[number]>;

/** `agent:<correlation id>`. */
export function correlationOf(subject: string): string {
  const correlation_id = subject.startsWith('agent:') ? subject.slice('agent:'.length) : '';
  if (!CALLER_ID.test(correlation_id)) refuse('SHAPE_INVALID', `"${subject}" does not name a correlation.`);
  return correlation_id;
}

/**
 * The one state machine of the agent core. Pure; `at` is the time of the ledger entry. A plan is made from a match of
 * the finder and from nothing else, it moves only as AGENT_PLAN_MOVES and STEP_MOVES say, and each move names the state that
 * it leaves: of two turns that move the same step, the second is refused.
 */
export function nextAgent(state: AgentState | null, event: AgentEvent, at: string): AgentState {
  const told = after(state, event, at);
  return { ...told, status: conversationStatus(told) };
}

type Told = Omit<AgentState, 'status'>;

function after(state: AgentState | null, event: AgentEvent, at: string): Told {
  if (event.kind === 'agent.received') return received(state, event, at);
  if (state === null) refuse('AGENT_TRANSITION_ILLEGAL', 'Nothing was asked under this correlation.');
  switch (event.kind) {
    case 'agent.planned':
      return { ...state, plans: [...state.plans, planned(state, event, at)] };
    case 'agent.confirmed':
      return withStep(state, event.body, (step) => confirmed(step, event.body, at));
    case 'agent.access':
      return withStep(state, event.body, (step) => accessed(state, step, event.body, at));
    case 'agent.moved':
      return withPlan(state, event.body.plan_id, (plan) => moved(plan, event.body, at));
  }
}

function received(state: AgentState | null, { subject, body }: Event<'agent.received'>, at: string): Told {
  const { user_id, thread_id, ...rest } = body;
  const turn: Turn = { at, ...rest };
  if (state === null)
    return {
      correlation_id: correlationOf(subject),
      user_id,
      thread_id,
      begun_at: at,
      turns: 1,
      turn,
      plans: [],
    };
  // The attacker is another user who answers in the name of this one.
  if (state.user_id !== user_id || state.thread_id !== thread_id)
    refuse('AGENT_TRANSITION_ILLEGAL', 'This correlation belongs to another user or thread.');
  if (state.turn.turn_id === body.turn_id)
    refuse('AGENT_TRANSITION_ILLEGAL', 'This turn was received before.');
  return { ...state, turns: state.turns + 1, turn };
}

/** From the match of the newest turn, used once; or, to undo, from a plan of this correlation that is over. */
function planned(state: AgentState, { body }: Event<'agent.planned'>, at: string): AgentPlan {
  const { plan_id, plan, rolls_back, template, steps, risk_level, refs } = body;
  if (liveAgentPlan(state)) refuse('AGENT_TRANSITION_ILLEGAL', 'Another plan of this correlation goes on.');
  if (state.plans.some((known) => known.plan_id === plan_id))
    refuse('AGENT_TRANSITION_ILLEGAL', 'This plan was made before.');
  if (state.plans.length >= limits.conversation_plans)
    refuse(
      'AGENT_TRANSITION_ILLEGAL',
      `A conversation has at most ${limits.conversation_plans} plans. Begin another one.`,
    );
  if (new Set(steps.map(({ step_id }) => step_id)).size < steps.length)
    refuse('AGENT_TRANSITION_ILLEGAL', 'A plan has each step once.');
  const finder_packet = rolls_back === null ? matchOf(state) : undoneOf(state, rolls_back).finder_packet;
  if (refs.finder_packet_ref !== finder_packet)
    refuse('AGENT_REFS_MISSING', 'The plan does not name the packet that it is made from.');
  const now = { reason_code: 'PLAN_CREATED', changed_at: at } as const;
  return {
    plan_id,
    plan,
    rolls_back,
    template,
    finder_packet,
    risk_level,
    state: 'CREATED',
    created_at: at,
    ...now,
    steps: steps.map((step) => Object.assign({}, step, NEW_STEP, now)),
  };
}

const NEW_STEP = {
  state: 'PENDING',
  confirmation: null,
  access: null,
  idempotency_key: null,
  intent_id: null,
  execution_id: null,
  outcome: null,
} as const;

function matchOf({ turn, plans }: AgentState): string {
  if (turn.packet_kind !== 'SIMULATION_MATCH')
    refuse('AGENT_TRANSITION_ILLEGAL', `A packet of kind ${turn.packet_kind} leads to no plan.`);
  if (plans.some(({ finder_packet }) => finder_packet === turn.finder_packet))
    refuse('AGENT_TRANSITION_ILLEGAL', 'A plan was made from this packet before.');
  return turn.finder_packet;
}

function undoneOf({ plans }: AgentState, plan_id: string): AgentPlan {
  const undone = plans.find((plan) => plan.plan_id === plan_id);
  // What failed may have been retried by a human since, and have happened after all: its intent tells.
  if (!undone || !isOver(undone) || undone.steps.every(({ intent_id }) => intent_id === null))
    refuse('AGENT_TRANSITION_ILLEGAL', 'There is no such plan to undo.');
  if (plans.some(({ rolls_back, state }) => rolls_back === plan_id && state === 'COMPLETED'))
    refuse('AGENT_TRANSITION_ILLEGAL', 'The plan was undone before.');
  return undone;
}

/**
 * Only a step that waits for a yes takes one. A no is taken at any moment until the dispatch, whether or not the user was
 * asked, and is final.
 */
function confirmed(step: AgentStep, { answer, proof }: Body<'agent.confirmed'>, at: string): AgentStep {
  const withdraws = answer === 'NO' && isOpen(step) && step.state !== 'EXECUTING';
  if ((step.state !== 'WAITING_CONFIRM' && !withdraws) || step.confirmation?.answer === 'NO')
    refuse('AGENT_TRANSITION_ILLEGAL', 'The step does not wait for an answer.', { state: step.state });
  return { ...step, confirmation: { answer, proof, at } };
}

/** The newest decision counts, so a later no blocks the dispatch. */
function accessed(state: AgentState, step: AgentStep, body: Body<'agent.access'>, at: string): AgentStep {
  const { user_id, decision, outcome, intent_id } = body;
  if (user_id !== state.user_id)
    refuse('ACCESS_SCOPE_VIOLATION', 'The decision is about another user than the one who asked.');
  if (!isOpen(step) || step.state === 'EXECUTING')
    refuse('AGENT_TRANSITION_ILLEGAL', 'The step needs no decision any more.', { state: step.state });
  return { ...step, access: { outcome, decision, intent_id, at } };
}

function withPlan(state: AgentState, plan_id: string, change: (plan: AgentPlan) => AgentPlan): AgentState {
  const plan = state.plans.find((known) => known.plan_id === plan_id);
  if (!plan) refuse('AGENT_TRANSITION_ILLEGAL', 'This correlation has no such plan.');
  if (isOver(plan)) refuse('AGENT_TRANSITION_ILLEGAL', 'The plan is over.', { state: plan.state });
  return { ...state, plans: state.plans.map((known) => (known === plan ? change(plan) : known)) };
}

function withStep(
  state: AgentState,
  { plan_id, step_id }: { readonly plan_id: string; readonly step_id: string },
  change: (step: AgentStep) => AgentStep,
): AgentState {
  return withPlan(state, plan_id, (plan) => {
    if (!plan.steps.some((step) => step.step_id === step_id))
      refuse('AGENT_TRANSITION_ILLEGAL', 'The plan has no such step.');
    const steps = plan.steps.map((step) => (step.step_id === step_id ? change(step) : step));
    return { ...plan, steps };
  });
}
