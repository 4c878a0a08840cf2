import { sha256 } from '../../src/canonical/digest.ts';
import type { Body, Event } from '../../src/event/event.ts';
import { type AgentEvent, nextAgent } from '../../src/gate/agent.ts';
import type { AgentState } from '../../src/gate/agent-state.ts';

/** Events of one correlation, short to write. Every test of the agent core's states tells its story with these. */
export const CORRELATION = 'goal-1';
export const AT = '2026-01-15T12:00:00.000Z';
export const PLAN = sha256('plan');
export const STEP = sha256('step 1');
export const STEP_2 = sha256('step 2');
export const PACKET = sha256('packet turn-1');
export const PROOF = sha256('proof');
export const ACCESS = sha256('access');
export const KEY = sha256('key');
export const INTENT = 'b2831d73-2708-4f50-944b-7b54f11bfbb4';
export const RUN = '0c9d8a52-7d3b-4f0e-9a43-0d6a3f3a5d01';
export const OUTCOME = sha256('outcome');

type Refs = Body<'agent.moved'>['refs'];
type Step = Body<'agent.planned'>['steps'][number];

export const refs = (over: Partial<Refs> = {}): Refs => ({
  finder_packet_ref: PACKET,
  policy_snapshot_ref: 'bc'.repeat(32),
  catalog_snapshot_ref: sha256('catalog'),
  artifact_fingerprint_bundle_ref: sha256('artifacts'),
  access_decision_ref: ACCESS,
  confirmation_parse_proof_ref: PROOF,
  rollback_plan_ref: 'user.delete',
  ...over,
});

/** The packet follows from the turn: `PACKET` is that of `turn-1`. */
export function received(over: Partial<Body<'agent.received'>> = {}, correlation = CORRELATION): AgentEvent {
  const turn_id = over.turn_id ?? 'turn-1';
  const body = {
    turn_id,
    user_id: 'mia',
    thread_id: 'thread-1',
    packet_kind: 'SIMULATION_MATCH' as const,
    finder_packet: sha256(`packet ${turn_id}`),
    goal: sha256(`goal ${turn_id}`),
    catalog_snapshot: sha256('catalog'),
    policy_snapshot: sha256('policy'),
    reason_code: 'FINDER_MATCHED',
    ...over,
  };
  return { kind: 'agent.received', subject: `agent:${correlation}`, body };
}

export const step = (step_id = STEP, over: Partial<Step> = {}): Step => ({
  step_id,
  simulation: 'user.create',
  version: 1,
  confirmation_required: true,
  impactful: true,
  ...over,
});

export function planned(
  over: Partial<Body<'agent.planned'>> = {},
  correlation = CORRELATION,
): Event<'agent.planned'> {
  const body = {
    plan_id: PLAN,
    plan: sha256('plan object'),
    rolls_back: null,
    template: null,
    steps: [step()],
    risk_level: 'LOW' as const,
    refs: refs({ access_decision_ref: null, confirmation_parse_proof_ref: null }),
    ...over,
  };
  return { kind: 'agent.planned', subject: `agent:${correlation}`, body };
}

export function confirmed(
  answer: Body<'agent.confirmed'>['answer'],
  over: Partial<Body<'agent.confirmed'>> = {},
  correlation = CORRELATION,
): Event<'agent.confirmed'> {
  const confirm_lexicon_version_ref = `confirm-lexicon/1+sha256:${'ab'.repeat(32)}`;
  const about = { plan_id: PLAN, step_id: STEP, answer, proof: PROOF, text: null };
  const body = { ...about, confirm_lexicon_version_ref, ...over };
  return { kind: 'agent.confirmed', subject: `agent:${correlation}`, body };
}

export function accessed(
  outcome: Body<'agent.access'>['outcome'],
  over: Partial<Body<'agent.access'>> = {},
  correlation = CORRELATION,
): Event<'agent.access'> {
  const about = { plan_id: PLAN, step_id: STEP, user_id: 'mia', access_action: 'user.create' };
  const body = { ...about, decision: ACCESS, outcome, intent_id: null, ...over };
  return { kind: 'agent.access', subject: `agent:${correlation}`, body };
}

type Move = Body<'agent.moved'>;

export function moved(
  step_id: string | null,
  from: Move['from'],
  to: Move['to'],
  over: Partial<Move> = {},
  correlation = CORRELATION,
): Event<'agent.moved'> {
  const body = {
    plan_id: PLAN,
    step_id,
    from,
    to,
    reason_code: 'CHECKS_PASSED' as const,
    idempotency_key: null,
    intent_id: null,
    execution_id: null,
    refs: refs(),
    dispatch_decision_hash: null,
    dispatch_ms: null,
    outcome: null,
    ...over,
  };
  return { kind: 'agent.moved', subject: `agent:${correlation}`, body };
}

const DISPATCH = {
  reason_code: 'STEP_DISPATCHED' as const,
  idempotency_key: KEY,
  intent_id: INTENT,
  dispatch_decision_hash: sha256('decision'),
};

export const dispatched = (over: Partial<Move> = {}, correlation = CORRELATION) =>
  moved(over.step_id ?? STEP, 'READY', 'EXECUTING', { ...DISPATCH, ...over }, correlation);

const END = { idempotency_key: KEY, intent_id: INTENT, execution_id: RUN, outcome: OUTCOME, dispatch_ms: 40 };

export const ended = (
  to: 'SUCCEEDED' | 'FAILED_RETRYABLE' | 'FAILED_TERMINAL',
  over: Partial<Move> = {},
  correlation = CORRELATION,
) => moved(over.step_id ?? STEP, 'EXECUTING', to, { ...END, ...over }, correlation);

/** From the question to the moment before the dispatch, with a yes and with access. */
export const ready = (correlation = CORRELATION): AgentEvent[] => [
  received({}, correlation),
  planned({}, correlation),
  moved(STEP, 'PENDING', 'WAITING_CONFIRM', {}, correlation),
  moved(null, 'CREATED', 'WAITING_CONFIRM', {}, correlation),
  confirmed('YES', {}, correlation),
  moved(STEP, 'WAITING_CONFIRM', 'READY', {}, correlation),
  accessed('ALLOW', {}, correlation),
  moved(null, 'WAITING_CONFIRM', 'READY', {}, correlation),
  moved(null, 'READY', 'IN_PROGRESS', {}, correlation),
];

export function fold(...events: AgentEvent[]): AgentState {
  return events.reduce<AgentState | null>((state, event) => nextAgent(state, event, AT), null)!;
}

export const onward = (state: AgentState, ...events: AgentEvent[]): AgentState =>
  events.reduce((before, event) => nextAgent(before, event, AT), state);
