import { rawKeyOf } from '../canonical/spki.ts';
import { SIMULATION_STATUSES } from '../event/agent.ts';
import type { Event, EventKind } from '../event/event.ts';
import { AGENT_KINDS, correlationOf, nextAgent } from '../gate/agent.ts';
import { isDispatch, isEnd } from '../gate/agent-move.ts';
import { CONVERSATION_STATUSES } from '../gate/agent-state.ts';
import { capabilityOf } from '../gate/capability.ts';
import { nextDispatch } from '../gate/dispatch.ts';
import { nextDispatched } from '../gate/dispatched.ts';
import { EXECUTION_KINDS, nextExecution, RUN_STATUSES } from '../gate/execution.ts';
import { INTAKE_KINDS, intakeFingerprint, nextIntake } from '../gate/intake.ts';
import { INTENT_KINDS, next } from '../gate/next.ts';
import { movedOrders, nextOrder, ORDER_KINDS, ORDER_STATUSES, type OrderEvent } from '../gate/order.ts';
import { nextServer, SERVER_KINDS } from '../gate/server.ts';
import { nextSimulation } from '../gate/simulation.ts';
import { isDue, STATUSES } from '../gate/status-word.ts';
import { nextSystem, SYSTEM_KINDS } from '../gate/system.ts';
import { nextUndoing } from '../gate/undoing.ts';
import { DELEGATION_KINDS, nextDelegation } from '../identity/delegation.ts';
import { IDLE, nextPace } from '../identity/pace.ts';
import { canAct, nextPrincipal, PRINCIPAL_KINDS } from '../identity/principal.ts';
import { afterDecision, afterProposal, quotaKey, UNUSED } from '../identity/quota.ts';
import { refuse } from '../refusal.ts';
import { authoritiesOf, type RowName, type Rows, type States } from './row.ts';

/** What a projection may look at while an event is folded. */
interface Step {
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
  /** Which row the event changes, or which rows; null for none. `step` is absent where only the event is at hand: then null, too. */
  key(event: Event<K>, step: Step | null): string | readonly string[] | null;
  /** Pure: the state after the event, a refusal, or null where the event leaves it as it is. */
  next(before: States[N] | null, event: Event<K>, step: Step): States[N] | null;
  /** There is one of it, and nearly every event looks at it: a store reads it without being asked. */
  readonly is_one?: true;
  /** All statuses that a row can have, for rows that are listed. */
  readonly statuses?: readonly string[];
  /** For rows that are too many to be listed at once: what their pages can be of, beside their status. Each has an index. */
  readonly paged?: (state: States[N]) => PagedBy;
  /** An entry creates at most one row of each slot, 0 unless told: a store finds a row by its entry and its slot. */
  readonly slot?: 1 | 2;
  /** Any judgement may rest on it, whichever intent it is about: a process keeps it folded (`history.ts`). */
  readonly is_kept_folded?: true;
  /** It rests on the entries about several subjects, such as a count, so it cannot follow from a part of the ledger. */
  readonly is_count?: true;
}

/** What a page of rows can be of. */
export interface PagedBy {
  readonly tool: string | null;
  readonly proposer: string | null;
  /** Who did it: the key of the executor of a run, the name of who gave an order, the user of a conversation. Null for an intent. */
  readonly actor: string | null;
  /** The day (UTC) on which an intent expires that waits for a human or for its run; null otherwise. */
  readonly due: string | null;
}

/** The day of a moment, as rows are listed by it. */
export const dueDay = (time: Date): string => time.toISOString().slice(0, 10);

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
    is_kept_folded: true,
  }),
  intent: of<'intent'>()({
    kinds: INTENT_KINDS,
    key: ({ subject }) => subject,
    next: (before, event, { at }) => next(before, event, at),
    statuses: STATUSES,
    paged: (state) => {
      const { tool, proposer, expires_at } = state;
      return { tool, proposer, actor: null, due: isDue(state) ? dueDay(new Date(expires_at)) : null };
    },
  }),
  execution: of<'execution'>()({
    kinds: EXECUTION_KINDS,
    key: ({ body }) => body.execution_id,
    next: (before, event, { at, now }) =>
      nextExecution(before, event, now.row('intent', event.subject)!.state, at),
    statuses: RUN_STATUSES,
    paged: ({ tool, proposer, executor_key }) => ({ tool, proposer, actor: executor_key, due: null }),
  }),
  capability: of<'capability'>()({
    kinds: ORDER_KINDS,
    key: (event, step) => movedOrders(event, step && intentsIn(event, step)),
    next: (before, event, { at, now }) =>
      nextOrder(before, event, now.row('intent', event.subject)!.state, at),
    statuses: ORDER_STATUSES,
    paged: ({ tool, proposer, by }) => ({ tool, proposer, actor: by, due: null }),
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
    slot: 1,
    is_count: true,
  }),
  principal: of<'principal'>()({
    kinds: PRINCIPAL_KINDS,
    key: ({ subject }) => subject,
    next: (before, event, { at }) => nextPrincipal(before, event, at),
    is_kept_folded: true,
    statuses: ['active', 'revoked'],
  }),
  key: of<'key'>()({
    kinds: ['key.enrolled', 'credential.added'],
    key: ({ body }) => body.credential && rawKeyOf(body.credential.public_key),
    // A second name would let one human count as two.
    next: (before, { subject }) =>
      before ? refuse('KEY_ENROLLED_TWICE', `The key is enrolled as "${before.name}".`) : { name: subject },
    is_kept_folded: true,
    slot: 1,
  }),
  // In a part of a ledger it counts those who are shown: never more than there were.
  census: of<'census'>()({
    kinds: PRINCIPAL_KINDS,
    key: ({ subject }, step) => step && (actsMore(subject, step) === 0 ? null : 'humans'),
    next: (before, { subject }, step) => {
      const humans = (before?.humans ?? 0) + actsMore(subject, step);
      // Judged here and not only by callers: two humans who revoke each other at the same moment would leave no human.
      if (humans === 0 && step.now.is_whole) refuse('LAST_HUMAN');
      return { humans };
    },
    is_kept_folded: true,
    slot: 2,
  }),
  delegation: of<'delegation'>()({
    kinds: DELEGATION_KINDS,
    key: ({ subject }) => subject,
    next: (before, event, { at, now }) => nextDelegation(before, event, at, authoritiesOf(now)),
    is_kept_folded: true,
    statuses: ['active', 'revoked'],
  }),
  quota: of<'quota'>()({
    kinds: INTENT_KINDS,
    key: (event, step) => step && movedQuota(event, step),
    next: (before, event, { at, now }) => {
      const after = event.kind === 'intent.proposed' ? afterProposal : afterDecision;
      return after(before ?? UNUSED, now.row('intent', event.subject)!.state.expires_at, at);
    },
    slot: 1,
    is_count: true,
  }),
  agent: of<'agent'>()({
    kinds: AGENT_KINDS,
    key: ({ subject }) => correlationOf(subject),
    next: (before, event, { at }) => nextAgent(before, event, at),
    statuses: CONVERSATION_STATUSES,
    paged: ({ user_id }) => ({ tool: null, proposer: null, actor: user_id, due: null }),
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
    slot: 1,
  }),
  simulation: of<'simulation'>()({
    kinds: ['simulation.changed'],
    key: ({ body }) => body.simulation,
    next: (before, event, { at }) => nextSimulation(before, event, at),
    statuses: SIMULATION_STATUSES,
  }),
  server: of<'server'>()({
    kinds: SERVER_KINDS,
    key: ({ body }) => body.server,
    next: (before, event, { at }) => nextServer(before, event, at),
    statuses: ['active', 'removed'],
  }),
  // Counted here, in the transaction: of two uses at once, the last one that is left goes to one.
  grant: of<'grant'>()({
    kinds: ['intent.delegated'],
    key: ({ body: { delegation } }, step) => (step && grantIn(step, delegation) ? delegation : null),
    next: (before, { body: { delegation } }, step) => {
      const used = (before?.used ?? 0) + 1;
      if (used > grantIn(step, delegation)!.uses) refuse('GRANT_SPENT');
      return { used };
    },
    slot: 2,
    is_count: true,
  }),
  // Judged here, in the transaction: of two that undo the same run at once, one goes on.
  undo: of<'undo'>()({
    kinds: INTENT_KINDS,
    key: ({ kind, subject, body }, step) =>
      kind === 'intent.proposed'
        ? body.undoes
        : step && (step.now.row('intent', subject)?.state.undoes ?? null),
    next: (before, event, { at, now }) =>
      nextUndoing(before, event, now.row('intent', event.subject)!.state, at),
    slot: 2,
    is_count: true,
  }),
  intake: of<'intake'>()({
    kinds: INTAKE_KINDS,
    key: intakeFingerprint,
    next: (before, event, { at }) => nextIntake(before, event, at),
    statuses: ['open', 'told'],
  }),
};

export const ROW_NAMES = Object.keys(PROJECTIONS) as readonly RowName[];

/** Rows that can be listed at once. */
export type ListedRow = 'principal' | 'delegation' | 'simulation' | 'intake' | 'server';
/** Rows that can be listed in pages. */
export type Paged = 'intent' | 'execution' | 'capability' | 'agent';

/** A projection as the fold calls it, whatever its rows and events are. */
interface Moved {
  readonly name: RowName;
  readonly is_count: boolean;
  readonly is_kept_folded: boolean;
  keys(event: Event, step: Step | null): readonly string[];
  next(before: unknown, event: Event, step: Step): States[RowName] | null;
}

const NO_KEYS: readonly string[] = [];
const BY_KIND: ReadonlyMap<string, readonly Moved[]> = byKind();

function byKind(): Map<string, Moved[]> {
  const found = new Map<string, Moved[]>();
  for (const name of ROW_NAMES) {
    const { kinds, key, next, is_count = false, is_kept_folded = false } = PROJECTIONS[name];
    const keys = (event: Event, step: Step | null) => {
      const found = key(event as never, step) ?? NO_KEYS;
      return typeof found === 'string' ? [found] : found;
    };
    const moved = { name, is_count, is_kept_folded, keys, next } as unknown as Moved;
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
  return movedBy(event.kind).flatMap(({ name, keys }) =>
    keys(event, null).map((key) => [name, key] as const),
  );
}

/** What bounds the uses of a delegation; null where nothing does. */
function grantIn({ now }: Step, delegation_id: string) {
  return now.row('delegation', delegation_id)?.state.grant ?? null;
}

/** What the event makes of the intent that it is about. */
function intentsIn({ subject }: OrderEvent, { before, now }: Step) {
  const [was, is] = [before, now].map((rows) => rows.row('intent', subject)!.state);
  return { before: was!, now: is! };
}

/** One more human who can act after the event, one fewer, or as many. */
function actsMore(name: string, { before, now }: Step): number {
  const acts = (rows: Rows) => Number(canAct(rows.row('principal', name)?.state ?? null));
  return acts(now) - acts(before);
}

/** Whose rate a capability counts for: that of a delegate, whose key is known, or that of the proposer. */
export function pacedName(rows: Rows, { subject, body }: Event<'capability.issued'>): string {
  const intent = rows.row('intent', subject)!.state;
  const order = capabilityOf(intent, body.capability_id);
  return order && order.delegation !== null ? order.by : intent.proposer;
}

/** An intent begins to wait for a human, or no longer waits. */
function movedQuota({ kind, subject }: Event, { before, now }: Step): string | null {
  const waits = (rows: Rows) => rows.row('intent', subject)?.state.status === 'proposed';
  const is_moved = kind === 'intent.proposed' || (waits(before) && !waits(now));
  return is_moved ? quotaKey(now.row('intent', subject)!.state) : null;
}
