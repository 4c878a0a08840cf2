import type { Event, EventKind } from '../event/event.ts';
import { AGENT_KINDS, correlationOf, nextAgent } from '../gate/agent.ts';
import { isDispatch, isEnd } from '../gate/agent-move.ts';
import { nextDispatch } from '../gate/dispatch.ts';
import { nextDispatched } from '../gate/dispatched.ts';
import { fingerprintOf, INTAKE_KINDS, nextIntake } from '../gate/intake.ts';
import { INTENT_KINDS, next } from '../gate/next.ts';
import { nextSimulation } from '../gate/simulation.ts';
import { nextSystem, SYSTEM_KINDS } from '../gate/system.ts';
import { DELEGATION_KINDS, nextDelegation } from '../identity/delegation.ts';
import { IDLE, nextPace } from '../identity/pace.ts';
import { nextPrincipal, PRINCIPAL_KINDS } from '../identity/principal.ts';
import { afterDecision, afterProposal, quotaKey, UNUSED } from '../identity/quota.ts';
import { refuse } from '../refusal.ts';
import { authoritiesOf, humansIn, type RowName, type Rows, type States } from './row.ts';

/** What a projection may look at while an event is folded. */
export interface Step {
  readonly seq: number;
  readonly at: string;
  /** The rows before the event. */
  readonly before: Rows;
  /** The same, with what the projections above this one made of the event. */
  readonly now: Rows;
}

/** One kind of row: the events that change it, which row each changes, and what the row is then. */
interface Projection<N extends RowName, K extends EventKind> {
  readonly kinds: readonly K[];
  /** Which row the event changes; null for none. `step` is absent where only the event is at hand: then null, too. */
  key(event: Event<K>, step: Step | null): string | null;
  /** Pure: the state after the event, a refusal, or null where the event leaves it as it is. */
  next(before: States[N] | null, event: Event<K>, step: Step): States[N] | null;
  /** There is one of it, and nearly every event looks at it: a store reads it without being asked. */
  readonly is_one?: true;
  /** All statuses that a row can have, for rows that are listed. */
  readonly statuses?: readonly string[];
  /** An entry brings at most one row of each place into being: a row is found by its entry and its place. */
  readonly place?: 1 | 2;
  /** It counts over all entries, so it cannot follow from a part of the ledger. */
  readonly is_count?: true;
}

type Declared = { readonly [N in RowName]: Projection<N, never> };

const of =
  <N extends RowName>() =>
  <K extends EventKind>(projection: Projection<N, K>): Projection<N, never> =>
    projection as unknown as Projection<N, never>;

/**
 * Every projection, declared once: the stores, their tables and the fold follow from this. The order counts: a projection
 * sees in `step.now` what those above it made of the same event.
 */
export const PROJECTIONS: Declared = {
  system: of<'system'>()({
    kinds: SYSTEM_KINDS,
    key: () => 'system',
    next: (before, event, { at, now }) => nextSystem(before, event, at, now.tenant),
    is_one: true,
  }),
  intent: of<'intent'>()({
    kinds: INTENT_KINDS,
    key: ({ subject }) => subject,
    next: (before, event, { at }) => next(before, event, at),
  }),
  execution: of<'execution'>()({
    kinds: ['execution.claimed'],
    key: ({ body }) => body.execution_id,
    next: (before, { subject, body: { execution_id, attempt } }) => {
      if (before) refuse('TRANSITION_ILLEGAL', 'This execution id was used before.');
      return { execution_id, intent_id: subject, attempt };
    },
  }),
  capability: of<'capability'>()({
    kinds: ['capability.issued'],
    key: ({ body }) => body.capability_id,
    next: (before, { subject, body: { capability_id, control_key } }) => {
      if (before) refuse('TRANSITION_ILLEGAL', 'This capability id was used before.');
      return { capability_id, intent_id: subject, control_key };
    },
  }),
  pace: of<'pace'>()({
    kinds: ['capability.issued'],
    key: (event, step) => step && pacedName(step.before, event),
    // A rate limit that was judged on an older count is stale. Where no policy reads the count, the decision stands whatever it is.
    next: (before, { body: { ordinal } }, { at }) => {
      const pace = before ?? IDLE;
      if (ordinal !== null && ordinal !== pace.total + 1) refuse('DECISION_STALE');
      return nextPace(pace, at);
    },
    place: 1,
    is_count: true,
  }),
  principal: of<'principal'>()({
    kinds: PRINCIPAL_KINDS,
    key: ({ subject }) => subject,
    next: (before, event, { at, now }) => {
      const state = nextPrincipal(before, event, at);
      // Judged here and not only by callers: two humans who revoke each other at the same moment would leave nobody.
      if (event.kind === 'key.revoked' && state.kind === 'human' && now.is_whole && humansIn(now) === 1)
        refuse('LAST_HUMAN');
      return state;
    },
    statuses: ['active', 'revoked'],
  }),
  key: of<'key'>()({
    kinds: ['key.enrolled'],
    key: ({ body }) => body.public_key,
    // A second name would let one human count as two.
    next: (before, { subject }) =>
      before ? refuse('KEY_ENROLLED_TWICE', `The key is enrolled as "${before.name}".`) : { name: subject },
    place: 1,
  }),
  // In a part of a ledger it counts those who are shown: never more than there were.
  census: of<'census'>()({
    kinds: ['key.enrolled', 'key.revoked'],
    key: ({ subject }, step) =>
      step && step.now.row('principal', subject)?.state.kind === 'human' ? 'humans' : null,
    next: (before, { kind }) => ({ humans: (before?.humans ?? 0) + (kind === 'key.enrolled' ? 1 : -1) }),
    place: 2,
  }),
  delegation: of<'delegation'>()({
    kinds: DELEGATION_KINDS,
    key: ({ subject }) => subject,
    next: (before, event, { at, now }) => nextDelegation(before, event, at, authoritiesOf(now)),
    statuses: ['active', 'revoked'],
  }),
  quota: of<'quota'>()({
    kinds: INTENT_KINDS,
    key: (event, step) => step && movedQuota(event, step),
    next: (before, event, { at, now }) => {
      const after = event.kind === 'intent.proposed' ? afterProposal : afterDecision;
      return after(before ?? UNUSED, now.row('intent', event.subject)!.state.expires_at, at);
    },
    place: 1,
    is_count: true,
  }),
  agent: of<'agent'>()({
    kinds: AGENT_KINDS,
    key: ({ subject }) => correlationOf(subject),
    next: (before, event, { at }) => nextAgent(before, event, at),
  }),
  dispatch: of<'dispatch'>()({
    kinds: ['agent.moved'],
    key: ({ body }) => body.idempotency_key,
    next: (before, event, { now }) =>
      nextDispatch(before, event, now.row('agent', correlationOf(event.subject))!.state),
  }),
  dispatched: of<'dispatched'>()({
    kinds: ['agent.moved'],
    key: ({ body }) => (isDispatch(body) || isEnd(body) ? body.intent_id : null),
    next: nextDispatched,
    place: 1,
  }),
  simulation: of<'simulation'>()({
    kinds: ['simulation.changed'],
    key: ({ body }) => body.simulation,
    next: (before, event, { at }) => nextSimulation(before, event, at),
    statuses: ['Draft', 'Active', 'Deprecated', 'Disabled'],
  }),
  intake: of<'intake'>()({
    kinds: INTAKE_KINDS,
    key: fingerprintOf,
    next: (before, event, { at }) => nextIntake(before, event, at),
    statuses: ['open', 'told'],
  }),
};

export const ROW_NAMES = Object.keys(PROJECTIONS) as readonly RowName[];

/** Rows that can be listed. */
export type Listed = 'principal' | 'delegation' | 'simulation' | 'intake';

/** A projection as the fold calls it, whatever its rows and events are. */
export interface Moved {
  readonly name: RowName;
  readonly is_count: boolean;
  key(event: Event, step: Step | null): string | null;
  next(before: unknown, event: Event, step: Step): States[RowName] | null;
}

const BY_KIND: ReadonlyMap<string, readonly Moved[]> = byKind();

function byKind(): Map<string, Moved[]> {
  const found = new Map<string, Moved[]>();
  for (const name of ROW_NAMES) {
    const { kinds, key, next, is_count = false } = PROJECTIONS[name];
    const moved = { name, is_count, key, next } as unknown as Moved;
    for (const kind of kinds) found.set(kind, [...(found.get(kind) ?? []), moved]);
  }
  return found;
}

/** The projections that an event of this kind can change, in their order. */
export function movedBy(kind: EventKind): readonly Moved[] {
  return BY_KIND.get(kind) ?? [];
}

/** The rows that an event names by itself: a good guess at what folding it will look at. */
export function rowsNamedBy(event: Event): (readonly [name: RowName, key: string])[] {
  return movedBy(event.kind).flatMap(({ name, key }) => {
    const found = key(event, null);
    return found === null ? [] : [[name, found] as const];
  });
}

/** Whose rate a capability counts for: that of a delegate, whose key is known, or that of the proposer. */
function pacedName(rows: Rows, { subject, body }: Event<'capability.issued'>): string {
  if (body.delegation !== null) return body.by;
  return rows.row('intent', subject)!.state.proposer;
}

/** An intent begins to wait for a human, or no longer waits. */
function movedQuota({ kind, subject }: Event, { before, now }: Step): string | null {
  const waits = (rows: Rows) => rows.row('intent', subject)?.state.status === 'proposed';
  const is_moved = kind === 'intent.proposed' || (waits(before) && !waits(now));
  return is_moved ? quotaKey(now.row('intent', subject)!.state) : null;
}
