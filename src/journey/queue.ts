import { needsDispatch } from '../gate/agent-core.ts';
import { capabilityOf } from '../gate/capability.ts';
import { timedWordOf } from '../gate/capability-word.ts';
import { type NextStep, standingOf } from '../gate/standing.ts';
import type { IntentState } from '../gate/state.ts';
import { limits } from '../limits.ts';
import { executorsNow, waitsFor } from './beat.ts';
import { momentOf, NOBODY } from './check.ts';
import { authoritiesFor, type Context, type LookedUp, namedIn } from './context.ts';
import { liveIntents } from './list.ts';
import { type InDoubt, inDoubt } from './look.ts';
import { newestBefore } from './page.ts';

/** How much waits, in numbers, for who watches a service. */
export interface Queue {
  /** Intents that wait for an approval, among the newest `limits.queue_counted`. */
  readonly waiting: number;
  /** Since when the oldest of them waits; null where none does. */
  readonly oldest_at: string | null;
  /** Orders that an executor can claim now, and none has. */
  readonly ordered: number;
  /** Those of them for which no executor runs. */
  readonly unserved: number;
  readonly executors: { readonly enrolled: number; readonly running: number };
  /** Runs that no process works on, of any host, and whose end is not known or was half way. */
  readonly in_doubt: number;
  readonly freezes: number;
  readonly entries: number;
}

export async function queueOf(context: Context): Promise<Queue> {
  const { store } = context;
  const next = await nextIn(context);
  return {
    ...(await waitingIn(context, next)),
    ...(await servedBy(context, next)),
    in_doubt: (await inDoubt(context)).filter(isInDoubt).length,
    freezes: (await store.system()).freezes.length,
    entries: (await store.tip()).size,
  };
}

/** What is ordered, and who runs it. */
export type Served = Pick<Queue, 'ordered' | 'unserved' | 'executors'>;

export async function servedNow(context: Context): Promise<Served> {
  return servedBy(context, await nextIn(context));
}

async function servedBy(context: Context, next: NextOf): Promise<Served> {
  return { ...(await orderedIn(context, next)), executors: await executorsNow(context) };
}

/** What an intent waits for, as its standing says it. */
type NextOf = (state: IntentState) => Promise<NextStep>;

async function nextIn(context: Context): Promise<NextOf> {
  const { store } = context;
  const known: LookedUp = { principals: new Map(), delegations: new Map() };
  const moment = await momentOf(context, await store.system(), await authoritiesFor(context, NOBODY));
  return async (state) => {
    const authorities = await authoritiesFor(context, namedIn(state), known);
    const dispatched = needsDispatch(state) ? await store.find('dispatched', state.intent_id) : null;
    return standingOf(state, { ...moment, authorities, dispatched }).next;
  };
}

/** Newest first, until everything that is older has expired, however long it could live. */
async function waitingIn(context: Context, next: NextOf): Promise<Pick<Queue, 'waiting' | 'oldest_at'>> {
  let waiting = 0;
  let oldest_at: string | null = null;
  let seen = 0;
  for await (const state of liveIntents(context, ['proposed', 'approved'], { newest_first: true })) {
    if (++seen > limits.queue_counted) break;
    if ((await next(state)) !== 'approval') continue;
    waiting += 1;
    oldest_at = state.proposed_at;
  }
  return { waiting, oldest_at };
}

async function orderedIn(context: Context, next: NextOf): Promise<Pick<Queue, 'ordered' | 'unserved'>> {
  const { store, clock } = context;
  const now = clock();
  const rows = await store.page(
    'capability',
    newestBefore(limits.page_rows, undefined, ['status', ['ordered']]),
  );
  const open = rows.filter(({ state }) => timedWordOf(state, now) === 'ordered');
  const served = new Map<string, boolean>();
  let ordered = 0;
  let unserved = 0;
  for (const { state } of open) {
    const intent = await store.find('intent', state.intent_id);
    const order = intent && capabilityOf(intent, state.capability_id);
    if (!order || (await next(intent)) !== 'run') continue;
    ordered += 1;
    if (order.holder !== null) continue;
    const { audience } = order;
    if (!served.has(audience)) served.set(audience, (await waitsFor(context, audience)).running > 0);
    if (!served.get(audience)) unserved += 1;
  }
  return { ordered, unserved };
}

/** A run that began, and whose end is not recorded. */
export interface BegunRun {
  readonly intent_id: string;
  readonly execution_id: string;
  /** No process works on it, on whichever host that was. */
  readonly is_in_doubt: boolean;
}

export async function begunRuns(context: Context): Promise<BegunRun[]> {
  const begun = (await inDoubt(context)).filter(({ state }) => state.status === 'claimed');
  return begun.map((one) => ({
    intent_id: one.state.intent_id,
    execution_id: one.run.execution_id,
    is_in_doubt: isInDoubt(one),
  }));
}

function isInDoubt({ status_word }: InDoubt): boolean {
  return status_word === 'IN DOUBT';
}
