import type { Event } from '../event/event.ts';
import { correlationOf } from '../gate/agent.ts';
import type { AgentState } from '../gate/agent-state.ts';
import { type DispatchFacts, requireDispatchGrounds, requireStands } from '../gate/dispatch.ts';
import { needsDispatch, requireDispatched } from '../gate/dispatched.ts';
import { isOwnDelegated, isOwnRequest } from '../gate/signers.ts';
import { requireServed, requireStanding } from '../gate/simulation.ts';
import { type Denial, lostBy, type Standing, standingOf } from '../gate/standing.ts';
import type { IntentState } from '../gate/state.ts';
import type { System } from '../gate/system.ts';
import { requireWaiver } from '../gate/waiver.ts';
import { isLiveAct } from '../identity/authority.ts';
import { covers, requireHolds } from '../identity/delegation.ts';
import { type QuotaLimit, quotaKey, requireQuota, UNUSED } from '../identity/quota.ts';
import { refuse } from '../refusal.ts';
import { authoritiesOf, humansIn, type Rows } from './row.ts';

/**
 * What an event rests on is looked at inside the transaction that writes it: approvals that are still good, the policies
 * that decided, the count behind a rate limit, nothing frozen. Whoever decided a moment ago may be out of date.
 */
export function requireGrounds(rows: Rows, event: Event, at: string): void {
  if (event.kind === 'intent.proposed') requireProposer(rows, event);
  if (event.kind === 'intent.delegated') requireDelegated(rows, event, at);
  if (event.kind === 'approval.granted') requireOther(rows, event);
  if (event.kind === 'capability.issued') requireGrantable(rows, event, at);
  if (event.kind === 'execution.claimed') requireRunnable(rows, event, at);
  if (event.kind === 'simulation.changed') requireStanding(authoritiesOf(rows), event, at);
  if (event.kind === 'slo.waived') requireWaiver(event, at);
  // What these rest on is told by entries about others, which only the whole ledger has.
  if (!rows.is_whole) return;
  if (event.kind === 'agent.moved') requireMovable(rows, event, at);
  if (event.kind === 'execution.claimed') requireDispatchStands(rows, intentOf(rows, event.subject), at);
  if (event.kind === 'intake.told')
    requireServed(rows.row('simulation', event.body.simulation)?.state ?? null, event, at);
  if (event.kind === 'capability.issued') requirePaced(rows, event);
}

/** A signature of the proposer is that of the proposer's own key, or absent. It is never taken on trust. */
function requireProposer(rows: Rows, { body }: Event<'intent.proposed'>): void {
  const { proposer, proposer_signature, proposer_key } = body;
  if ((proposer_signature === null) !== (proposer_key === null))
    refuse('SHAPE_INVALID', 'A signature of the proposer names its key.');
  if (proposer_key === null) return;
  const known = rows.row('principal', proposer)?.state;
  if (known?.status !== 'active' || known.public_key === null) refuse('PRINCIPAL_UNKNOWN');
  if (known.public_key !== proposer_key) refuse('SIGNATURE_INVALID', `The key is not that of "${proposer}".`);
}

/** From the second human on nobody approves what they asked for, in whosever name it was proposed. */
function requireOther(rows: Rows, { subject, body }: Event<'approval.granted'>): void {
  if (isOwnRequest(intentOf(rows, subject), body.by) && hasOthers(rows)) refuse('SELF_APPROVAL');
}

function hasOthers(rows: Rows): boolean {
  return humansIn(rows) > 1;
}

function requireDelegated(rows: Rows, event: Event<'intent.delegated'>, at: string): void {
  const { delegation, approver, expires_at } = event.body;
  const held = requireHolds(authoritiesOf(rows), delegation, at);
  if (!covers(held, intentOf(rows, event.subject).actions)) refuse('DELEGATION_OUT_OF_SCOPE');
  if (Date.parse(expires_at) > Date.parse(held.expires_at)) refuse('DELEGATION_WIDENED');
  if (approver === null) return;
  if (isOwnDelegated(intentOf(rows, event.subject), approver.by, event.body.by) && hasOthers(rows))
    refuse('SELF_APPROVAL');
  if (!held.approves || approver.by !== held.root.by || approver.key !== held.root.key)
    refuse('DELEGATION_WIDENED', 'This delegation does not stand for an approval.');
}

function requireGrantable(rows: Rows, event: Event<'capability.issued'>, at: string): void {
  const { policy, control_key, delegation, action, by, expires_at, approvers } = event.body;
  const authorities = authoritiesOf(rows);
  const system = systemOf(rows);
  const standing = standingIn(rows, event.subject, at, [by]);
  requireNone(standing.not_granted);
  if (approvers.length < standing.state.approvals_needed) refuse('APPROVAL_MISSING');
  const lost = lostBy(approvers, standing, authorities);
  if (lost) throw lost;
  if (delegation !== null) {
    const held = requireHolds(authorities, delegation, at);
    if (!covers(held, [action])) refuse('DELEGATION_OUT_OF_SCOPE');
    if (Date.parse(expires_at) > Date.parse(held.expires_at)) refuse('DELEGATION_WIDENED');
  }
  if (policy !== system.policy || control_key !== system.control_keys.at(-1)) refuse('DECISION_STALE');
}

/** Whoever a capability counts for is known. */
function requirePaced(rows: Rows, { subject, body }: Event<'capability.issued'>): void {
  const { proposer } = intentOf(rows, subject);
  if (!rows.row('principal', body.delegation === null ? proposer : body.by)) refuse('PRINCIPAL_UNKNOWN');
}

function requireRunnable(rows: Rows, { subject, body }: Event<'execution.claimed'>, at: string): void {
  const authorities = authoritiesOf(rows);
  const standing = standingIn(rows, subject, at);
  requireNone(standing.not_granted);
  const capability = standing.state.capabilities.find((one) => one.capability_id === body.capability_id);
  if (capability && !isLiveAct(authorities, capability, at))
    refuse('CAPABILITY_REVOKED', `What ${capability.by} granted it with no longer holds.`);
  const lost = capability && lostBy(capability.approvers, standing, authorities);
  if (lost) throw lost;
  if (body.policy !== systemOf(rows).policy) refuse('DECISION_STALE');
}

/** Where an intent stands at the time of an entry. */
function standingIn(rows: Rows, intent_id: string, at: string, agents: readonly string[] = []): Standing {
  const { freezes } = systemOf(rows);
  const { tenant } = rows;
  const authorities = authoritiesOf(rows);
  return standingOf(intentOf(rows, intent_id), {
    now: new Date(at),
    ledger_at: null,
    tenant,
    freezes,
    authorities,
    agents,
  });
}

function requireNone(denial: Denial | null): void {
  if (denial) refuse(denial.code, denial.words);
}

/** A run that the agent core dispatched is claimed while what it was dispatched for still stands. */
function requireDispatchStands(rows: Rows, intent: IntentState, at: string): void {
  if (!needsDispatch(intent)) return;
  const dispatched = rows.row('dispatched', intent.intent_id)?.state ?? null;
  requireDispatched(intent, () => dispatched);
  requireStands(agentOf(rows, dispatched!.correlation_id), dispatched!, at, dispatchFacts(rows));
}

/** What a delegation approves in the same commit waits for no human. */
export function requireRoom(
  rows: Rows,
  { quota, events }: { readonly quota: QuotaLimit | null; readonly events: readonly Event[] },
  event: Event,
  at: string,
): void {
  if (quota === null || event.kind !== 'intent.proposed') return;
  const at_once = events.some(
    ({ kind, subject, body }) =>
      kind === 'intent.delegated' && subject === event.subject && body.approver !== null,
  );
  if (!at_once) requireQuota(rows.row('quota', quotaKeyOf(event))?.state ?? UNUSED, quota, at);
}

function quotaKeyOf({ body }: Event<'intent.proposed'>): string {
  return quotaKey({ ...body, proposer_verified: body.proposer_signature !== null });
}

function requireMovable(rows: Rows, event: Event<'agent.moved'>, at: string): void {
  requireDispatchGrounds(agentOf(rows, correlationOf(event.subject)), event, at, dispatchFacts(rows));
}

function agentOf(rows: Rows, correlation_id: string): AgentState | null {
  return rows.row('agent', correlation_id)?.state ?? null;
}

function dispatchFacts(rows: Rows): DispatchFacts {
  return {
    simulation: (id) => rows.row('simulation', id)?.state ?? null,
    intent: (intent_id) => rows.row('intent', intent_id)?.state ?? null,
    principal: (name) => rows.row('principal', name)?.state ?? null,
    policy: rows.row('system', 'system')?.state.policy ?? null,
  };
}

function intentOf(rows: Rows, intent_id: string): IntentState {
  return rows.row('intent', intent_id)?.state ?? refuse('INTENT_NOT_FOUND');
}

function systemOf(rows: Rows): System {
  return rows.row('system', 'system')?.state ?? refuse('TRANSITION_ILLEGAL', 'There is no ledger yet.');
}
