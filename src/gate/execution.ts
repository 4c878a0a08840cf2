import type { Event } from '../event/event.ts';
import { refuse } from '../refusal.ts';
import type { IntentState, IntentStatus } from './state.ts';

/** A run, with what runs are listed by. Everything else about it is part of its intent. */
export interface Execution {
  readonly execution_id: string;
  readonly intent_id: string;
  readonly attempt: number;
  readonly tool: string;
  readonly proposer: string;
  /** The key of the executor that claimed it. */
  readonly executor_key: string;
  readonly claimed_at: string;
  /** That of its intent, as this run left it: a later attempt does not change it. */
  readonly status: RunStatus;
}

export type RunStatus = Exclude<
  IntentStatus,
  'proposed' | 'rejected' | 'withdrawn' | 'replaced' | 'approved'
>;

export const RUN_STATUSES = [
  'claimed',
  'succeeded',
  'failed',
  'partial',
  'happened',
  'rolled_back',
  'rolling_back',
  'undone',
  'stuck',
] as const satisfies readonly RunStatus[];

export const EXECUTION_KINDS = [
  'execution.claimed',
  'execution.finished',
  'execution.resolved',
  'rollback.claimed',
  'rollback.finished',
] as const;

/** They end no run that goes on, of their own intent or another one. */
const END_NO_RUN: ReadonlySet<string> = new Set<Event['kind']>([
  'intent.proposed',
  'intent.submitted',
  'approval.granted',
  'order.given',
  'capability.issued',
  'execution.claimed',
  'execution.checkpointed',
  'execution.announced',
  'execution.finished',
]);

/** Whether a run that is watched should be looked at soon because this was written. */
export function mayEndRuns({ kind }: Pick<Event, 'kind'>): boolean {
  return !END_NO_RUN.has(kind);
}

type ExecutionEvent = Event<(typeof EXECUTION_KINDS)[number]>;

/** Pure: the run after the event, where `intent` is what the event made of its intent. */
export function nextExecution(
  before: Execution | null,
  event: ExecutionEvent,
  intent: IntentState,
  at: string,
): Execution {
  const status = intent.status as RunStatus;
  if (event.kind !== 'execution.claimed')
    return before ? { ...before, status } : refuse('EXECUTION_NOT_FOUND');
  if (before) refuse('TRANSITION_ILLEGAL', 'This execution id was used before.');
  const { execution_id, attempt, tool, executor_key } = event.body;
  const { intent_id, proposer } = intent;
  return { execution_id, intent_id, attempt, tool, proposer, executor_key, claimed_at: at, status };
}
