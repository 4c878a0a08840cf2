import type { Digest } from '../canonical/digest.ts';
import { parseEvent } from '../event/event.ts';
import { disclosedBy, ObjectRecord } from '../gate/objects.ts';
import { type Entry, openEntry } from '../ledger/entry.ts';
import type { ExportedObject } from '../ledger/object.ts';
import { limits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import { removalOf } from '../store/objects.ts';
import type { Store } from '../store/store.ts';
import type { ReadObject } from '../story/tell.ts';

/** The objects that the first `size` entries name, in the order of their digests, one at a time. */
export async function* contentsOf(
  store: Store,
  size: number,
  together: number = limits.objects_together,
): AsyncGenerator<ExportedObject> {
  const parts = Math.max(1, Math.ceil(size / together));
  for (let part = 0; part < parts; part++) {
    const record = await recordIn(store, size, (digest) => partOf(digest, parts) === part);
    for (const digest of record.named().sort()) yield await exported(store, digest, size, record);
  }
}

/** Parts are ranges, so that one after the other is the order of the digests. */
function partOf(digest: Digest, parts: number): number {
  return Math.floor((Number.parseInt(digest.slice(0, 8), 16) / 2 ** 32) * parts);
}

async function recordIn(
  store: Store,
  size: number,
  isWanted: (digest: Digest) => boolean,
): Promise<ObjectRecord> {
  const record = new ObjectRecord();
  for await (const batch of store.entries())
    for (const { seq, bytes } of batch) {
      if (seq >= size) return record;
      const event = parseEvent(openEntry(bytes));
      for (const digest of disclosedBy(event)) if (isWanted(digest)) record.names(digest, seq);
      if (isWanted(event.subject)) record.removes(event, seq);
    }
  return record;
}

/** One object, or the mark that it was removed before the ledger had `size` entries, as `record` has them. */
export async function exported(
  store: Store,
  digest: Digest,
  size: number,
  record: ObjectRecord,
): Promise<ExportedObject> {
  // Also where an entry beyond `size` stored it again: the file has only the entry that removed it.
  if (!record.mustBeStored(digest)) return { digest, bytes: null };
  const bytes = await objectBytes(store, digest);
  if (bytes !== null) return { digest, bytes };
  if ((await removalOf(store, digest, size)) !== null)
    refuse('STORE_BUSY', 'An object was removed meanwhile. Begin again.', { digest });
  return refuse('OBJECT_MISSING', `The object ${digest} is gone, and no entry says that it was removed.`, {
    digest,
  });
}

export async function objectBytes(store: Store, digest: Digest): Promise<Uint8Array | null> {
  try {
    return await store.object(digest);
  } catch (error) {
    if (error instanceof Refusal && error.code === 'OBJECT_MISSING') return null;
    throw error;
  }
}

/** Objects as the story of these entries reads them. */
export function readerOf(store: Store, entries: readonly Entry[] = []): ReadObject {
  return async (digest) => {
    const bytes = await objectBytes(store, digest);
    if (bytes !== null) return bytes;
    const removal = await removalOf(store, digest);
    if (removal === null) return 'missing';
    if (removal.how === 'erased') return 'erased';
    const { at, by } = removal;
    const archive = await archiveOf(store, digest, entries, removal.seq);
    return { expired: { at, by, ...(archive && { archive }) } };
  };
}

/** The newest archive that was made before the bytes went, and holds an entry that names them. */
async function archiveOf(
  store: Store,
  digest: Digest,
  entries: readonly Entry[],
  removed: number,
): Promise<{ readonly file: string; readonly sha256: Digest } | null> {
  const named = entries.filter((entry) => disclosedBy(parseEvent(entry)).includes(digest));
  if (named.length === 0) return null;
  const found = (await archivesIn(store)).findLast(
    ({ seq, from, to }) => seq < removed && named.some((one) => one.seq >= from && one.seq < to),
  );
  return found ? { file: found.file, sha256: found.sha256 } : null;
}

export interface Archived {
  readonly seq: number;
  readonly from: number;
  readonly to: number;
  readonly file: string;
  readonly sha256: Digest;
}

/** What the ledger says was archived, oldest first. */
export async function archivesIn(store: Pick<Store, 'entriesOf'>): Promise<Archived[]> {
  const found: Archived[] = [];
  for (const { seq, bytes } of await store.entriesOf('system')) {
    const { kind, body } = parseEvent(openEntry(bytes));
    if (kind !== 'ledger.archived') continue;
    const { from, to, file, sha256 } = body;
    found.push({ seq, from, to, file, sha256 });
  }
  return found;
}
