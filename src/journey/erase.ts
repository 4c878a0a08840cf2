import { type Event, parseEvent } from '../event/event.ts';
import { type Signer, signAct } from '../identity/act.ts';
import { requireHuman } from '../identity/principal.ts';
import { openEntry } from '../ledger/entry.ts';
import { Refusal } from '../refusal.ts';
import type { Store } from '../store/store.ts';
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
  const digests = [digest, ...(await effectsOf(context, digest))];
  const events = digests.map((each) =>
    signAct(context.origin, 'object.erased', each, { reason }, signer, context.clock()),
  );
  await context.store.commit({ events, erase: digests });
  return events[0]!;
}

/** An envelope and its effect hold the same arguments: who erases the one means the other, too. */
async function effectsOf({ store }: Context, hash: string): Promise<string[]> {
  for await (const batch of store.entries()) {
    for (const { bytes } of batch) {
      const event = parseEvent(openEntry(bytes));
      if (event.kind !== 'intent.proposed' || event.body.hash !== hash) continue;
      return (await holds(store, event.body.effect_digest)) ? [event.body.effect_digest] : [];
    }
  }
  return [];
}

async function holds(store: Store, digest: string): Promise<boolean> {
  try {
    await store.object(digest);
    return true;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'OBJECT_MISSING') return false;
    throw error;
  }
}
