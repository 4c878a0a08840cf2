import type { Event } from '../event/event.ts';
import type { Freeze } from '../gate/freeze.ts';
import { type Signer, signAct } from '../identity/act.ts';
import { requireHuman } from '../identity/principal.ts';
import { refuse } from '../refusal.ts';
import type { Context } from './context.ts';

export interface FreezeRequest {
  readonly scope: Freeze['scope'];
  /** The agent or the tool; the tenant and the system are this one. */
  readonly name?: string;
  readonly reason: string;
  readonly signer: Signer;
}

/** Stops everything, one tenant, one proposer or one tool: the next check says no, and running plans and tools are stopped. */
export function freeze(context: Context, request: FreezeRequest): Promise<Event<'system.frozen'>> {
  return change(context, 'system.frozen', request);
}

/** Needs a human and a reason, like the freeze itself. */
export function unfreeze(context: Context, request: FreezeRequest): Promise<Event<'system.unfrozen'>> {
  return change(context, 'system.unfrozen', request);
}

async function change<K extends 'system.frozen' | 'system.unfrozen'>(
  context: Context,
  kind: K,
  request: FreezeRequest,
): Promise<Event<K>> {
  const { scope, reason, signer } = request;
  requireHuman(await context.store.find('principal', signer.name), signer.public_key);
  const facts = { scope, name: nameOf(context, request), reason } as Parameters<typeof signAct<K>>[3];
  const act = await signAct(context.origin, kind, 'system', facts, signer, context.clock());
  await context.store.commit({ events: [act as Event] });
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
