import { isDigest } from '../canonical/digest.ts';
import { isUuid } from '../canonical/uuid.ts';
import { eligible, type Verdict } from '../gate/eligible.ts';
import type { IntentState } from '../gate/state.ts';
import { isLive } from '../identity/principal.ts';
import { refuse } from '../refusal.ts';
import type { Context } from './context.ts';

/** The controller of 000: reads, decides, writes nothing. */
export async function check(context: Context, intent_id: string, hash: string): Promise<Verdict> {
  requireFormats(intent_id, hash);
  const state = await context.store.intent(intent_id);
  return judge(context, state, hash);
}

/** The verdict on a state, wherever it was read from. */
export async function judge(context: Context, state: IntentState | null, hash: string): Promise<Verdict> {
  const { at } = await context.store.tip();
  const principals = new Map((await context.store.principals()).map((one) => [one.name, one]));
  return eligible(state, hash, context.clock(), at, ({ by, key }) => isLive(principals.get(by) ?? null, key));
}

export function requireFormats(intent_id: string, hash: string): void {
  if (!isUuid(intent_id)) refuse('ID_MALFORMED');
  if (!isDigest(hash)) refuse('HASH_MALFORMED');
}
