import type { Digest } from '../canonical/digest.ts';
import type { AGENT_PLAN_STATES, STEP_STATES } from '../event/agent.ts';
import type { Body } from '../event/event.ts';

export type AgentPlanStatus = (typeof AGENT_PLAN_STATES)[number];
export type StepStatus = (typeof STEP_STATES)[number];
type MoveReason = Body<'agent.moved'>['reason_code'];

/**
 * The legal moves of a plan; whatever is not here is illegal. A plan waits before its first step and between any two of
 * them, since each turn runs one step. PAUSED waits for the next turn or for an approver. The last three are the end. A
 * plan that is in progress can be called off as long as none of its steps executes: a process may have died in between.
 */
export const AGENT_PLAN_MOVES: Readonly<Record<AgentPlanStatus, readonly AgentPlanStatus[]>> = {
  CREATED: ['WAITING_CONFIRM', 'WAITING_CLARIFY', 'READY', 'FAILED', 'CANCELLED'],
  WAITING_CONFIRM: ['READY', 'FAILED', 'CANCELLED'],
  WAITING_CLARIFY: ['WAITING_CONFIRM', 'READY', 'FAILED', 'CANCELLED'],
  READY: ['IN_PROGRESS', 'PAUSED', 'FAILED', 'CANCELLED'],
  IN_PROGRESS: ['WAITING_CONFIRM', 'WAITING_CLARIFY', 'PAUSED', 'COMPLETED', 'FAILED', 'CANCELLED'],
  PAUSED: ['WAITING_CONFIRM', 'WAITING_CLARIFY', 'READY', 'IN_PROGRESS', 'FAILED', 'CANCELLED'],
  COMPLETED: [],
  FAILED: [],
  CANCELLED: [],
};

/**
 * The legal moves of a step. Nothing leads back to READY: a retry is a human's, under a new correlation, because the
 * idempotency key of a step never changes. FAILED_RETRYABLE says that such a retry may be worth it; once it was done
 * there, the step here is skipped, or given up. What runs is not skipped: it ends as its run does.
 */
export const STEP_MOVES: Readonly<Record<StepStatus, readonly StepStatus[]>> = {
  PENDING: ['WAITING_CONFIRM', 'WAITING_CLARIFY', 'READY', 'FAILED_TERMINAL', 'SKIPPED'],
  WAITING_CONFIRM: ['READY', 'FAILED_TERMINAL', 'SKIPPED'],
  WAITING_CLARIFY: ['WAITING_CONFIRM', 'READY', 'FAILED_TERMINAL', 'SKIPPED'],
  READY: ['EXECUTING', 'FAILED_TERMINAL', 'SKIPPED'],
  EXECUTING: ['SUCCEEDED', 'FAILED_RETRYABLE', 'FAILED_TERMINAL'],
  FAILED_RETRYABLE: ['FAILED_TERMINAL', 'SKIPPED'],
  SUCCEEDED: [],
  FAILED_TERMINAL: [],
  SKIPPED: [],
};

/** What one turn brought: the packet of the finder, by its digest. */
export interface Turn {
  readonly turn_id: string;
  readonly packet_kind: Body<'agent.received'>['packet_kind'];
  readonly finder_packet: Digest;
  readonly goal: Digest;
  readonly catalog_snapshot: Digest;
  readonly policy_snapshot: Digest;
  readonly reason_code: string;
  readonly at: string;
}

export interface AgentStep {
  readonly step_id: Digest;
  readonly simulation: string;
  readonly version: number;
  readonly confirmation_required: boolean;
  readonly impactful: boolean;
  readonly state: StepStatus;
  readonly reason_code: MoveReason;
  readonly changed_at: string;
  /** The newest answer, and the newest decision of the policies. */
  readonly confirmation: {
    readonly answer: Body<'agent.confirmed'>['answer'];
    readonly proof: Digest;
    readonly at: string;
  } | null;
  readonly access: {
    readonly outcome: Body<'agent.access'>['outcome'];
    readonly decision: Digest;
    readonly intent_id: string | null;
    readonly at: string;
  } | null;
  /** From the dispatch on. */
  readonly idempotency_key: Digest | null;
  readonly intent_id: string | null;
  readonly execution_id: string | null;
  readonly outcome: Digest | null;
}

export interface AgentPlan {
  readonly plan_id: Digest;
  readonly plan: Digest;
  readonly rolls_back: Digest | null;
  readonly template: Body<'agent.planned'>['template'];
  readonly finder_packet: Digest;
  readonly risk_level: Body<'agent.planned'>['risk_level'];
  readonly state: AgentPlanStatus;
  readonly reason_code: MoveReason;
  readonly created_at: string;
  readonly changed_at: string;
  /** In the order in which they run. */
  readonly steps: readonly AgentStep[];
}

/** Where a conversation stands, in one word: that of its plan, or what the newest turn led to. */
export const CONVERSATION_STATUSES = [
  'CREATED',
  'WAITING_CLARIFY',
  'WAITING_CONFIRM',
  'READY',
  'IN_PROGRESS',
  'PAUSED',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
  'REFUSED',
  'MISSING_SIMULATION',
] as const;

export type ConversationStatus = (typeof CONVERSATION_STATUSES)[number];

/** One correlation: one goal of one user, from what was asked to how it ended. */
export interface AgentState {
  readonly correlation_id: string;
  readonly user_id: string;
  readonly thread_id: string;
  readonly begun_at: string;
  /** Follows from the rest. It stands here for the index that finds conversations by it. */
  readonly status: ConversationStatus;
  readonly turns: number;
  /** The newest one. */
  readonly turn: Turn;
  /** Oldest first. At most one of them is not at its end. */
  readonly plans: readonly AgentPlan[];
}

/** What an idempotency key was spent on, and what came of it. */
export interface Dispatch {
  readonly idempotency_key: Digest;
  readonly correlation_id: string;
  readonly plan_id: Digest;
  readonly step_id: Digest;
  readonly intent_id: string;
  readonly execution_id: string | null;
  /** Null until it is known. A dispatch that stays without one is in doubt. */
  readonly outcome: Digest | null;
}

export function isOver({ state }: AgentPlan): boolean {
  return AGENT_PLAN_MOVES[state].length === 0;
}

/** Whether a step still waits for something or runs. */
export function isOpen({ state }: AgentStep): boolean {
  return !CLOSED.has(state);
}

const CLOSED: ReadonlySet<StepStatus> = new Set<StepStatus>([
  'SUCCEEDED',
  'FAILED_RETRYABLE',
  'FAILED_TERMINAL',
  'SKIPPED',
]);

/** The plan that goes on, if there is one. */
export function liveAgentPlan({ plans }: Pick<AgentState, 'plans'>): AgentPlan | null {
  return plans.find((plan) => !isOver(plan)) ?? null;
}

/** The step whose turn it is: the first one that neither succeeded nor was skipped. */
export function currentStep({ steps }: AgentPlan): AgentStep | null {
  return steps.find(({ state }) => state !== 'SUCCEEDED' && state !== 'SKIPPED') ?? null;
}
