import type { Event } from '../event/event.ts';
import { type Signer, signAct } from '../identity/act.ts';
import { requireHuman } from '../identity/principal.ts';
import type { Context } from './context.ts';

export interface EraseRequest {
  readonly digest: string;
  readonly reason: string;
  readonly signer: Signer;
}

/** Removes the bytes of one object. The ledger keeps its digest and still verifies. */
export async function erase(context: Context, request: EraseRequest): Promise<Event<'object.erased'>> {
  const { digest, reason, signer } = request;
  requireHuman(await context.store.principal(signer.name), signer.public_key);
  await context.store.object(digest);
  const erased = signAct(context.origin, 'object.erased', digest, { reason }, signer, context.clock());
  await context.store.commit({ events: [erased], erase: [digest] });
  return erased;
}
