import type { Digest } from '../canonical/digest.ts';
import type { Event, EventKind } from '../event/event.ts';
import { capabilityOf } from '../gate/capability.ts';
import type { Capability } from '../gate/state.ts';
import type { DecisionRecord } from '../policy/replay.ts';
import type { PolicyAction } from '../policy/request.ts';
import { type ReasonCode, refuse } from '../refusal.ts';
import type { Rows } from './row.ts';

/** Which question of the policies each fact rests on, null for any, and which answer it needs. */
const ASKED: Readonly<Partial<Record<EventKind, readonly [PolicyAction | null, allowed: boolean]>>> = {
  'intent.submitted': ['submit', true],
  'intent.delegated': ['submit', true],
  'approval.granted': ['approve', true],
  'order.given': ['approve', true],
  'order.denied': ['grant', false],
  'capability.issued': ['grant', true],
  'break_glass.used': ['break_glass', true],
  'execution.claimed': ['execute', true],
  'intent.refused': [null, false],
  'capability.denied': [null, false],
  'execution.refused': ['execute', false],
  'violation.detected': ['execute', false],
  'call.passed': ['pass', true],
  'call.blocked': ['pass', false],
};

/** The stored decision that a fact rests on. */
export function restsOn({ kind, body }: Event): Digest | null {
  return kind in ASKED && 'decision' in body ? body.decision : null;
}

const DENIALS: ReadonlySet<ReasonCode> = new Set<ReasonCode>([
  'POLICY_DENIED',
  'POLICY_NO_PERMIT',
  'POLICY_ERROR',
]);

/** Whether a refusal for this reason rests on a decision of the policies, where one was made. */
export function isOfPolicies(reason: ReasonCode): boolean {
  return DENIALS.has(reason) || reason === 'BREAK_GLASS_FORBIDDEN';
}

/** Pure: who says that the policies denied it names the decision, and a decision of theirs is named for no other reason. */
export function requireReason(event: Event): void {
  const reason = ASKED[event.kind]?.[1] === false ? reasonOf(event) : null;
  if (reason === null) return;
  const decision = restsOn(event);
  if (decision === null && DENIALS.has(reason)) refuse('DECISION_MISSING', `${reason} without a decision.`);
  if (decision !== null && !isOfPolicies(reason)) mismatch(`${reason} is not the answer of a policy.`);
}

function reasonOf({ body }: Event): ReasonCode | null {
  return 'reason_code' in body ? (body.reason_code as ReasonCode) : null;
}

/** What the stored decision must say for an event to rest on it. */
export interface NeededDecision {
  readonly digest: Digest;
  readonly action: PolicyAction | null;
  readonly subject: string;
  /** Who asked; null where the event does not say. */
  readonly by: string | null;
  /** The policies that are active. */
  readonly policy: Digest | null;
  readonly allowed: boolean;
  /** Why the event says that it was denied; null where it was not. */
  readonly reason: ReasonCode | null;
  /** Two humans went past the policies: whatever they said, it counts. */
  readonly is_break_glass: boolean;
}

/** Pure: what the decision that this event names must say; null for an event that rests on none. `rows` are those before it. */
export function neededDecision(rows: Rows, event: Event): NeededDecision | null {
  const digest = restsOn(event);
  if (digest === null) return null;
  const [action, allowed] = ASKED[event.kind]!;
  return {
    digest,
    action,
    subject: event.subject,
    by: askerOf(rows, event),
    policy: rows.row('system', 'system')?.state.policy ?? null,
    allowed,
    reason: allowed ? null : reasonOf(event),
    is_break_glass: isByBreakGlass(rows, event),
  };
}

function isByBreakGlass(rows: Rows, event: Event): boolean {
  if (event.kind === 'capability.issued') return event.body.break_glass;
  return event.kind === 'execution.claimed' && orderOf(rows, event)?.issued?.break_glass === true;
}

/** Who asked the policies: the signer of the event, or of the order that it is about. */
function askerOf(rows: Rows, event: Event): string | null {
  return 'by' in event.body ? event.body.by : (orderOf(rows, event)?.by ?? null);
}

/** The order that an event rests on, with what was issued under it. */
function orderOf(rows: Rows, { kind, subject, body }: Event): Capability | null {
  const id =
    kind === 'capability.issued' || kind === 'execution.claimed'
      ? body.capability_id
      : kind === 'order.denied' && body.order_id;
  if (!id) return null;
  const intent = rows.row('intent', subject)?.state;
  return intent ? capabilityOf(intent, id) : null;
}

/**
 * Refuses a decision about something else, or with another answer. An attacker who has a key that may sign could name any digest, and
 * say that the policies allowed what they were never asked.
 */
export function requireDecision(needed: NeededDecision, record: DecisionRecord): void {
  const { request, decision, snapshot, subject } = record;
  const { action, by, policy, allowed, reason, is_break_glass } = needed;
  if (action !== null && request.action !== action)
    mismatch(`It rests on a decision about ${request.action}.`);
  if (subject !== needed.subject) mismatch('It rests on a decision about another intent.');
  if (by !== null && request.principal.name !== by)
    mismatch(`It rests on a decision about ${request.principal.name}.`);
  if (decision.allowed !== allowed && !(allowed && is_break_glass))
    mismatch(`The decision was: ${decision.words}`);
  if (reason !== null && DENIALS.has(reason) && decision.code !== reason)
    mismatch(`The decision was: ${decision.code}`);
  // A denial is a fact also where other policies are active by now.
  if (allowed && snapshot !== policy) refuse('DECISION_STALE', 'Its policies are not the active ones.');
}

function mismatch(words: string): never {
  return refuse('DECISION_MISMATCH', words);
}
