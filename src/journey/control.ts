import type { Event } from '../event/event.ts';
import { type Signer, signAct } from '../identity/act.ts';
import type { Context } from './context.ts';

export interface AddControlKeyRequest {
  readonly public_key: string;
  /** Keeps its private half, once the act is signed and before it is written. */
  readonly keep: () => void;
  readonly reason: string;
  readonly signer: Signer;
}

/** From now on this key signs capabilities. The older ones still verify what they signed. */
export async function addControlKey(
  context: Context,
  { public_key, keep, reason, signer }: AddControlKeyRequest,
): Promise<Event<'control_key.added'>> {
  const facts = { public_key, reason };
  const added = await signAct(context.origin, 'control_key.added', 'system', facts, signer, context.clock());
  if (!signer.is_rehearsal) keep();
  await context.store.commit({ events: [added] });
  return added;
}
