import type { Event } from '../event/event.ts';
import { needsDispatch } from '../gate/agent-core.ts';
import { currentCapability } from '../gate/capability.ts';
import type { Capability, IntentState } from '../gate/state.ts';
import type { Entry } from '../ledger/entry.ts';
import { journeyLimits, limits } from '../limits.ts';
import { type ReasonCode, Refusal } from '../refusal.ts';
import { isForThisHost } from './addressed.ts';
import { keepBeating } from './beat.ts';
import type { Context } from './context.ts';
import type { ControlPlane } from './control-plane.ts';
import { liveIntents } from './list.ts';
import { removeSettled } from './live.ts';
import { isRunElsewhere, run } from './run.ts';
import { seenOf } from './seen.ts';
import { Slots } from './slots.ts';

/** What became of an order, for the process that watches the executor. The ledger tells more. */
export interface Executed {
  readonly intent_id: string;
  readonly tool: string;
  /** `claimed` comes before the others. `waits`: the control plane cannot be asked now. `refused`: it did not begin. `in doubt`: how it ended is not recorded. */
  readonly outcome:
    | 'claimed'
    | 'success'
    | 'failure'
    | 'partial'
    | 'rolled_back'
    | 'refused'
    | 'in doubt'
    | 'waits';
  readonly code: ReasonCode | null;
}

export interface ExecuteRequest {
  /** From then on nothing begins. What runs may end. */
  readonly signal: AbortSignal;
  /** How long it may take to end, before it is stopped and recorded as stopped. */
  readonly grace_ms: number;
  /** Runs at once. */
  readonly most: number;
  /** Who issues what was ordered; this host itself unless told. */
  readonly control_plane?: ControlPlane;
  readonly tell?: (executed: Executed) => void;
  /** What was ordered before has been looked for, and new orders are heard of. */
  readonly onReady?: () => void;
}

/**
 * Runs what is ordered for this host, as the orders come, until the signal ends it. Each order is tried once: what is refused is
 * recorded, and a human orders again. Rejects where the ledger can no longer be followed; a caller that calls it again goes on with what
 * is still open.
 */
export async function executeOrders(opened: Context, request: ExecuteRequest): Promise<void> {
  const { control_plane } = request;
  const context = control_plane ? { ...opened, control_plane } : opened;
  const stop = new AbortController();
  const waiting: string[] = [];
  const begun = new Set<Promise<boolean>>();
  const slots = new Slots(request.most, request.signal);
  /** Those that are known to wait: that is told once. */
  const asked = new Set<string>();
  let is_open = true;
  const tell = (executed: Executed) => {
    const { intent_id, outcome } = executed;
    const is_known = outcome === 'waits' && asked.has(intent_id);
    if (outcome === 'waits') asked.add(intent_id);
    else asked.delete(intent_id);
    if (!is_known) request.tell?.(executed);
  };
  const begin = () => {
    while (!request.signal.aborted && waiting.length > 0 && begun.size < request.most + limits.waiting_runs) {
      const intent_id = waiting.shift()!;
      const done = executeOrdered(context, intent_id, { slots, abort: stop.signal, tell });
      begun.add(done);
      void done.then((is_over) => {
        begun.delete(done);
        // Until the order lapses.
        if (!is_over) setTimeout(() => add(intent_id), journeyLimits.order_again_ms).unref();
        begin();
      });
    }
  };
  const add = (intent_id: string) => {
    if (!is_open) return;
    waiting.push(intent_id);
    begin();
  };
  const over = new AbortController();
  const beating = keepBeating(context, over.signal, () => request.signal.aborted);
  beating.catch(() => {}); // a store that is out of reach must not be waited for
  try {
    await removeSettled(context);
    await heardUntil(context, request, add);
  } finally {
    is_open = false;
    waiting.length = 0;
    const late = setTimeout(() => stop.abort(), request.grace_ms);
    await Promise.all(begun);
    clearTimeout(late);
    over.abort();
    if (request.signal.aborted) await beating;
  }
}

/** Calls `add` for each order, those that are open already first, until the signal. */
async function heardUntil(
  context: Context,
  { signal, onReady }: ExecuteRequest,
  add: (intent_id: string) => void,
): Promise<void> {
  let over = () => {};
  let fail = (_: unknown) => {};
  const ended = new Promise<void>((resolve, reject) => {
    over = resolve;
    fail = reject;
  });
  ended.catch(() => {}); // it may fail while the open orders are looked for
  signal.addEventListener('abort', over, { once: true });
  if (signal.aborted) over();
  // An order that comes while the open ones are looked for is added twice at most, and then found spent.
  const end = await context.follower.listen({
    tell: (entry) => isOrder(entry) && add(entry.subject),
    fail,
  });
  try {
    for await (const state of liveIntents(context, ['approved']))
      if ((await orderOf(context, state)) !== null) add(state.intent_id);
    onReady?.();
    await ended;
  } finally {
    end();
    signal.removeEventListener('abort', over);
  }
}

function isOrder({ kind, body }: Entry): boolean {
  return kind === 'order.given' && (body as Event<'order.given'>['body']).holder === null;
}

/** The open order of an intent that this host may run by itself; null where there is none. */
async function orderOf(context: Context, state: IntentState): Promise<Capability | null> {
  // What the agent core dispatched, the agent core runs.
  if (state.status !== 'approved' || needsDispatch(state)) return null;
  const order = openOrder(state, context.clock());
  if (order?.status !== 'ordered' || order.holder !== null) return null;
  return isForThisHost(context, await context.store.system(), order.audience) ? order : null;
}

function openOrder(state: IntentState, now: Date): Capability | null {
  try {
    return currentCapability(state, now);
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

/** Nothing was decided: it is asked again. */
const UNASKED: ReadonlySet<ReasonCode> = new Set<ReasonCode>([
  'SERVICE_UNREACHABLE',
  'SERVICE_TLS',
  'SERVICE_FOREIGN',
  'CALLER_LIMITED',
]);

interface Executing {
  readonly slots: Slots;
  readonly abort: AbortSignal;
  readonly tell: (executed: Executed) => void;
}

/** False where it is to be tried again. Never rejects: one run that fails does not end the others. */
async function executeOrdered(
  context: Context,
  intent_id: string,
  { slots, abort, tell }: Executing,
): Promise<boolean> {
  let told: Pick<Executed, 'intent_id' | 'tool'> = { intent_id, tool: '' };
  let has_begun = false;
  const slot = slots.one();
  try {
    const state = await context.store.find('intent', intent_id);
    const order = state && (await orderOf(context, state));
    if (!state || !order) return true;
    told = { intent_id, tool: state.tool };
    const { result, reason_code } = await run(context, {
      intent_id,
      hash: state.hash,
      seen: seenOf({ ...order, hash: state.hash, order_id: order.capability_id }),
      or_elsewhere: true,
      abort,
      isWanted: () => !slots.is_over,
      onTurn: slot.take,
      onClaimed: () => {
        has_begun = true;
        tell({ ...told, outcome: 'claimed', code: null });
      },
    });
    tell({ ...told, outcome: result, code: reason_code });
    return true;
  } catch (error) {
    // The order stays open, for the next executor.
    if (!has_begun && slots.is_over) return true;
    if (!has_begun && (await isRunElsewhere(context, intent_id))) return true;
    const code = error instanceof Refusal ? error.code : 'INTERNAL';
    const is_over = has_begun || !UNASKED.has(code);
    tell({ ...told, outcome: has_begun ? 'in doubt' : is_over ? 'refused' : 'waits', code });
    return is_over;
  } finally {
    slot.give();
  }
}
