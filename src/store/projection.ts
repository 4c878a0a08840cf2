import type { Event, SignedKind } from '../event/event.ts';
import { isSigned } from '../event/event.ts';
import { type AgentEvent, correlationOf, movesAgent, nextAgent } from '../gate/agent.ts';
import { isDispatch, isEnd } from '../gate/agent-move.ts';
import type { AgentState } from '../gate/agent-state.ts';
import { nextDispatch } from '../gate/dispatch.ts';
import { nextDispatched, requireDispatched } from '../gate/dispatched.ts';
import { fingerprintOf, type IntakeEvent, movesIntake, nextIntake } from '../gate/intake.ts';
import { requireItsPlace } from '../gate/ledger-time.ts';
import { type IntentEvent, movesIntent, next } from '../gate/next.ts';
import { movesSimulation, nextSimulation, type SimulationEvent } from '../gate/simulation.ts';
import type { IntentState } from '../gate/state.ts';
import { movesSystem, newSystem, nextSystem, type SystemEvent } from '../gate/system.ts';
import { originOf, verifyAct } from '../identity/act.ts';
import { requireAuthority } from '../identity/authority.ts';
import { type DelegationEvent, movesDelegation, nextDelegation } from '../identity/delegation.ts';
import { nextPace } from '../identity/pace.ts';
import {
  movesPrincipal,
  nextPrincipal,
  type PrincipalEvent,
  requireFreshKey,
} from '../identity/principal.ts';
import { afterDecision, afterProposal, quotaKey, UNUSED } from '../identity/quota.ts';
import { refuse } from '../refusal.ts';
import { pacedName, requireGrounds, requireOrdinal } from './grounds.ts';
import { authoritiesOf, type Row, type Rows } from './row.ts';

/** Pure: the rows that this event changes, or a refusal. Commit and rebuild use this one function. */
export function fold(rows: Rows, event: Event, seq: number, at: string): readonly Row[] {
  if (isSigned(event)) requireSigner(rows, event, at);
  requireItsPlace(event, seq, at);
  requireGrounds(rows, event, at);
  if (event.kind === 'system.initialised') return [systemOf(rows, event, seq)];
  if (movesSystem(event)) return [foldSystem(rows, event, at)];
  if (movesIntent(event)) return foldIntent(rows, event, seq, at);
  if (movesPrincipal(event)) return [foldPrincipal(rows, event, seq, at)];
  if (movesDelegation(event)) return [foldDelegation(rows, event, seq, at)];
  if (movesAgent(event)) return foldAgent(rows, event, seq, at);
  if (movesSimulation(event)) return [foldSimulation(rows, event, seq, at)];
  if (movesIntake(event)) return [foldIntake(rows, event, seq, at)];
  return [];
}

/**
 * Only an enrolled, active human acts, or a delegate of one, and the signature is verified here: whoever can call the
 * store is not yet the human they name. The first key of a ledger has nobody to vouch for it and signs for itself.
 */
function requireSigner(rows: Rows, event: Event<SignedKind>, at: string): void {
  const founding = isSelfSigned(event) && rows.principals().length === 0;
  if (!founding) requireAuthority(authoritiesOf(rows), event, at);
  verifyAct(rows.row('system', 'system')?.state.origin ?? originOf('none', rows.tenant), event);
}

function systemOf(rows: Rows, { body }: Event<'system.initialised'>, seq: number): Row {
  if (rows.row('system', 'system')) refuse('TRANSITION_ILLEGAL', 'The ledger was initialised before.');
  const origin = originOf(body.project_id, rows.tenant);
  return { name: 'system', key: 'system', seq, state: newSystem(origin) };
}

function foldSystem(rows: Rows, event: SystemEvent, at: string): Row {
  const before = rows.row('system', 'system') ?? refuse('TRANSITION_ILLEGAL', 'There is no ledger yet.');
  return { ...before, state: nextSystem(before.state, event, at) };
}

function isSelfSigned({ kind, subject, body }: Event<SignedKind>): boolean {
  return kind === 'key.enrolled' && body.by === subject && body.key === body.public_key;
}

function foldIntent(rows: Rows, event: IntentEvent, seq: number, at: string): readonly Row[] {
  const before = rows.row('intent', event.subject);
  const state = next(before?.state ?? null, event, at);
  const intent: Row = { name: 'intent', key: event.subject, seq: before?.seq ?? seq, state };
  if (event.kind === 'execution.claimed') {
    requireDispatched(state, () => rows.row('dispatched', event.subject)?.state ?? null);
    return [intent, executionOf(rows, event, seq)];
  }
  if (event.kind === 'capability.issued') {
    requireOrdinal(rows, event);
    return [intent, capabilityOf(rows, event, seq), pacedOf(rows, pacedName(state, event.body), at)];
  }
  const moves = event.kind === 'intent.proposed' || (waits(before?.state) && !waits(state));
  return moves ? [intent, quotaOf(rows, event, state, seq, at)] : [intent];
}

function waits(state: IntentState | undefined): boolean {
  return state?.status === 'proposed';
}

/** One more that waits, or one that no longer does. */
function quotaOf(rows: Rows, { kind }: IntentEvent, state: IntentState, seq: number, at: string): Row {
  const key = quotaKey(state);
  const before = rows.row('quota', key);
  const quota = before?.state ?? UNUSED;
  const after = kind === 'intent.proposed' ? afterProposal : afterDecision;
  return { name: 'quota', key, seq: before?.seq ?? seq, state: after(quota, state.expires_at, at) };
}

function capabilityOf(rows: Rows, { subject, body }: Event<'capability.issued'>, seq: number): Row {
  const { capability_id, control_key } = body;
  if (rows.row('capability', capability_id))
    refuse('TRANSITION_ILLEGAL', 'This capability id was used before.');
  const state = { capability_id, intent_id: subject, control_key };
  return { name: 'capability', key: capability_id, seq, state };
}

function pacedOf(rows: Rows, name: string, at: string): Row {
  const before = rows.row('principal', name) ?? refuse('PRINCIPAL_UNKNOWN');
  return { ...before, state: { ...before.state, pace: nextPace(before.state.pace, at) } };
}

function executionOf(rows: Rows, { subject, body }: Event<'execution.claimed'>, seq: number): Row {
  const { execution_id, attempt } = body;
  if (rows.row('execution', execution_id)) refuse('TRANSITION_ILLEGAL', 'This execution id was used before.');
  return { name: 'execution', key: execution_id, seq, state: { execution_id, intent_id: subject, attempt } };
}

function foldPrincipal(rows: Rows, event: PrincipalEvent, seq: number, at: string): Row {
  const before = rows.row('principal', event.subject);
  const state = nextPrincipal(before?.state ?? null, event, at);
  requireFreshKey(rows.principals(), event);
  if (event.kind === 'key.revoked' && isLastHuman(rows, event.subject)) refuse('LAST_HUMAN');
  return { name: 'principal', key: event.subject, seq: before?.seq ?? seq, state };
}

function foldDelegation(rows: Rows, event: DelegationEvent, seq: number, at: string): Row {
  const before = rows.row('delegation', event.subject);
  const state = nextDelegation(before?.state ?? null, event, at, authoritiesOf(rows));
  return { name: 'delegation', key: event.subject, seq: before?.seq ?? seq, state };
}

/** The first turn brings the correlation into being, and a dispatch the rows of its key and of its intent. */
function foldAgent(rows: Rows, event: AgentEvent, seq: number, at: string): readonly Row[] {
  const key = correlationOf(event.subject);
  const before = rows.row('agent', key);
  const state = nextAgent(before?.state ?? null, event, at);
  const agent: Row = { name: 'agent', key, seq: before?.seq ?? seq, state };
  if (event.kind !== 'agent.moved') return [agent];
  const also = [dispatchOf(rows, event, state, seq), dispatchedOf(rows, event, seq)];
  return [agent, ...also.filter((row) => row !== null)];
}

function dispatchOf(rows: Rows, event: Event<'agent.moved'>, after: AgentState, seq: number): Row | null {
  const key = event.body.idempotency_key;
  if (key === null) return null;
  const before = rows.row('dispatch', key);
  const state = nextDispatch(before?.state ?? null, event, after);
  return state ? { name: 'dispatch', key, seq: before?.seq ?? seq, state } : null;
}

function dispatchedOf(rows: Rows, event: Event<'agent.moved'>, seq: number): Row | null {
  const key = event.body.intent_id;
  if (key === null || !(isDispatch(event.body) || isEnd(event.body))) return null;
  const before = rows.row('dispatched', key);
  const state = nextDispatched(before?.state ?? null, event);
  return state ? { name: 'dispatched', key, seq: before?.seq ?? seq, state } : null;
}

function foldSimulation(rows: Rows, event: SimulationEvent, seq: number, at: string): Row {
  const key = event.body.simulation;
  const before = rows.row('simulation', key);
  const state = nextSimulation(before?.state ?? null, event, at);
  return { name: 'simulation', key, seq: before?.seq ?? seq, state };
}

function foldIntake(rows: Rows, event: IntakeEvent, seq: number, at: string): Row {
  const key = fingerprintOf(event);
  const before = rows.row('intake', key);
  const state = nextIntake(before?.state ?? null, event, at);
  return { name: 'intake', key, seq: before?.seq ?? seq, state };
}

/** Judged here and not only by callers: two humans who revoke each other at the same moment would leave nobody. */
function isLastHuman(rows: Rows, name: string): boolean {
  const humans = rows.principals().filter(({ kind, status }) => kind === 'human' && status === 'active');
  return humans.length === 1 && humans[0]!.name === name;
}
