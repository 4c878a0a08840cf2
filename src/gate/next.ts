import type { Event } from '../event/event.ts';
import { type ReasonCode, refuse } from '../refusal.ts';
import type { IntentState, IntentStatus, Run } from './state.ts';

/** The events that move an intent. Everything else about an intent is recorded but changes nothing. */
export type IntentEvent = Event<
  | 'intent.proposed'
  | 'approval.granted'
  | 'approval.denied'
  | 'execution.claimed'
  | 'execution.finished'
  | 'execution.resolved'
  | 'retry.authorised'
>;

const MOVING: ReadonlySet<string> = new Set<IntentEvent['kind']>([
  'intent.proposed',
  'approval.granted',
  'approval.denied',
  'execution.claimed',
  'execution.finished',
  'execution.resolved',
  'retry.authorised',
]);

export function movesIntent(event: Event): event is IntentEvent {
  return MOVING.has(event.kind);
}

/** Why an intent in this status cannot run now; `null` where it may. */
export const BLOCKS: Readonly<Record<IntentStatus, ReasonCode | null>> = {
  proposed: 'APPROVAL_MISSING',
  rejected: 'INTENT_REJECTED',
  approved: null,
  claimed: 'RUN_IN_DOUBT',
  succeeded: 'ALREADY_EXECUTED',
  failed: 'RUN_FAILED',
  partial: 'RUN_IN_DOUBT',
  happened: 'ALREADY_EXECUTED',
};

/**
 * The one state machine. Pure; `at` is the time of the ledger entry. Any event that is not listed for the present
 * status is illegal, and the refusal says what the status means.
 */
export function next(state: IntentState | null, event: IntentEvent, at: string): IntentState {
  if (state === null) {
    if (event.kind !== 'intent.proposed') refuse('INTENT_NOT_FOUND');
    return proposed(event, at);
  }
  switch (event.kind) {
    case 'intent.proposed':
      return refuse('INTENT_EXISTS');
    case 'approval.granted':
      from(state, ['proposed', 'approved']);
      sameHash(state, event.body.hash);
      return { ...state, status: 'approved', approvals: [...state.approvals, approvalOf(event)] };
    case 'approval.denied':
      from(state, ['proposed', 'approved']);
      sameHash(state, event.body.hash);
      return { ...state, status: 'rejected' };
    case 'execution.claimed':
      from(state, ['approved']);
      sameHash(state, event.body.hash);
      if (event.body.attempt !== state.attempt)
        refuse('TRANSITION_ILLEGAL', 'The attempt is not the next one.');
      return { ...state, status: 'claimed', runs: [...state.runs, runOf(event, at)] };
    case 'execution.finished':
      from(state, ['claimed']);
      return finished(state, event, at);
    case 'execution.resolved':
      from(state, ['claimed', 'partial'], 'RESOLVE_NOT_DUE');
      sameRun(state, event.body.execution_id);
      return { ...state, status: event.body.outcome === 'happened' ? 'happened' : 'failed' };
    case 'retry.authorised':
      from(
        state,
        ['failed'],
        state.status === 'claimed' || state.status === 'partial' ? 'RUN_IN_DOUBT' : 'RETRY_NOT_DUE',
      );
      sameHash(state, event.body.hash);
      sameRun(state, event.body.after);
      if (event.body.attempt !== state.attempt + 1)
        refuse('TRANSITION_ILLEGAL', 'The attempt is not the next one.');
      return { ...state, status: 'approved', attempt: event.body.attempt };
  }
}

function proposed({ subject, body }: Event<'intent.proposed'>, at: string): IntentState {
  return {
    intent_id: subject,
    status: 'proposed',
    hash: body.hash,
    effect_digest: body.effect_digest,
    registry_digest: body.registry_digest,
    tool: body.tool,
    proposer: body.proposer,
    proposer_kind: body.proposer_kind,
    proposed_at: at,
    expires_at: body.expires_at,
    approvals: [],
    attempt: 1,
    runs: [],
  };
}

function finished(state: IntentState, event: Event<'execution.finished'>, at: string): IntentState {
  const { execution_id, result, exit_code } = event.body;
  const run = sameRun(state, execution_id);
  const status = ({ success: 'succeeded', failure: 'failed', partial: 'partial' } as const)[result];
  return {
    ...state,
    status,
    runs: [...state.runs.slice(0, -1), { ...run, finished_at: at, result, exit_code }],
  };
}

function approvalOf({ body }: Event<'approval.granted'>) {
  return { by: body.by, key: body.key, signed_at: body.signed_at, expires_at: body.expires_at };
}

function runOf({ body }: Event<'execution.claimed'>, at: string): Run {
  const { execution_id, attempt, executor } = body;
  return {
    execution_id,
    attempt,
    claimed_at: at,
    executor,
    finished_at: null,
    result: null,
    exit_code: null,
  };
}

function from(state: IntentState, allowed: readonly IntentStatus[], otherwise?: ReasonCode): void {
  if (allowed.includes(state.status)) return;
  refuse(otherwise ?? BLOCKS[state.status] ?? 'TRANSITION_ILLEGAL', undefined, { status: state.status });
}

function sameHash(state: IntentState, hash: string): void {
  if (state.hash !== hash) refuse('HASH_MISMATCH');
}

function sameRun(state: IntentState, execution_id: string): Run {
  const run = state.runs.at(-1);
  if (run?.execution_id !== execution_id) refuse('EXECUTION_NOT_FOUND');
  return run;
}
