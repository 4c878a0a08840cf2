import type { Digest } from '../canonical/digest.ts';
import { parseEvent } from '../event/event.ts';
import { disclosedBy } from '../gate/objects.ts';
import { openEntry } from '../ledger/entry.ts';
import type { ExportedObject } from '../ledger/object.ts';
import { Refusal, refuse } from '../refusal.ts';
import { erasedAt } from '../store/objects.ts';
import type { Store } from '../store/store.ts';
import type { ReadObject } from '../story/tell.ts';

/** So many entries name about as many digests as are held in memory at once. A longer ledger is read more than once. */
const TOGETHER = 250_000;

/** The objects that the first `size` entries name, in the order of their digests, one at a time. */
export async function* contentsOf(
  store: Store,
  size: number,
  together = TOGETHER,
): AsyncGenerator<ExportedObject> {
  const parts = Math.max(1, Math.ceil(size / together));
  for (let part = 0; part < parts; part++) {
    const named = await namedIn(store, size, (digest) => partOf(digest, parts) === part);
    for (const digest of named.sort()) yield await exported(store, digest, size);
  }
}

/** Parts are ranges, so that one after the other is the order of the digests. */
function partOf(digest: Digest, parts: number): number {
  return Math.floor((Number.parseInt(digest.slice(0, 8), 16) / 2 ** 32) * parts);
}

async function namedIn(store: Store, size: number, isWanted: (digest: Digest) => boolean): Promise<Digest[]> {
  const named = new Set<Digest>();
  for await (const batch of store.entries())
    for (const { seq, bytes } of batch) {
      if (seq >= size) return [...named];
      for (const digest of disclosedBy(parseEvent(openEntry(bytes)))) if (isWanted(digest)) named.add(digest);
    }
  return [...named];
}

/** One object, or the mark that it was erased before the ledger had `size` entries. */
export async function exported(store: Store, digest: Digest, size: number): Promise<ExportedObject> {
  const bytes = await bytesOf(store, digest);
  if (bytes !== null) return { digest, bytes };
  const erased = await erasedAt(store, digest);
  if (erased === null)
    refuse('OBJECT_MISSING', `The object ${digest} is gone, and no entry says that it was erased.`, {
      digest,
    });
  if (erased >= size) refuse('STORE_BUSY', 'An object was erased meanwhile. Begin again.', { digest });
  return { digest, bytes: null };
}

async function bytesOf(store: Store, digest: Digest): Promise<Uint8Array | null> {
  try {
    return await store.object(digest);
  } catch (error) {
    if (error instanceof Refusal && error.code === 'OBJECT_MISSING') return null;
    throw error;
  }
}

/** Objects as the story reads them. */
export function readerOf(store: Store): ReadObject {
  return async (digest) => {
    const bytes = await bytesOf(store, digest);
    if (bytes !== null) return bytes;
    return (await erasedAt(store, digest)) === null ? 'missing' : 'erased';
  };
}
