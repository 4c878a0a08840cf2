import type { Body, Event } from '../event/event.ts';
import { UNDONE_FROM } from '../event/undone.ts';
import { requireSeen } from '../identity/seen.ts';
import { type ReasonCode, refuse } from '../refusal.ts';
import { needsDispatch } from './agent-core.ts';
import { approved, approvedBy, delegated } from './approved.ts';
import { expired } from './backups.ts';
import { issued, orderDenied, orderGiven, revoked, revokedAll, spent } from './capability.ts';
import {
  checkpointed,
  finished,
  journalAnnounced,
  ownRun,
  requireAttempt,
  runOf,
  sameRun,
  stopped,
} from './run.ts';
import type { IntentState, IntentStatus, Run } from './state.ts';

/** The events that move an intent. Everything else about an intent is recorded but changes nothing. */
export const INTENT_KINDS = [
  'intent.proposed',
  'intent.withdrawn',
  'intent.replaced',
  'intent.delegated',
  'approval.granted',
  'approval.denied',
  'order.given',
  'capability.issued',
  'order.denied',
  'capability.revoked',
  'break_glass.used',
  'execution.claimed',
  'execution.checkpointed',
  'execution.announced',
  'execution.stopped',
  'violation.detected',
  'execution.finished',
  'execution.resolved',
  'retry.authorised',
  'rollback.claimed',
  'rollback.finished',
  'backups.expired',
] as const;

export type IntentEvent = Event<(typeof INTENT_KINDS)[number]>;

/** Why an intent in this status cannot run now; `null` where it may. */
export const BLOCKS: Readonly<Record<IntentStatus, ReasonCode | null>> = {
  proposed: 'APPROVAL_MISSING',
  rejected: 'INTENT_REJECTED',
  withdrawn: 'INTENT_WITHDRAWN',
  replaced: 'INTENT_REPLACED',
  approved: null,
  claimed: 'RUN_IN_DOUBT',
  succeeded: 'ALREADY_EXECUTED',
  failed: 'RUN_FAILED',
  partial: 'RUN_PARTIAL',
  happened: 'ALREADY_EXECUTED',
  rolled_back: 'RUN_FAILED',
  rolling_back: 'RUN_IN_DOUBT',
  undone: 'ALREADY_EXECUTED',
  stuck: 'ROLLBACK_STUCK',
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
    case 'intent.withdrawn':
      from(state, ['proposed', 'approved']);
      sameHash(state, event.body.hash);
      return { ...revokedAll(state, at), status: 'withdrawn' };
    case 'intent.replaced':
      sameHash(state, event.body.hash);
      requireEditable(state);
      return { ...state, status: 'replaced', replaced_by: event.body.replacement };
    case 'intent.delegated':
      from(state, ['proposed']);
      sameEffect(state, event.body);
      return delegated(state, event);
    case 'approval.granted':
      from(state, ['proposed', 'approved']);
      sameEffect(state, event.body);
      return approved(state, event);
    case 'approval.denied':
      from(state, ['proposed', 'approved']);
      sameHash(state, event.body.hash);
      return { ...state, status: 'rejected' };
    case 'order.given':
      from(state, event.body.approves_until === null ? ['approved'] : ['proposed', 'approved']);
      sameHash(state, event.body.hash);
      return orderGiven(approvedBy(state, event), event, at);
    case 'order.denied':
      from(state, ['approved']);
      sameHash(state, event.body.hash);
      return orderDenied(state, event, at);
    case 'capability.issued':
      from(state, ['approved']);
      sameHash(state, event.body.hash);
      return issued(state, event, at);
    case 'capability.revoked':
      return revoked(state, event.body.capability_id);
    case 'break_glass.used':
      from(state, ['proposed', 'approved']);
      sameHash(state, event.body.hash);
      if (event.body.attempt !== state.attempt) refuse('TRANSITION_ILLEGAL', 'It is for another attempt.');
      return {
        ...state,
        break_glass: [...state.break_glass, brokenBy(event, at)].slice(-16),
      };
    case 'execution.claimed':
      from(state, ['approved']);
      sameHash(state, event.body.hash);
      requireAttempt(state, event.body);
      return { ...spent(state, event, at), status: 'claimed', runs: [...state.runs, runOf(event, at)] };
    case 'execution.checkpointed':
      from(state, ['claimed']);
      return checkpointed(state, event);
    case 'execution.announced':
      from(state, ['claimed']);
      return journalAnnounced(state, event);
    case 'execution.stopped':
      return stopped(state, event, at);
    case 'violation.detected':
      from(state, ['claimed']);
      ownRun(state, event.body);
      return revokedAll(state, at);
    case 'execution.finished':
      from(state, ['claimed']);
      return finished(state, event, at);
    case 'execution.resolved':
      from(state, ['claimed', 'partial'], 'RESOLVE_NOT_DUE');
      if (sameRun(state, event.body.execution_id).attempt !== event.body.attempt)
        refuse('TRANSITION_ILLEGAL', 'It settles another attempt.');
      requireSeen(event.body.settles, state.status, RUN_MOVED);
      return { ...state, status: event.body.outcome === 'happened' ? 'happened' : 'failed' };
    case 'retry.authorised':
      requireSeen(event.body.from, retriedFrom(state), RUN_MOVED);
      sameHash(state, event.body.hash);
      sameRun(state, event.body.after);
      if (event.body.attempt !== state.attempt + 1)
        refuse('TRANSITION_ILLEGAL', 'The attempt is not the next one.');
      return retried(state, event);
    case 'rollback.claimed':
      from(state, UNDONE_FROM, 'ROLLBACK_NOT_DUE');
      return rollingBack(state, event, at);
    case 'rollback.finished':
      from(state, ['rolling_back'], 'ROLLBACK_NOT_DUE');
      return rolledBack(state, event);
    case 'backups.expired':
      return expired(state, event, at);
  }
}

function proposed({ subject, body }: Event<'intent.proposed'>, at: string): IntentState {
  return {
    intent_id: subject,
    status: 'proposed',
    hash: body.hash,
    effect_digest: body.effect_digest,
    registry_digest: body.registry_digest,
    effect: body.effect,
    tool: body.tool,
    approvals_needed: body.approvals_needed,
    proposer: body.proposer,
    proposer_kind: body.proposer_kind,
    proposer_verified: body.proposer_signature !== null,
    account: body.account,
    on_behalf_of: body.on_behalf_of,
    actions: body.actions,
    choices: [
      { tool: body.tool, effect_digest: body.effect_digest, tools: body.tools },
      // An alternate is the call of one tool.
      ...body.alternates.map((one) => ({ ...one, tools: [one.tool] })),
    ],
    replaces: body.replaces,
    undoes: body.undoes,
    replaced_by: null,
    receipt: body.receipt,
    proposed_at: at,
    expires_at: body.expires_at,
    approvals: [],
    capabilities: [],
    break_glass: [],
    delegates: [],
    attempt: 1,
    runs: [],
    rollback: null,
  };
}

/** Since it was signed: a freeze that was made after that, the human did not know of. */
function brokenBy({ body }: Event<'break_glass.used'>, at: string): IntentState['break_glass'][number] {
  const { by, key, signed_at } = body;
  return { by, key, at: Date.parse(signed_at) < Date.parse(at) ? signed_at : at };
}

/** How an intent stands that can be tried again: its run failed, or was taken back. */
export function retriedFrom({ status }: IntentState): Body<'retry.authorised'>['from'] {
  if (status === 'failed' || status === 'rolled_back') return status;
  const in_doubt = status === 'claimed' || status === 'partial';
  return refuse(in_doubt ? BLOCKS[status]! : 'RETRY_NOT_DUE', undefined, { status });
}

/** The same effect again, or an alternate that the intent names. Whatever was granted before is for an older attempt. */
function retried(state: IntentState, { body }: Event<'retry.authorised'>): IntentState {
  const { attempt, tool, effect_digest } = body;
  if (!state.choices.some((one) => one.tool === tool && one.effect_digest === effect_digest))
    refuse('ALTERNATE_NOT_NAMED');
  return { ...state, status: 'approved', attempt, tool, effect_digest, rollback: null, break_glass: [] };
}

const RUN_MOVED = 'The run went on, ended or was taken back meanwhile.';

/** What a rollback goes by: how the run stands, and what its executor recorded of it. */
export function undoesNow({ status }: IntentState, { manifest, journal }: Run) {
  return { status, manifest, journal };
}

/** Undoing begins. What it undoes is remembered, because taking back a success is final and mending a failure is not. */
function rollingBack(state: IntentState, event: Event<'rollback.claimed'>, at: string): IntentState {
  const run = sameRun(state, event.body.execution_id);
  if (run.reports === null) refuse('ROLLBACK_NOT_DUE', 'A tool call has no rollback.');
  if (run.expired_at !== null) refuse('BACKUPS_EXPIRED');
  const before = state.rollback;
  if (event.body.round !== (before?.round ?? 0) + 1)
    refuse('TRANSITION_ILLEGAL', 'The round is not the next one.');
  requireSeen(event.body.undoes, undoesNow(state, run), RUN_MOVED);
  const again = state.status === 'rolling_back' || state.status === 'stuck';
  const { round, by, executor, executor_key } = event.body;
  const rollback = {
    round,
    from: again ? before!.from : state.status,
    by,
    claimed_at: at,
    executor,
    executor_key,
    result: null,
  };
  return { ...state, status: 'rolling_back', rollback };
}

function rolledBack(state: IntentState, event: Event<'rollback.finished'>): IntentState {
  sameRun(state, event.body.execution_id);
  const rollback = state.rollback!;
  if (event.body.round !== rollback.round) refuse('TRANSITION_ILLEGAL', 'Another round is under way.');
  if (event.body.executor_key !== rollback.executor_key) refuse('EXECUTOR_UNKNOWN');
  const { result } = event.body;
  const complete = rollback.from === 'succeeded' ? 'undone' : 'rolled_back';
  const status = { complete, partial: rollback.from, stuck: 'stuck' } as const;
  return { ...state, status: status[result], rollback: { ...rollback, result } };
}

/** An approval is for what was seen, and a conversation goes on with its own step: neither is changed under them. */
export function requireEditable(state: IntentState): void {
  const { status, replaced_by } = state;
  if (replaced_by !== null) refuse('INTENT_REPLACED', `It was replaced by ${replaced_by}.`, { replaced_by });
  from(state, ['proposed'], GIVEN_UP.has(status) ? BLOCKS[status]! : 'EDIT_NOT_DUE');
  if (state.on_behalf_of !== null || needsDispatch(state))
    refuse('EDIT_NOT_DUE', 'It is a step of a conversation. Reject it, and ask again there.');
}

const GIVEN_UP: ReadonlySet<IntentStatus> = new Set<IntentStatus>(['rejected', 'withdrawn']);

function from(state: IntentState, allowed: readonly IntentStatus[], otherwise?: ReasonCode): void {
  if (allowed.includes(state.status)) return;
  refuse(otherwise ?? BLOCKS[state.status] ?? 'TRANSITION_ILLEGAL', undefined, { status: state.status });
}

/** What a human approved: a retry may have turned to an alternate since. */
function sameEffect(
  state: IntentState,
  { hash, effect_digest }: { hash: string; effect_digest: string },
): void {
  sameHash(state, hash);
  requireSeen(effect_digest, state.effect_digest, 'It has another effect by now.');
}

function sameHash(state: IntentState, hash: string): void {
  if (state.hash !== hash) refuse('HASH_MISMATCH');
}
