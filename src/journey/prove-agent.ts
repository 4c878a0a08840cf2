import { isSameJson } from '../canonical/json.ts';
import { type EventKind, isOneOf } from '../event/event.ts';
import { needsDispatch } from '../gate/agent-core.ts';
import type { AgentState } from '../gate/agent-state.ts';
import type { DispatchedIntent } from '../gate/dispatched.ts';
import type { Simulation } from '../gate/simulation.ts';
import type { IntentState } from '../gate/state.ts';
import type { Principal } from '../identity/principal.ts';
import type { SealedEntry } from '../ledger/entry.ts';
import { refuse } from '../refusal.ts';
import type { Context } from './context.ts';

/**
 * What a dispatch rests on, as the entries tell it and not as the projection does: an attacker with write access to the database file
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
    if (isSameJson(told, stored)) return row;
    // Another process may have written between the two reads. Only what stood still can be compared.
    if ((await store.tip()).size === size) refuse('PROJECTION_DRIFT');
  }
}

export function provenAgent(context: Context, correlation_id: string): Promise<AgentState | null> {
  return agreed(context, async () => {
    const told = (await context.ledger.told('agent', correlation_id))?.state ?? null;
    const row = await context.store.find('agent', correlation_id);
    return { told, stored: row, row };
  });
}

/** Signed by humans who were enrolled at that moment, and under delegations that held. */
export function provenSimulations(
  context: Context,
  ids: readonly string[],
): Promise<readonly (Simulation | null)[]> {
  return agreed(context, async () => {
    const told: (Simulation | null)[] = [];
    const row: (Simulation | null)[] = [];
    for (const id of ids) {
      told.push((await context.ledger.told('simulation', id))?.state ?? null);
      row.push(await context.store.find('simulation', id));
    }
    return { told, stored: row, row };
  });
}

/** Null for a name that is not enrolled. */
export function provenPrincipal(context: Context, name: string): Promise<Principal | null> {
  return agreed(context, async () => {
    const told = (await context.ledger.state()).authorities.principal(name);
    const row = await context.store.find('principal', name);
    return { told, stored: row, row };
  });
}

/** A caller may name any subject, also one that is no principal. */
export function only(
  { read_entry }: Context,
  entries: readonly SealedEntry[],
  kinds: readonly EventKind[],
): SealedEntry[] {
  return entries.filter(({ bytes }) => isOneOf(kinds, read_entry(bytes).event));
}

/** The dispatch of what the agent core proposed, while its conversation executes it. A capability alone is not enough to run that. */
export async function provenDispatch(
  context: Context,
  intent: IntentState,
): Promise<DispatchedIntent | null> {
  if (!needsDispatch(intent)) return null;
  const row = await context.store.find('dispatched', intent.intent_id);
  const state = row && (await provenAgent(context, row.correlation_id));
  const plan = state?.plans.find(({ plan_id }) => plan_id === row?.plan_id);
  const step = plan?.steps.find(({ step_id }) => step_id === row?.step_id);
  const executes = step?.state === 'EXECUTING' && step.intent_id === intent.intent_id;
  return executes ? row : null;
}
