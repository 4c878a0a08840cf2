import type { Digest } from '../canonical/digest.ts';
import type { Event } from '../event/event.ts';
import { type Signer, signActs } from '../identity/act.ts';
import { requireHuman } from '../identity/principal.ts';
import { signingOnce } from '../identity/signing-once.ts';
import { journeyLimits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import type { Context } from './context.ts';
import { type Erasure, type ErasureLook, lookAtErasure } from './erasure.ts';
import { touchedSince } from './gc-objects.ts';

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
  const { digest, signer } = request;
  requireHuman(await context.store.find('principal', signer.name), signer.public_key);
  const signed = { ...request, signer: signingOnce(signer, context.clock()) };
  let look = await lookAtErasure(context, digest);
  for (let attempt = 0; attempt < journeyLimits.gc_tries; attempt++) {
    const erased = await commitErasure(context, signed, look);
    if (erased !== null) return erased;
    const { size, names } = await touchedSince(context, look.size);
    const rests = [...look.subjects, ...look.erasure.objects.map((one) => one.digest)];
    look = rests.some((one) => names.has(one)) ? await lookAtErasure(context, digest) : { ...look, size };
  }
  return refuse('STORE_BUSY', 'The ledger grows faster than the object can be looked at.');
}

/** Null where the ledger grew since the look, and nothing was written: something else may rest on it by now. */
async function commitErasure(
  context: Context,
  request: EraseRequest,
  { erasure, size: as_of }: ErasureLook,
): Promise<Event<'object.erased'> | null> {
  const { reason, signer } = request;
  if (erasure.kept !== null) refuse('OBJECT_KEPT', undefined, { role: erasure.kept });
  requireConfirmed(erasure, request);
  const drafts = erasure.objects.map(({ digest, needed_by }) => ({
    kind: 'object.erased' as const,
    subject: digest,
    facts: { needed_by: [...needed_by], reason },
  }));
  const events = await signActs(context.origin, drafts, signer, context.clock());
  try {
    await context.store.commit({ events, erase: drafts.map(({ subject }) => subject), as_of });
    return events[0]!;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'DECISION_STALE') return null;
    throw error;
  }
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
