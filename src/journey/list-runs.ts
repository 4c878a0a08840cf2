import { capabilityOf } from '../gate/capability.ts';
import { type CapabilityWord, STORED_AS, timedWordOf } from '../gate/capability-word.ts';
import type { Execution } from '../gate/execution.ts';
import type { Order } from '../gate/order.ts';
import { capabilityWordOf } from '../gate/standing.ts';
import type { Capability, IntentState, Run } from '../gate/state.ts';
import { type RunWord, runWordOf } from '../gate/status-word.ts';
import { skimEntry } from '../ledger/entry.ts';
import { refuse } from '../refusal.ts';
import type { Page, PagedRow } from '../store/store.ts';
import { issuersOf } from './approvals.ts';
import { authoritiesFor, type Context, type LookedUp, namedIn, requireIntent } from './context.ts';
import { isRunning } from './life.ts';
import { FEW, goalOf, STORED } from './list.ts';
import { holdsText, type ListedPage, liveSince, newestBefore, type PageRequest, pageOf } from './page.ts';

/** What runs and orders have in common to be found by. */
interface Filter extends PageRequest {
  readonly intent_id?: string | undefined;
  readonly tool?: string | undefined;
  readonly proposer?: string | undefined;
  /** A part of the goal, the tool or the proposer, in any case. */
  readonly text?: string | undefined;
}

export interface RunsRequest extends Filter {
  readonly status_word?: RunWord | undefined;
  /** The name or the key of the executor that claimed it. */
  readonly executor?: string | undefined;
}

export interface CapabilitiesRequest extends Filter {
  readonly status_word?: CapabilityWord | undefined;
  /** Who ordered it. */
  readonly by?: string | undefined;
}

/** What is told of the intent beside its run or order. */
interface OfIntent {
  readonly intent_id: string;
  readonly proposer: string;
  /** Null where it was erased, or its stored bytes are damaged. */
  readonly goal: string | null;
}

export interface RunSummary extends Run, OfIntent {
  readonly status_word: RunWord;
  /** What the ledger calls the executor now; null where it no longer knows it. */
  readonly executor_name: string | null;
}

export interface CapabilitySummary extends Capability, OfIntent {
  readonly tool: string;
  readonly status_word: CapabilityWord;
}

/** Newest first. */
export async function listRuns(context: Context, request: RunsRequest): Promise<ListedPage<RunSummary>> {
  const { executors } = await context.store.system();
  const { executor, status_word } = request;
  const meant = executors.filter(({ name, public_key }) => executor === name || executor === public_key);
  const keys = executor === undefined ? null : meant.map(({ public_key }) => public_key);
  const statuses = status_word && STORED[status_word];
  const index: Page['by'] =
    statuses && FEW.has(status_word)
      ? ['status', statuses]
      : keys
        ? ['actor', keys]
        : indexFor(request, statuses);
  return pageOf<Execution, RunSummary>(context, request, {
    list: 'runs',
    batch: rowsOf(context, 'execution', request, index),
    at: ({ claimed_at }) => claimed_at,
    shown: async (row) => {
      const is_of = keys === null || keys.includes(row.executor_key);
      const could_be = status_word === undefined || STORED[status_word].includes(row.status);
      if (!is_of || !could_be || !isAskedFor(row, request)) return null;
      const intent = await requireIntent(context, row.intent_id);
      const run = intent.runs.find(({ execution_id }) => execution_id === row.execution_id);
      const word = runWordOf(row.status, row.status === 'claimed' && (await isRunning(context, intent)));
      if ((status_word ?? word) !== word) return null;
      const told = await toldOf(context, intent);
      if (!holdsText([told.goal, row.tool, row.proposer], request.text)) return null;
      const known = executors.find(({ public_key }) => public_key === row.executor_key);
      return {
        ...(run ?? refuseTorn()),
        ...told,
        status_word: word,
        executor_name: known?.name ?? null,
      };
    },
  });
}

/** What the clock does not end: none of these is older than an intent can be. */
const OPEN: ReadonlySet<CapabilityWord> = new Set<CapabilityWord>(['ordered', 'issued', 'void']);

/** Orders, and what was issued for them, newest first. */
export function listCapabilities(
  context: Context,
  request: CapabilitiesRequest,
): Promise<ListedPage<CapabilitySummary>> {
  const { by, status_word } = request;
  const now = context.clock();
  const known: LookedUp = { principals: new Map(), delegations: new Map() };
  const statuses = status_word && STORED_AS[status_word];
  const index: Page['by'] = by === undefined ? indexFor(request, statuses) : ['actor', [by]];
  return pageOf<Order, CapabilitySummary>(context, request, {
    list: 'capabilities',
    batch: rowsOf(context, 'capability', request, index),
    at: ({ ordered_at }) => ordered_at,
    // None outlives its intent.
    ...(status_word && OPEN.has(status_word) && { since: liveSince(context) }),
    shown: async (row) => {
      const timed = timedWordOf(row, now);
      const could_be =
        status_word === undefined || status_word === timed || (status_word === 'void' && OPEN.has(timed));
      if ((by ?? row.by) !== row.by || !could_be || !isAskedFor(row, request)) return null;
      const intent = await requireIntent(context, row.intent_id);
      const order = capabilityOf(intent, row.capability_id) ?? refuseTorn();
      const authorities = OPEN.has(timed) ? await authoritiesFor(context, namedIn(intent), known) : null;
      const issuers = authorities ? await issuersOf(context, intent) : {};
      const word = capabilityWordOf(intent, order, { now, authorities, ...issuers });
      if ((status_word ?? word) !== word) return null;
      const told = await toldOf(context, intent);
      if (!holdsText([told.goal, row.tool, row.proposer], request.text)) return null;
      return { ...order, ...told, tool: row.tool, status_word: word };
    },
  });
}

/** The index that leaves the fewest. */
function indexFor({ proposer, tool }: Filter, statuses: readonly string[] | undefined): Page['by'] {
  if (proposer !== undefined) return ['proposer', [proposer]];
  if (tool !== undefined) return ['tool', [tool]];
  return statuses && ['status', statuses];
}

const isAskedFor = (row: Execution | Order, { tool = row.tool, proposer = row.proposer }: Filter) =>
  row.tool === tool && row.proposer === proposer;

async function toldOf(context: Context, intent: IntentState): Promise<OfIntent> {
  const { intent_id, proposer } = intent;
  return { intent_id, proposer, goal: await goalOf(context, intent) };
}

/** The rows follow from the ledger with their intents, in one transaction. */
function refuseTorn(): never {
  return refuse('STORE_CORRUPT', 'An intent does not have a run or an order that has a row.');
}

type Batch<N extends 'execution' | 'capability'> = (
  size: number,
  beyond: number | undefined,
) => Promise<PagedRow<N>[]>;

/** Those of one intent are few, and found by its entries: an index of ids, which are random, would cost each commit a page. */
function rowsOf<N extends 'execution' | 'capability'>(
  context: Context,
  name: N,
  { intent_id }: Filter,
  index: Page['by'],
): Batch<N> {
  if (intent_id === undefined)
    return (size, beyond) => context.store.page(name, newestBefore(size, beyond, index));
  return async (size, beyond = Number.POSITIVE_INFINITY) => {
    await requireIntent(context, intent_id);
    const made = await madeBy(context, name, intent_id);
    const meant = made.filter(({ seq }) => seq < beyond).slice(0, size);
    return Promise.all(
      meant.map(async ({ seq, id }) => ({
        seq,
        state: (await context.store.find(name, id)) ?? refuseTorn(),
      })),
    );
  };
}

const MADE_BY = { execution: ['execution.claimed', 'execution_id'], capability: ['order.given', 'order_id'] };

/** The entries of an intent that made such a row, newest first. */
async function madeBy({ store }: Context, name: 'execution' | 'capability', intent_id: string) {
  const [kind, member] = MADE_BY[name] as [string, string];
  const entries = (await store.entriesOf(intent_id)).map(({ bytes }) => skimEntry(bytes));
  return entries
    .flatMap((entry) => (entry?.kind === kind ? [{ seq: entry.seq, id: String(entry.body[member]) }] : []))
    .reverse();
}
