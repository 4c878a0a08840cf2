import type { Event } from '../event/event.ts';
import { type ReasonCode, refuse } from '../refusal.ts';
import { expired } from './backups.ts';
import { issued, revoked, revokedAll, spent } from './capability.ts';
import { signersOf } from './signers.ts';
import type { Approval, IntentState, IntentStatus, Run } from './state.ts';

/** The events that move an intent. Everything else about an intent is recorded but changes nothing. */
export const INTENT_KINDS = [
  'intent.proposed',
  'intent.delegated',
  'approval.granted',
  'approval.denied',
  'capability.issued',
  'capability.revoked',
  'glass.broken',
  'execution.claimed',
  'execution.checkpointed',
  'execution.announced',
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
    case 'intent.delegated':
      from(state, ['proposed']);
      sameHash(state, event.body.hash);
      return delegated(state, event);
    case 'approval.granted':
      from(state, ['proposed', 'approved']);
      sameHash(state, event.body.hash);
      return approved(state, approvalOf(event));
    case 'approval.denied':
      from(state, ['proposed', 'approved']);
      sameHash(state, event.body.hash);
      return { ...state, status: 'rejected' };
    case 'capability.issued':
      from(state, ['approved']);
      sameHash(state, event.body.hash);
      return issued(state, event, at);
    case 'capability.revoked':
      return revoked(state, event.body.capability_id);
    case 'glass.broken':
      from(state, ['proposed', 'approved']);
      sameHash(state, event.body.hash);
      if (event.body.attempt !== state.attempt) refuse('TRANSITION_ILLEGAL', 'It is for another attempt.');
      return { ...state, glass: [...state.glass, { by: event.body.by, key: event.body.key, at }].slice(-16) };
    case 'execution.claimed':
      from(state, ['approved']);
      sameHash(state, event.body.hash);
      if (event.body.attempt !== state.attempt || event.body.effect_digest !== state.effect_digest)
        refuse('TRANSITION_ILLEGAL', 'The attempt is not the next one.');
      return { ...spent(state, event, at), status: 'claimed', runs: [...state.runs, runOf(event, at)] };
    case 'execution.checkpointed':
      from(state, ['claimed']);
      return checkpointed(state, event);
    case 'execution.announced':
      from(state, ['claimed']);
      return announced(state, event);
    case 'violation.detected':
      from(state, ['claimed']);
      sameRun(state, event.body.execution_id);
      return revokedAll(state, at);
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
        ['failed', 'rolled_back'],
        state.status === 'claimed' || state.status === 'partial' ? BLOCKS[state.status]! : 'RETRY_NOT_DUE',
      );
      sameHash(state, event.body.hash);
      sameRun(state, event.body.after);
      if (event.body.attempt !== state.attempt + 1)
        refuse('TRANSITION_ILLEGAL', 'The attempt is not the next one.');
      return retried(state, event);
    case 'rollback.claimed':
      from(
        state,
        ['succeeded', 'failed', 'partial', 'claimed', 'rolling_back', 'stuck', 'rolled_back'],
        'ROLLBACK_NOT_DUE',
      );
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
    choices: [{ tool: body.tool, effect_digest: body.effect_digest }, ...body.alternates],
    replaces: body.replaces,
    proposed_at: at,
    expires_at: body.expires_at,
    approvals: [],
    capabilities: [],
    glass: [],
    delegates: [],
    attempt: 1,
    runs: [],
    rollback: null,
  };
}

const STATUS_OF = {
  success: 'succeeded',
  failure: 'failed',
  partial: 'partial',
  rolled_back: 'rolled_back',
} as const;

/** The same effect again, or an alternate that the intent names. Whatever was granted before is for an older attempt. */
function retried(state: IntentState, { body }: Event<'retry.authorised'>): IntentState {
  const { attempt, tool, effect_digest } = body;
  if (!state.choices.some((one) => one.tool === tool && one.effect_digest === effect_digest))
    refuse('ALTERNATE_NOT_NAMED');
  return { ...state, status: 'approved', attempt, tool, effect_digest, rollback: null, glass: [] };
}

/** Approved once enough different humans have signed: one who signs twice counts once. */
function approved(state: IntentState, approval: Approval): IntentState {
  const approvals = [...state.approvals, approval];
  const enough = signersOf(approvals).length >= state.approvals_needed;
  return { ...state, approvals, status: enough ? 'approved' : state.status };
}

/** Undoing begins. What it undoes is remembered, because taking back a success is final and mending a failure is not. */
function rollingBack(state: IntentState, event: Event<'rollback.claimed'>, at: string): IntentState {
  const run = sameRun(state, event.body.execution_id);
  if (run.reports === null) refuse('ROLLBACK_NOT_DUE', 'A tool call has no rollback.');
  if (run.expired_at !== null) refuse('BACKUPS_EXPIRED');
  const before = state.rollback;
  if (event.body.round !== (before?.round ?? 0) + 1)
    refuse('TRANSITION_ILLEGAL', 'The round is not the next one.');
  const again = state.status === 'rolling_back' || state.status === 'stuck';
  const { round, by, executor } = event.body;
  const rollback = {
    round,
    from: again ? before!.from : state.status,
    by,
    claimed_at: at,
    executor,
    result: null,
  };
  return { ...state, status: 'rolling_back', rollback };
}

function rolledBack(state: IntentState, event: Event<'rollback.finished'>): IntentState {
  sameRun(state, event.body.execution_id);
  const rollback = state.rollback!;
  if (event.body.round !== rollback.round) refuse('TRANSITION_ILLEGAL', 'Another round is under way.');
  const { result } = event.body;
  const complete = rollback.from === 'succeeded' ? 'undone' : 'rolled_back';
  const status = { complete, partial: rollback.from, stuck: 'stuck' } as const;
  return { ...state, status: status[result], rollback: { ...rollback, result } };
}

function checkpointed(state: IntentState, { body }: Event<'execution.checkpointed'>): IntentState {
  const run = sameRun(state, body.execution_id);
  if (run.reports === null || run.manifest !== null)
    refuse('TRANSITION_ILLEGAL', 'A run of a plan has one checkpoint.');
  return { ...state, runs: [...state.runs.slice(0, -1), { ...run, manifest: body.manifest }] };
}

function announced(state: IntentState, { body }: Event<'execution.announced'>): IntentState {
  const run = sameRun(state, body.execution_id);
  if (run.manifest === null) refuse('TRANSITION_ILLEGAL', 'A run announces nothing before its checkpoint.');
  return { ...state, runs: [...state.runs.slice(0, -1), { ...run, journal: body.journal }] };
}

function finished(state: IntentState, event: Event<'execution.finished'>, at: string): IntentState {
  const { execution_id, result, exit_code, reports } = event.body;
  const run = sameRun(state, execution_id);
  const status = STATUS_OF[result];
  const journal = reports.journal ?? null;
  return {
    ...state,
    status,
    runs: [...state.runs.slice(0, -1), { ...run, finished_at: at, result, exit_code, journal }],
  };
}

/** A delegation that says so counts as an approval by the human at its root. The store knows whether it says so. */
function delegated(state: IntentState, { body }: Event<'intent.delegated'>): IntentState {
  const { approver, signed_at, expires_at, delegation } = body;
  const submitted = { ...state, delegates: [...new Set([...state.delegates, body.by])] };
  if (approver === null) return submitted;
  return approved(submitted, {
    ...approver,
    signed_at,
    expires_at,
    assurance: 'delegation',
    account: null,
    delegation,
  });
}

function approvalOf({ body }: Event<'approval.granted'>): Approval {
  const { by, key, signed_at, expires_at, account } = body;
  return { by, key, signed_at, expires_at, assurance: 'passphrase', account, delegation: null };
}

function runOf({ body }: Event<'execution.claimed'>, at: string): Run {
  const { execution_id, capability_id, tool, attempt, executor, reports } = body;
  return {
    execution_id,
    capability_id,
    tool,
    attempt,
    claimed_at: at,
    executor,
    finished_at: null,
    result: null,
    exit_code: null,
    reports,
    manifest: null,
    journal: null,
    expired_at: null,
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
