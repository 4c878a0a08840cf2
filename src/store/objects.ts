import type { Digest } from '../canonical/digest.ts';
import { parseEvent } from '../event/event.ts';
import { ObjectRecord, objectsOf } from '../gate/objects.ts';
import { openEntry, type SealedEntry } from '../ledger/entry.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { turnsOf } from '../turns.ts';
import type { Store } from './store.ts';

/**
 * Everything that an entry names is there, unless an entry says that it was removed. An attacker who can write to the database can
 * take an object away, and nothing else would tell.
 */
export async function requireObjects(
  store: Store,
  together: number = limits.objects_together,
): Promise<void> {
  const { size } = await store.tip();
  const parts = Math.max(1, Math.ceil(size / together));
  const lost: Digest[] = [];
  for (let part = 0; part < parts; part++) {
    const isInPart = (digest: Digest) => Number.parseInt(digest.slice(0, 8), 16) % parts === part;
    // What a gc removed meanwhile has its entry behind those that were read.
    for (const digest of await absent(store, isInPart))
      if ((await removalOf(store, digest, size)) === null) lost.push(digest);
  }
  if (lost.length === 0) return;
  const words = `Objects that entries name are gone, and no entry says that they were removed: ${lost.length}.`;
  refuse('OBJECT_MISSING', words, { missing: lost.length, first: lost[0]! });
}

/** Entries are read before the list of objects: whatever one names was stored with it. */
async function absent(store: Store, isWanted: (digest: Digest) => boolean): Promise<Digest[]> {
  const record = new ObjectRecord();
  for await (const batch of store.entries())
    for (const { seq, bytes } of batch) {
      const event = parseEvent(openEntry(bytes));
      for (const { digest } of objectsOf(event)) if (isWanted(digest)) record.names(digest, seq);
      if (isWanted(event.subject)) record.removes(event, seq);
    }
  const missing = new Set<Digest>();
  const turns = turnsOf();
  for (const digest of record.named()) {
    const others = turns();
    if (others) await others;
    if (record.mustBeStored(digest)) missing.add(digest);
  }
  for await (const batch of store.objects()) for (const { digest } of batch) missing.delete(digest);
  return [...missing];
}

/** The newest entry that says that the bytes of an object were removed. */
export interface Removal {
  readonly how: 'erased' | 'expired';
  readonly seq: number;
  readonly at: string;
  readonly by: string;
}

export async function removalOf(store: Store, digest: Digest, from = 0): Promise<Removal | null> {
  return removalIn(await store.entriesOf(digest), from);
}

/** `about` are the entries about the digest itself. */
function removalIn(about: readonly SealedEntry[], from = 0): Removal | null {
  for (const { bytes } of about.toReversed()) {
    const { seq, at, ...entry } = openEntry(bytes);
    const { kind, body } = parseEvent(entry);
    if (seq < from) return null;
    if (kind === 'object.erased') return { how: 'erased', seq, at, by: body.by };
    if (kind === 'object.expired') return { how: 'expired', seq, at, by: body.by };
  }
  return null;
}

/** The bytes of an object are not there: lost, unless an entry says who removed them. */
export function refuseAbsent(digest: Digest, about: readonly SealedEntry[]): never {
  const removal = removalIn(about);
  if (removal === null) return refuse('OBJECT_MISSING', undefined, { digest });
  const { how, at, by } = removal;
  const words =
    how === 'erased' ? `It was erased by ${by} on ${at}.` : `It was removed by gc on ${at} by ${by}.`;
  return refuse('OBJECT_MISSING', words, { digest, removed: how, at, by });
}
