import type { Digest } from '../canonical/digest.ts';
import { readsPace } from '../policy/policy.ts';
import type { Context } from './context.ts';
import { untilFresh } from './fresh.ts';

interface Counted {
  readonly intent_id: string;
  /** Who orders it now, and whether under a delegation; absent where it was ordered before. */
  readonly order?: { readonly by: string; readonly delegated: boolean };
}

/**
 * Decides and issues. Where the policies count the capabilities of a proposer, callers of this process wait for each other: of all
 * that decide on one count only one can be issued, and the others would decide in vain.
 */
export async function inCountedTurn<T>(
  context: Context,
  asked: Counted,
  issue: () => Promise<T>,
): Promise<T> {
  const act = () => untilFresh(issue);
  const counted = await countedName(context, asked);
  return counted === null ? act() : context.in_turn(`grant ${counted}`, act);
}

/**
 * Whose capabilities the policies count; null when they count none. It only says who waits for whom in this process, so a row
 * that was tampered with costs time and no safety.
 */
async function countedName(context: Context, { intent_id, order }: Counted): Promise<string | null> {
  const { policy } = await context.store.system();
  if (policy === null || !(await countsCapabilities(context, policy))) return null;
  if (order?.delegated) return order.by;
  const state = await context.store.find('intent', intent_id);
  const ordered = order ? undefined : state?.capabilities.at(-1);
  return ordered?.delegation ? ordered.by : (state?.proposer ?? null);
}

/** Whether a policy that judges an order reads how many were issued before. */
export async function countsCapabilities({ rules }: Context, snapshot: Digest): Promise<boolean> {
  return readsPace((await rules(snapshot)).set.policies);
}
