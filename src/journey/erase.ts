import type { Digest } from '../canonical/digest.ts';
import type { Event } from '../event/event.ts';
import { type Signer, signActs } from '../identity/act.ts';
import { requireHuman } from '../identity/principal.ts';
import { refuse } from '../refusal.ts';
import type { Context } from './context.ts';
import { type Erasure, explainErase } from './erasure.ts';

export interface EraseRequest {
  readonly digest: Digest;
  readonly reason: string;
  readonly signer: Signer;
  /** How many intents, conversations and others rest on it, as the explanation said. Needed where it is more than one. */
  readonly holders?: number;
  /** The executions and conversations whose undo is given up, as the explanation said. */
  readonly undo?: readonly string[];
}

/**
 * Removes the bytes of an object, and of those that hold the same words. The ledger keeps their digests and still verifies.
 * The same bytes are never stored again.
 */
export async function erase(context: Context, request: EraseRequest): Promise<Event<'object.erased'>> {
  const { digest, reason, signer } = request;
  requireHuman(await context.store.find('principal', signer.name), signer.public_key);
  const erasure = await explainErase(context, digest);
  if (erasure.kept !== null) refuse('OBJECT_KEPT', undefined, { role: erasure.kept });
  requireConfirmed(erasure, request);
  const digests = erasure.objects.map((one) => one.digest);
  const kind = 'object.erased';
  const drafts = digests.map((subject) => ({ kind, subject, facts: { reason } }) as const);
  const events = await signActs(context.origin, drafts, signer, context.clock());
  await context.store.commit({ events, erase: digests });
  return events[0]!;
}

/** What rests on it may have changed since it was explained: then it is explained again. */
function requireConfirmed(erasure: Erasure, { holders = 1, undo = [] }: EraseRequest): void {
  if (erasure.holders > 1 && erasure.holders !== holders)
    refuse('ERASE_UNCONFIRMED', `${erasure.holders} rest on this object, and ${holders} were confirmed.`, {
      holders: erasure.holders,
    });
  const lost = erasure.undo.filter((one) => !undo.includes(one));
  if (lost.length > 0)
    refuse('ERASE_UNCONFIRMED', 'It takes away an undo, and that was not confirmed.', {
      undo: lost.join(' '),
    });
}
