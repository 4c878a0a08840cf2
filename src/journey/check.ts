import { isDigest } from '../canonical/digest.ts';
import { isUuid } from '../canonical/uuid.ts';
import { eligible, type Verdict } from '../gate/eligible.ts';
import { refuse } from '../refusal.ts';
import type { Context } from './context.ts';

/** The controller of 000: reads, decides, writes nothing. */
export async function check(context: Context, intent_id: string, hash: string): Promise<Verdict> {
  requireFormats(intent_id, hash);
  const state = await context.store.intent(intent_id);
  const { at } = await context.store.tip();
  return eligible(state, hash, context.clock(), at);
}

export function requireFormats(intent_id: string, hash: string): void {
  if (!isUuid(intent_id)) refuse('ID_MALFORMED');
  if (!isDigest(hash)) refuse('HASH_MALFORMED');
}
