import { sha256 } from '../canonical/digest.ts';
import { rawKeyOf } from '../canonical/spki.ts';
import { type Body, type Event, isOneOf } from '../event/event.ts';
import { correlationOf } from '../gate/agent.ts';
import { needsDispatch } from '../gate/agent-core.ts';
import { isDispatch, isEnd } from '../gate/agent-move.ts';
import type { AgentState } from '../gate/agent-state.ts';
import { breakGlassSince } from '../gate/break-glass.ts';
import { capabilityOf } from '../gate/capability.ts';
import { type DispatchGrounds, requireDispatchGrounds, requireStands } from '../gate/dispatch.ts';
import { requireDispatched } from '../gate/dispatched.ts';
import { requireLosses } from '../gate/erasure.ts';
import { freezeOf, freezeWords } from '../gate/freeze.ts';
import { next } from '../gate/next.ts';
import { requireAccepted, requireShadow, serverOfCall } from '../gate/server.ts';
import { isOwnDelegated, isOwnRequest, missingOf } from '../gate/signers.ts';
import { requireActivation, requireServed } from '../gate/simulation.ts';
import { type Denial, lostBy, lostOrder, type Standing, standingOf } from '../gate/standing.ts';
import type { Approver, IntentState } from '../gate/state.ts';
import {
  isAddressed,
  isRevokedExecutor,
  requireDecides,
  requireExecutor,
  requireFree,
  requireIssuerHolds,
  requireKnownExecutor,
  type System,
} from '../gate/system.ts';
import { requireWaiver } from '../gate/waiver.ts';
import { isAuditor } from '../identity/auditor.ts';
import { requireMadeBy } from '../identity/credential.ts';
import { covers, requireHolds } from '../identity/delegation.ts';
import { hasKey, isLive, requireCredential } from '../identity/principal.ts';
import { type QuotaLimit, quotaKey, requireQuota, UNUSED } from '../identity/quota.ts';
import { refuse } from '../refusal.ts';
import { requireReason } from './decided.ts';
import { pacedName } from './projection.ts';
import { authoritiesOf, humansIn, type Rows } from './row.ts';

/**
 * What an event rests on is looked at inside the transaction that writes it: approvals that are still good, the policies
 * that decided, the count behind a rate limit, nothing frozen. A decision that was made before the transaction may be out of date.
 */
export function requireGrounds(rows: Rows, event: Event, at: string): void {
  requireReason(event);
  if ('control_key' in event.body) requireDecides(systemOf(rows), event.body.control_key);
  if (isOneOf(KEYED, event)) requireOneRole(rows, event);
  if (event.kind === 'intent.proposed') requireProposer(rows, event);
  if (event.kind === 'intent.withdrawn') requireWithdrawable(rows, event);
  if (event.kind === 'intent.delegated') requireDelegated(rows, event, at);
  if (event.kind === 'approval.granted') requireOther(rows, event);
  if (event.kind === 'order.given') requireOrderable(rows, event, at);
  if (event.kind === 'capability.issued') requireIssuable(rows, event, at);
  if (event.kind === 'break_glass.used') requireOpen(rows, event, at);
  if (event.kind === 'execution.claimed') requireRunnable(rows, event, at);
  if (isOneOf(BELIEVED, event)) requireExecutor(systemOf(rows), event.body.executor_key);
  if (event.kind === 'execution.finished' || event.kind === 'rollback.finished') requireBelieved(rows, event);
  if (event.kind === 'mcp.shadowed') requireShadowed(rows, event);
  // That of a revoked one is taken: the call was sent while it was not.
  if (event.kind === 'mcp.shadow_ended') requireKnownExecutor(systemOf(rows), event.body.executor_key);
  if (event.kind === 'call.passed') requirePassable(rows, event.body.by, event.body.tool);
  if (event.kind === 'simulation.changed') requireActivation(authoritiesOf(rows), event, at);
  if (event.kind === 'slo.waived') requireWaiver(event, at);
  if (event.kind === 'intent.replaced' && !rows.is_one_subject) requireReplacement(rows, event);
  // What these rest on is told by entries about others, which only the whole ledger has.
  if (!rows.is_whole) return;
  if (event.kind === 'agent.moved') requireMovable(rows, event, at);
  if (event.kind === 'execution.claimed') {
    requireDispatchStands(rows, intentOf(rows, event.subject), at);
    requireServer(rows, event);
  }
  if (event.kind === 'intake.told')
    requireServed(rows.row('simulation', event.body.simulation)?.state ?? null, event, at);
  if (event.kind === 'capability.issued') requirePaced(rows, event);
  if (event.kind === 'object.erased')
    requireLosses(event, {
      intent: (id) => rows.row('intent', id)?.state ?? null,
      conversation: (id) => rows.row('agent', id)?.state ?? null,
    });
}

/** A rollback goes by what these say, so a key that was revoked states none of them. */
const BELIEVED = [
  'rollback.claimed',
  'execution.checkpointed',
  'execution.announced',
  'mcp.shadowed',
] as const;

const KEYED = ['key.enrolled', 'credential.added', 'control_key.added', 'executor.added'] as const;

/** The key of a machine lies open on its host, and is revoked as that of a machine: it must not also speak for a person or an agent. */
function requireOneRole(rows: Rows, event: Event<(typeof KEYED)[number]>): void {
  if (event.kind === 'control_key.added' || event.kind === 'executor.added') {
    const owner = rows.row('key', event.body.public_key)?.state;
    if (owner) refuse('KEY_ENROLLED_TWICE', `The key is enrolled as "${owner.name}".`);
  } else if (event.body.credential !== null) {
    requireFree(systemOf(rows), rawKeyOf(event.body.credential.public_key));
  }
}

/** A signature of the proposer is that of the proposer's own key, or absent. It is never taken on trust. */
function requireProposer(rows: Rows, { body }: Event<'intent.proposed'>): void {
  requireNoAuditor(rows, body.proposer, 'proposes nothing');
  requireProposersKey(rows, body.proposer, body);
}

function requireNoAuditor(rows: Rows, name: string, what: string): void {
  const known = rows.row('principal', name)?.state;
  if (known && isAuditor(known)) refuse('AUDITOR_ACTS', `"${name}" is an auditor, and ${what}.`);
}

function requireProposersKey(
  rows: Rows,
  proposer: string,
  { proposer_signature, proposer_key }: Pick<Body<'intent.proposed'>, 'proposer_signature' | 'proposer_key'>,
): void {
  if ((proposer_signature === null) !== (proposer_key === null))
    refuse('SHAPE_INVALID', 'A signature of the proposer names its key.');
  if (proposer_key === null) return;
  const known = rows.row('principal', proposer)?.state;
  if (known?.status !== 'active' || known.credentials.length === 0) refuse('PRINCIPAL_UNKNOWN');
  if (!isAuditor(known) && !hasKey(known, proposer_key))
    refuse('SIGNATURE_INVALID', `The key is not that of "${proposer}".`);
  requireMadeBy(requireCredential(known, proposer_key), proposer_signature!);
}

/** Only the proposer can withdraw it, and proves to be that by one of the two. */
function requireWithdrawable(rows: Rows, { subject, body }: Event<'intent.withdrawn'>): void {
  const { proposer, receipt } = intentOf(rows, subject);
  if (body.by !== proposer) refuse('RECEIPT_INVALID', `It is "${proposer}" who proposed it.`);
  if ((body.receipt === null) === (body.proposer_signature === null))
    refuse('SHAPE_INVALID', 'A withdrawal has the receipt or a signature.');
  requireNoAuditor(rows, proposer, 'takes nothing back');
  requireProposersKey(rows, proposer, body);
  if (body.receipt !== null && sha256(body.receipt) !== receipt) refuse('RECEIPT_INVALID');
}

/** What stands in its place was proposed and signed by the human who took it out: an edit never only ends something. */
function requireReplacement(rows: Rows, { subject, body }: Event<'intent.replaced'>): void {
  const { replaces, hash, proposer, proposer_verified } = intentOf(rows, body.replacement);
  const is_theirs = proposer === body.by && proposer_verified;
  if (replaces !== subject || hash !== body.replacement_hash || !is_theirs)
    refuse('TRANSITION_ILLEGAL', 'What it names is not a replacement by the same human.');
}

/** From the second human on, an approver who asked for the intent is refused, in whichever name it was proposed. */
function requireOther(rows: Rows, { subject, body }: Event<'approval.granted'>): void {
  requireNotOwn(rows, isOwnRequest(intentOf(rows, subject), body.by));
}

function requireNotOwn(rows: Rows, is_own: boolean): void {
  if (is_own && humansIn(rows) > 1) refuse('SELF_APPROVAL');
}

function requireDelegated(rows: Rows, event: Event<'intent.delegated'>, at: string): void {
  const { delegation, approver, expires_at } = event.body;
  const held = requireHolds(authoritiesOf(rows), delegation, at);
  if (!covers(held, intentOf(rows, event.subject).actions)) refuse('DELEGATION_OUT_OF_SCOPE');
  if (Date.parse(expires_at) > Date.parse(held.expires_at)) refuse('DELEGATION_WIDENED');
  if (approver === null) return;
  requireNotOwn(rows, isOwnDelegated(intentOf(rows, event.subject), approver.by, event.body.by));
  if (!held.approves || approver.by !== held.root.by || approver.key !== held.root.key)
    refuse('DELEGATION_WIDENED', 'This delegation does not stand for an approval.');
}

/** With its own approval, if it is one, the order is for an intent that may be issued a capability now. */
function requireOrderable(rows: Rows, event: Event<'order.given'>, at: string): void {
  const { delegation, action, by, expires_at, approves_until, decision } = event.body;
  if ((approves_until === null) !== (decision === null))
    refuse('DECISION_MISSING', 'An order names a decision where it approves, and only there.');
  const before = intentOf(rows, event.subject);
  requireNotOwn(rows, approves_until !== null && isOwnRequest(before, by));
  const standing = standingIn(rows, next(before, event, at), at);
  requireNone(standing.not_granted);
  const lost = lostBy(event.body.approvers, standing, authoritiesOf(rows));
  if (lost) throw lost;
  if (delegation === null) return;
  if (approves_until !== null) refuse('NOT_HUMAN', 'A delegate orders, and does not approve.');
  const held = requireHolds(authoritiesOf(rows), delegation, at);
  if (!covers(held, [action])) refuse('DELEGATION_OUT_OF_SCOPE');
  if (Date.parse(expires_at) > Date.parse(held.expires_at)) refuse('DELEGATION_WIDENED');
  // The uses and the arguments of a grant were held against what was submitted under it, and against nothing else.
  const is_of_grant = before.approvals.some((one) => one.delegation === delegation);
  if (held.grant !== null && !is_of_grant)
    refuse('GRANT_OUTSIDE', 'Under a grant only what was submitted under it is ordered.');
}

function requireIssuable(rows: Rows, { subject, body }: Event<'capability.issued'>, at: string): void {
  const { policy, approvers, capability_id, break_glass } = body;
  const system = systemOf(rows);
  const standing = standingIn(rows, intentOf(rows, subject), at);
  requireNone(standing.not_granted);
  const counted = approvers.map(({ name }) => name);
  if (missingOf(standing.state, counted) > 0) refuse('APPROVAL_MISSING');
  requireKept(rows, standing, capability_id, approvers, at);
  if (break_glass && breakGlassIn(rows, standing.state, at) === null)
    refuse('BREAK_GLASS_FORBIDDEN', 'Two humans have to confirm a break-glass, who can act now.');
  if (policy !== system.policy) refuse('DECISION_STALE');
}

/** A break-glass goes past a freeze and the policies, and past nothing that no signature mends. */
function requireOpen(rows: Rows, { subject }: Event<'break_glass.used'>, at: string): void {
  requireNone(standingIn(rows, intentOf(rows, subject), at).not_open);
}

function breakGlassIn(rows: Rows, state: IntentState, at: string): string | null {
  const { principal } = authoritiesOf(rows);
  return breakGlassSince(state, at, (name, key) => isLive(principal(name), key));
}

/** The approval of each person whom the decision counted, and of the one who ordered, still counts. */
function requireKept(
  rows: Rows,
  standing: Standing,
  capability_id: string,
  approvers: readonly Approver[] | null,
  at: string,
): void {
  const authorities = authoritiesOf(rows);
  const order = capabilityOf(standing.state, capability_id);
  // What is unknown the state machine refuses.
  if (!order) return;
  const counted = approvers ?? order.issued?.approvers ?? order.approvers;
  const lost = lostOrder(order, authorities, at) ?? lostBy(counted, standing, authorities);
  if (lost) throw lost;
}

/** A capability counts for a principal who is enrolled. */
function requirePaced(rows: Rows, event: Event<'capability.issued'>): void {
  if (!rows.row('principal', pacedName(rows, event))) refuse('PRINCIPAL_UNKNOWN');
}

function requireRunnable(rows: Rows, { subject, body }: Event<'execution.claimed'>, at: string): void {
  const standing = standingIn(rows, intentOf(rows, subject), at);
  requireNone(standing.not_granted);
  requireKept(rows, standing, body.capability_id, null, at);
  const system = systemOf(rows);
  const executor = requireExecutor(system, body.executor_key);
  const order = capabilityOf(standing.state, body.capability_id);
  if (order && !isAddressed(system, executor, order.audience)) refuse('CAPABILITY_WRONG_AUDIENCE');
  if (order?.issued) requireIssuerHolds(system, order.issued.control_key);
  if (body.policy !== system.policy) refuse('DECISION_STALE');
}

/**
 * Of an executor that was revoked while it worked, the end is taken, and leaves it to a human what became of it. It names no journal:
 * one that calls a path untouched would have a rollback leave that path as it is.
 */
function requireBelieved(
  rows: Rows,
  { kind, body }: Event<'execution.finished' | 'rollback.finished'>,
): void {
  if (!isRevokedExecutor(systemOf(rows), body.executor_key)) return;
  const decides_nothing =
    kind === 'execution.finished'
      ? body.result === 'partial' && body.reports.journal === undefined
      : body.result === 'stuck';
  if (!decides_nothing) refuse('EXECUTOR_REVOKED');
}

/** Where an intent stands at the time of an entry. */
function standingIn(rows: Rows, state: IntentState, at: string): Standing {
  const { freezes, set_back_at, control_keys } = systemOf(rows);
  const { tenant } = rows;
  const authorities = authoritiesOf(rows);
  const now = new Date(at);
  return standingOf(state, {
    now,
    ledger_at: null,
    tenant,
    freezes,
    set_back_at,
    control_keys,
    authorities,
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

/** A call to an MCP server is claimed while what a human accepted of that server is what the claim goes by. */
function requireServer(rows: Rows, { subject, body }: Event<'execution.claimed'>): void {
  const { effect, tool } = intentOf(rows, subject);
  if (effect === 'mcp')
    requireAccepted(rows.row('server', serverOfCall(tool))?.state ?? null, body.registry_digest);
}

/** What passes in shadow mode is of a server that was accepted so. */
function requireShadowed(rows: Rows, { body }: Event<'mcp.shadowed'>): void {
  const { server, accepted, proposer, tool } = body;
  requireShadow(rows.row('server', server)?.state ?? null, accepted);
  requirePassable(rows, proposer, tool);
}

/** A call that no human looks at happens at once: who was revoked or frozen meanwhile is not let through. */
function requirePassable(rows: Rows, by: string, tool: string): void {
  const principal = rows.row('principal', by)?.state ?? refuse('PRINCIPAL_UNKNOWN');
  if (principal.status !== 'active') refuse('KEY_REVOKED');
  const freeze = freezeOf(systemOf(rows).freezes, { tenant: rows.tenant, agents: [by], tools: [tool] });
  if (freeze) refuse('FROZEN', freezeWords(freeze));
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
  return quotaKey({ proposer_verified: body.proposer_signature !== null, ...body });
}

function requireMovable(rows: Rows, event: Event<'agent.moved'>, at: string): void {
  if (!isDispatch(event.body) && !isEnd(event.body)) return;
  requireDispatchGrounds(agentOf(rows, correlationOf(event.subject)), event, at, dispatchFacts(rows));
}

function agentOf(rows: Rows, correlation_id: string): AgentState | null {
  return rows.row('agent', correlation_id)?.state ?? null;
}

function dispatchFacts(rows: Rows): DispatchGrounds {
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
