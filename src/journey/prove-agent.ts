import { canonicalText } from '../canonical/json.ts';
import { movesAgent, nextAgent } from '../gate/agent.ts';
import type { AgentState } from '../gate/agent-state.ts';
import { needsDispatch, requireDispatched } from '../gate/dispatched.ts';
import { movesSimulation, type Simulation } from '../gate/simulation.ts';
import type { IntentState } from '../gate/state.ts';
import { movesPrincipal, type Principal } from '../identity/principal.ts';
import type { Entry, SealedEntry } from '../ledger/entry.ts';
import { refuse } from '../refusal.ts';
import { inspected, withSigners } from './audit.ts';
import type { Context } from './context.ts';
import { Inspector } from './inspect.ts';

/**
 * What a dispatch rests on, as the entries tell it and not as the projection does: whoever can write to the database file
 * can write a yes into a row, or make a revoked user active again. Each row must say what its entries say.
 */

interface Compared<T> {
  readonly told: unknown;
  /** What of the row must be the same. */
  readonly stored: unknown;
  readonly row: T;
}

async function agreed<T>({ store }: Context, read: () => Promise<Compared<T>>): Promise<T> {
  for (;;) {
    const { size } = await store.tip();
    const { told, stored, row } = await read();
    if (canonicalText([told as never]) === canonicalText([stored as never])) return row;
    // Another process may have written between the two reads. Only what stood still can be compared.
    if ((await store.tip()).size === size) refuse('PROJECTION_DRIFT');
  }
}

export function provenAgent(context: Context, correlation_id: string): Promise<AgentState | null> {
  return agreed(context, async () => {
    const told = await toldAgent(context, correlation_id);
    const row = await context.store.agent(correlation_id);
    return { told, stored: row, row };
  });
}

async function toldAgent({ store, read_entry }: Context, correlation_id: string): Promise<AgentState | null> {
  let state: AgentState | null = null;
  for (const { bytes } of await store.entriesOf(`agent:${correlation_id}`)) {
    const { entry, event } = read_entry(bytes);
    if (movesAgent(event)) state = nextAgent(state, event, entry.at);
  }
  return state;
}

/** Signed by humans who were enrolled at that moment, and under delegations that held. */
export function provenSimulations(
  context: Context,
  ids: readonly string[],
): Promise<readonly (Simulation | null)[]> {
  return agreed(context, async () => {
    const about: SealedEntry[] = [];
    for (const id of ids) about.push(...(await context.store.entriesOf(`simulation:${id}`)));
    const inspector = await inspected(context, only(context, about, movesSimulation));
    const row: (Simulation | null)[] = [];
    for (const id of ids) row.push(await context.store.simulation(id));
    return { told: ids.map((id) => inspector.simulation(id)), stored: row, row };
  });
}

/** Null for somebody who is not enrolled. How often they were active lately is not part of their own entries. */
export function provenPrincipal(context: Context, name: string): Promise<Principal | null> {
  return agreed(context, async () => {
    const about = only(context, await context.store.entriesOf(name), movesPrincipal);
    const told = about.length > 0 ? (await inspected(context, about)).authorities.principal(name) : null;
    const row = await context.store.principal(name);
    return { told: unpaced(told), stored: unpaced(row), row };
  });
}

function unpaced(principal: Principal | null): Omit<Principal, 'pace'> | null {
  if (principal === null) return null;
  const { pace: _, ...rest } = principal;
  return rest;
}

/** What entries told until some moment of the past, together with those of everybody who had signed them by then. */
export async function toldUntil(
  context: Context,
  about: readonly SealedEntry[],
  isBefore: (entry: Entry) => boolean,
): Promise<Pick<Inspector, 'intent' | 'authorities' | 'system'>> {
  const inspector = new Inspector(context.verified);
  for (const { bytes } of await withSigners(context, about)) {
    const read = context.read_entry(bytes);
    if (isBefore(read.entry)) inspector.take(read);
  }
  return inspector;
}

/** A caller may name anybody, also something that is no principal at all. */
function only(
  { read_entry }: Context,
  entries: readonly SealedEntry[],
  isMeant: (event: ReturnType<Context['read_entry']>['event']) => boolean,
): SealedEntry[] {
  return entries.filter(({ bytes }) => isMeant(read_entry(bytes).event));
}

/** What the agent core proposed runs only while it is dispatched, whoever holds a capability for it. */
export async function requireDispatchedNow(context: Context, intent: IntentState): Promise<void> {
  if (!needsDispatch(intent)) return;
  const row = await context.store.dispatched(intent.intent_id);
  const state = row && (await provenAgent(context, row.correlation_id));
  const plan = state?.plans.find(({ plan_id }) => plan_id === row?.plan_id);
  const step = plan?.steps.find(({ step_id }) => step_id === row?.step_id);
  const executes = step?.state === 'EXECUTING' && step.intent_id === intent.intent_id;
  requireDispatched(intent, () => (executes ? row : null));
}
