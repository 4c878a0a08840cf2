import type { Body, Event } from '../event/event.ts';
import type { Freeze } from '../gate/freeze.ts';
import { type Signer, signAct } from '../identity/act.ts';
import { refuse } from '../refusal.ts';
import type { Context } from './context.ts';

export interface FreezeRequest {
  readonly scope: Freeze['scope'];
  /** The agent or the tool; the tenant and the system are this one. */
  readonly name?: string;
  readonly reason: string;
  readonly signer: Signer;
}

export interface UnfreezeRequest extends FreezeRequest {
  /** The freeze that was shown: by whom, and when it was written. Without it the one that is there. */
  readonly lifts?: Body<'system.unfrozen'>['lifts'];
}

/** Stops everything, one tenant, one proposer or one tool: the next check says no, and running plans and tools are stopped. */
export async function freeze(context: Context, request: FreezeRequest): Promise<Event<'system.frozen'>> {
  const { scope, reason, signer } = request;
  const facts = { scope, name: nameOf(context, request), reason };
  const act = await signAct(context.origin, 'system.frozen', 'system', facts, signer, context.clock());
  await context.store.commit({ events: [act] });
  return act;
}

/** Needs a human and a reason, like the freeze itself, and names that freeze. */
export async function unfreeze(
  context: Context,
  request: UnfreezeRequest,
): Promise<Event<'system.unfrozen'>> {
  const { scope, reason, signer } = request;
  const name = nameOf(context, request);
  const { freezes } = await context.store.system();
  const known = freezes.find((one) => one.scope === scope && one.name === name) ?? refuse('NOT_FROZEN');
  const { lifts = { by: known.by, at: known.at } } = request;
  const facts = { scope, name, lifts, reason };
  const act = await signAct(context.origin, 'system.unfrozen', 'system', facts, signer, context.clock());
  await context.store.commit({ events: [act] });
  return act;
}

/** Nothing is inferred: a freeze of an agent or a tool names it. */
function nameOf({ store }: Context, { scope, name }: FreezeRequest): string {
  if (scope === 'system') return '';
  if (scope === 'tenant') {
    if (name !== undefined && name !== store.tenant)
      refuse('STORE_MISSING', `This ledger is that of the tenant "${store.tenant}".`);
    return store.tenant;
  }
  return name ?? refuse('CLARIFICATION_NEEDED', `Name the ${scope} to freeze.`);
}
