import type { Event } from '../event/event.ts';
import { type Signer, signAct } from '../identity/act.ts';
import { requireHuman } from '../identity/principal.ts';
import { refuse } from '../refusal.ts';
import type { Context } from './context.ts';

export interface RevokeCapabilityRequest {
  readonly capability_id: string;
  readonly reason: string;
  readonly signer: Signer;
}

/** Takes a capability back. The run that uses it, if there is one, is stopped. */
export async function revokeCapability(
  context: Context,
  { capability_id, reason, signer }: RevokeCapabilityRequest,
): Promise<Event<'capability.revoked'>> {
  requireHuman(await context.store.find('principal', signer.name), signer.public_key);
  const known = (await context.store.find('capability', capability_id)) ?? refuse('CAPABILITY_UNKNOWN');
  const facts = { capability_id, reason };
  const now = context.clock();
  const revoked = await signAct(context.origin, 'capability.revoked', known.intent_id, facts, signer, now);
  await context.store.commit({ events: [revoked] });
  return revoked;
}
