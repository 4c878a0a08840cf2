import { type Digest, sha256 } from '../../src/canonical/digest.ts';
import type { Body } from '../../src/event/event.ts';
import { type IntentEvent, next as step, undoesNow } from '../../src/gate/next.ts';
import type { IntentState } from '../../src/gate/state.ts';
import type { Authorities } from '../../src/identity/delegation.ts';
import { principalWith } from '../support/principal.ts';

/** Events of one intent, short to write. Every test of the gate tells its story with these. */
export const ID = 'b2831d73-2708-4f50-944b-7b54f11bfbb4';
export const RUN = '0c9d8a52-7d3b-4f0e-9a43-0d6a3f3a5d01';
export const RUN_2 = '0c9d8a52-7d3b-4f0e-9a43-0d6a3f3a5d02';
export const CAP = '5d1c7c0e-3b52-4c38-8d0f-6a0f0c1e7a01';
export const CAP_2 = '5d1c7c0e-3b52-4c38-8d0f-6a0f0c1e7a02';
export const HASH = 'd7'.repeat(32);
export const EFFECT = 'ef'.repeat(32);
export const AT = '2026-01-15T12:00:00.000Z';
const KEY = Buffer.alloc(32, 1).toString('base64');
const signed = {
  by: 'ada',
  key: KEY,
  signed_at: AT,
  deadline: AT,
  signature: Buffer.alloc(64, 1).toString('base64'),
};
/** As the control plane says that decided it. */
const decided = { control_key: KEY, control_signature: signed.signature, control_covers: null };
/** Every name is an enrolled human with the one key of these stories, except those named here. */
export const everybodyBut = (...revoked: string[]): Authorities => ({
  principal: (name) =>
    principalWith(name, KEY, { status: revoked.includes(name) ? 'revoked' : 'active' }, AT),
  delegation: () => null,
});
const EXECUTOR = { host: 'h', boot_id: 'b', pid: 1, started: '1' };
const DECISION = 'dc'.repeat(32);
const POLICY = 'bc'.repeat(32);
const capture = { digest: 'ab'.repeat(32), bytes: 1, truncated: false };

/** What the proposer was told, and what the ledger says of it. */
const RECEIPT = { text: 'r'.repeat(43), digest: sha256('r'.repeat(43)) };

export function proposed(over: Partial<Body<'intent.proposed'>> = {}): IntentEvent {
  const digests = { hash: HASH, effect_digest: EFFECT, registry_digest: 'ee'.repeat(32) };
  const who = { proposer: 'bot', proposer_kind: 'agent' as const };
  const body = {
    ...digests,
    effect: 'tool' as const,
    tool: 'backup',
    tools: [over.tool ?? 'backup'],
    approvals_needed: 1,
    ...who,
    proposer_signature: null,
    proposer_key: null,
    account: null,
    on_behalf_of: null,
    actions: ['tool:backup'],
    alternates: [],
    replaces: null,
    undoes: null,
    contents: [],
    receipt: RECEIPT.digest,
    expires_at: '2026-01-16T12:00:00.000Z',
    ...over,
  };
  return { kind: 'intent.proposed', subject: ID, body };
}

export function granted(over: { hash?: string; expires_at?: string } = {}): IntentEvent {
  const body = {
    hash: HASH,
    effect_digest: EFFECT,
    account: null,
    decision: DECISION,
    expires_at: '2026-01-15T13:00:00.000Z',
    ...decided,
    ...signed,
    ...over,
  };
  return { kind: 'approval.granted', subject: ID, body };
}

export function takenBack(): IntentEvent {
  const body = { hash: HASH, by: 'bot', reason: 'late', receipt: RECEIPT.text };
  return {
    kind: 'intent.withdrawn',
    subject: ID,
    body: { ...body, proposer_signature: null, proposer_key: null },
  };
}

/** By another intent, which a human proposed in its place. */
export function replaced(): IntentEvent {
  const body = { hash: HASH, replacement: RUN, replacement_hash: HASH, ...signed };
  return { kind: 'intent.replaced', subject: ID, body };
}

export function stopped(execution_id = RUN): IntentEvent {
  return { kind: 'execution.stopped', subject: ID, body: { execution_id, reason: 'wrong', ...signed } };
}

export function denied(): IntentEvent {
  return { kind: 'approval.denied', subject: ID, body: { hash: HASH, reason: 'no', ...signed } };
}

/** As the executor says that claimed it. */
export const byExecutor = { executor_key: KEY, executor_signature: signed.signature };

/** The capability of an attempt: the first has `CAP`, the second `CAP_2`. */
const capabilityOf = (attempt: number) => (attempt === 1 ? CAP : CAP_2);

export function issued(attempt = 1, over: Partial<Body<'capability.issued'>> = {}): IntentEvent {
  const body = {
    capability_id: capabilityOf(attempt),
    attempt,
    hash: HASH,
    effect_digest: EFFECT,
    action: 'tool:backup',
    token: 'ca'.repeat(32),
    expires_at: '2026-01-15T13:00:00.000Z',
    policy: POLICY,
    decision: DECISION,
    ordinal: attempt,
    approvers: [{ name: 'ada', roles: [] }],
    break_glass: false,
    control_key: KEY,
    control_signature: signed.signature,
    ...over,
  };
  return { kind: 'capability.issued', subject: ID, body };
}

/** The order of an attempt, or the one that a capability is issued under. */
export function ordered(over: Partial<Body<'order.given'>> = {}): IntentEvent {
  const { attempt = 1 } = over;
  const body = {
    order_id: capabilityOf(attempt),
    attempt,
    hash: HASH,
    effect_digest: EFFECT,
    action: 'tool:backup',
    bounds: null,
    audience: 'here',
    holder: null,
    expires_at: '2026-01-15T13:00:00.000Z',
    lapses_at: '2026-01-15T13:00:00.000Z',
    approves_until: null,
    delegation: null,
    account: null,
    approvers: [{ name: 'ada', roles: [] }],
    decision: null,
    ...decided,
    ...signed,
    ...over,
  };
  return { kind: 'order.given', subject: ID, body };
}

/** The state machine. What is issued was ordered just before, unless it is known already. Who rolls back looked just now. */
export function next(state: IntentState | null, event: IntentEvent, at: string): IntentState {
  if (event.kind !== 'capability.issued') return step(state, asSeen(state, event), at);
  const { capability_id: order_id, attempt, hash, effect_digest, action, expires_at } = event.body;
  const known = state?.capabilities.some(({ capability_id }) => capability_id === order_id);
  const { approvers } = event.body;
  const order = ordered({ order_id, attempt, hash, effect_digest, action, expires_at, approvers });
  return step(known ? state : step(state, order, at), event, at);
}

export function withdrawn(capability_id = CAP): IntentEvent {
  return {
    kind: 'capability.revoked',
    subject: ID,
    body: { capability_id, reason: 'lost', ...signed },
  };
}

export function broken(by: string, attempt = 1): IntentEvent {
  const body = {
    attempt,
    hash: HASH,
    decision: DECISION,
    reason: 'the house burns',
    ...decided,
    ...signed,
    by,
  };
  return { kind: 'break_glass.used', subject: ID, body };
}

export function violated(execution_id = RUN): IntentEvent {
  const body = { execution_id, reason_code: 'FROZEN' as const, decision: null, revoked: [], ...byExecutor };
  return { kind: 'violation.detected', subject: ID, body };
}

export function claimed(
  attempt = 1,
  execution_id = RUN,
  reports: string | null = null,
  over: Partial<Body<'execution.claimed'>> = {},
): IntentEvent {
  const digests = { hash: HASH, effect_digest: EFFECT, registry_digest: 'ee'.repeat(32) };
  const capability = { capability_id: capabilityOf(attempt), presented: 'ca'.repeat(32) };
  const body = {
    execution_id,
    ...capability,
    policy: POLICY,
    decision: DECISION,
    attempt,
    ...digests,
    tool: 'backup',
    reports,
    executor: EXECUTOR,
    ...byExecutor,
    ...over,
  };
  return { kind: 'execution.claimed', subject: ID, body };
}

export function finished(
  result: 'success' | 'failure' | 'partial' | 'rolled_back',
  attempt = 1,
  execution_id = RUN,
): IntentEvent {
  const times = { started_at: AT, finished_at: AT };
  const end = { result, reason_code: null, exit_code: result === 'success' ? 0 : 1, signal: null, ...times };
  return {
    kind: 'execution.finished',
    subject: ID,
    body: {
      execution_id,
      capability_id: capabilityOf(attempt),
      attempt,
      tool: 'backup',
      ...end,
      stdout: capture,
      stderr: capture,
      reports: {},
      ...byExecutor,
    },
  };
}

export function resolved(
  outcome: 'happened' | 'did_not_happen',
  execution_id = RUN,
  settles: 'claimed' | 'partial' = 'claimed',
): IntentEvent {
  return {
    kind: 'execution.resolved',
    subject: ID,
    body: { execution_id, attempt: 1, settles, outcome, reason: 'seen', ...signed },
  };
}

export function retried(
  attempt = 2,
  after = RUN,
  choice = { tool: 'backup', effect_digest: EFFECT },
  from: 'failed' | 'rolled_back' = 'failed',
): IntentEvent {
  return {
    kind: 'retry.authorised',
    subject: ID,
    body: { attempt, after, from, hash: HASH, ...choice, reason: 'again', ...signed },
  };
}

export function checkpointed(execution_id = RUN): IntentEvent {
  return {
    kind: 'execution.checkpointed',
    subject: ID,
    body: { execution_id, manifest: 'cd'.repeat(32), ...byExecutor },
  };
}

export function announced(journal: Digest, execution_id = RUN): IntentEvent {
  return { kind: 'execution.announced', subject: ID, body: { execution_id, journal, ...byExecutor } };
}

export function undoing(round = 1): IntentEvent {
  const body = {
    undoes: { status: 'succeeded' as const, manifest: null, journal: null },
    execution_id: RUN,
    round,
    checkpoints: [],
    except: [],
    executor: EXECUTOR,
    ...byExecutor,
    reason: 'not wanted',
    ...signed,
  };
  return { kind: 'rollback.claimed', subject: ID, body };
}

export function undone(result: 'complete' | 'partial' | 'stuck', round = 1): IntentEvent {
  return {
    kind: 'rollback.finished',
    subject: ID,
    body: { execution_id: RUN, round, result, report: 'ab'.repeat(32), ...byExecutor },
  };
}

export function expired(gives_up_undo: boolean, execution_id = RUN): IntentEvent {
  const body = { execution_id, bytes: 1, gives_up_undo, reason: 'the disk is full', ...signed };
  return { kind: 'backups.expired', subject: ID, body };
}

export function fold(...events: IntentEvent[]): IntentState {
  return events.reduce<IntentState | null>((state, event) => next(state, event, AT), null)!;
}

function asSeen(state: IntentState | null, event: IntentEvent): IntentEvent {
  const run = state?.runs.at(-1);
  if (event.kind !== 'rollback.claimed' || !run) return event;
  const undoes = undoesNow(state!, run) as Body<'rollback.claimed'>['undoes'];
  return { ...event, body: { ...event.body, undoes } };
}
