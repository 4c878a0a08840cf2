import type { Digest } from '../canonical/digest.ts';
import { parseEvent } from '../event/event.ts';
import { objectsOf } from '../gate/objects.ts';
import { openEntry } from '../ledger/entry.ts';
import { refuse } from '../refusal.ts';
import type { Store } from './store.ts';

/** So many entries name about as many digests as are held in memory at once. A longer ledger is read more than once. */
const TOGETHER = 250_000;

/**
 * Everything that an entry names is there, unless an entry says that it was erased. Whoever can write to the database can
 * take an object away, and nothing else would tell.
 */
export async function requireObjects(store: Store, together = TOGETHER): Promise<void> {
  const { size } = await store.tip();
  const parts = Math.max(1, Math.ceil(size / together));
  const lost: Digest[] = [];
  for (let part = 0; part < parts; part++) {
    const isInPart = (digest: Digest) => Number.parseInt(digest.slice(0, 8), 16) % parts === part;
    for (const digest of await absent(store, isInPart))
      if ((await erasedAt(store, digest)) === null) lost.push(digest);
  }
  if (lost.length === 0) return;
  const words = `Objects that entries name are gone, and no entry says that they were erased: ${lost.length}.`;
  refuse('OBJECT_MISSING', words, { missing: lost.length, first: lost[0]! });
}

/** Entries are read before the list of objects: whatever one names was stored with it. */
async function absent(store: Store, isWanted: (digest: Digest) => boolean): Promise<Set<Digest>> {
  const named = new Set<Digest>();
  for await (const batch of store.entries())
    for (const { bytes } of batch)
      for (const { digest } of objectsOf(parseEvent(openEntry(bytes))))
        if (isWanted(digest)) named.add(digest);
  for await (const batch of store.objects()) for (const digest of batch) named.delete(digest);
  return named;
}

/** Which entry says that an object was erased. It is about the digest itself. */
export async function erasedAt(store: Store, digest: Digest): Promise<number | null> {
  const about = await store.entriesOf(digest);
  return about.find(({ bytes }) => openEntry(bytes).kind === 'object.erased')?.seq ?? null;
}
