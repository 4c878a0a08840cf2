import type { Digest } from '../canonical/digest.ts';
import { publicKeyOf } from '../canonical/ed25519.ts';
import { openIssued } from '../capability/verify.ts';
import { type IssuedToken, requireAsIssued } from '../fold/issued.ts';
import { Refusal } from '../refusal.ts';
import { removalOf } from '../store/objects.ts';
import type { Store } from '../store/store.ts';
import { openEffect } from './sealed-effect.ts';
import { requireAsOrdered } from './terms.ts';

/**
 * The token that an entry names is signed by the control key that signed the entry, and says what the entry and the order say. What it
 * reaches is compared with the effect and the bounds. What an entry says was removed is not compared.
 */
export async function requireIssuedToken(store: Store, issued: IssuedToken): Promise<void> {
  const { token, control_key } = issued.body;
  const bytes = await objectUnlessRemoved(store, token);
  if (bytes === null) return;
  const root = openIssued(bytes, control_key, publicKeyOf);
  requireAsIssued(issued, root);
  const { order } = issued;
  const effect = await objectUnlessRemoved(store, order.effect_digest);
  if (effect === null) return;
  if (order.bounds !== null && (await objectUnlessRemoved(store, order.bounds)) === null) return;
  await requireAsOrdered(store, order, root, openEffect(effect));
}

/** Null where an entry says that it was removed. */
export async function objectUnlessRemoved(store: Store, digest: Digest): Promise<Uint8Array | null> {
  try {
    return await store.object(digest);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'OBJECT_MISSING') throw error;
    if ((await removalOf(store, digest)) === null) throw error;
    return null;
  }
}
