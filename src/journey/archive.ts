import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { auditExport } from '../audit/ledger.ts';
import type { Digest } from '../canonical/digest.ts';
import type { KeyPair } from '../canonical/ed25519.ts';
import { removeDurably, streamDurably } from '../durable/file.ts';
import { type Event, parseEvent } from '../event/event.ts';
import { disclosedBy, ObjectRecord } from '../gate/objects.ts';
import { type Signer, signAct } from '../identity/act.ts';
import { requireHuman } from '../identity/principal.ts';
import { openEntry, skimEntry } from '../ledger/entry.ts';
import { writeExport } from '../ledger/export.ts';
import { append, consistencyRanges, hashRanges } from '../ledger/merkle.ts';
import { verifierKey } from '../ledger/note.ts';
import type { ExportedObject } from '../ledger/object.ts';
import { type SegmentBeginning, WHOLE } from '../ledger/segment.ts';
import { Refusal, refuse } from '../refusal.ts';
import { removalOf } from '../store/objects.ts';
import type { Store } from '../store/store.ts';
import { head } from './audit.ts';
import { readChunks } from './audit-file.ts';
import { archivesIn, objectBytes } from './contents.ts';
import type { Context } from './context.ts';

export interface ArchiveRequest {
  readonly older_than_s: number;
  /** A new file. It holds goals, arguments and outputs in the clear, and only its owner may read it. */
  readonly out: string;
  readonly reason: string;
  readonly signer: Signer;
}

/**
 * Writes the oldest entries that no archive has yet, with the objects that they name, to a file; reads it again and verifies it; then
 * records it. The entries stay in the store, since all that the ledger tells follows from them. The objects can go with a later gc.
 */
export async function archive(
  context: Context,
  pair: KeyPair,
  { older_than_s, out, reason, signer }: ArchiveRequest,
): Promise<Event<'ledger.archived'>> {
  const { store, origin, clock } = context;
  requireHuman(await store.find('principal', signer.name), signer.public_key);
  const from = (await archivesIn(store)).at(-1)?.to ?? 0;
  const to = await olderThan(store, from, new Date(clock().getTime() - older_than_s * 1000));
  if (to === from) refuse('SEGMENT_EMPTY', `No entry from ${from} on is that old.`, { from });
  if (existsSync(out)) refuse('FILE_EXISTS', `${out} exists.`);
  const record = async (written: Written) => {
    const facts = { from, to, file: basename(out), ...written, reason };
    const archived = await signAct(origin, 'ledger.archived', 'system', facts, signer, clock());
    await store.commit({ events: [archived] });
    return archived;
  };
  if (signer.is_rehearsal) {
    requireFolder(dirname(out));
    return record(NOT_WRITTEN);
  }
  const { text, size, fingerprint } = await head(context, pair);
  const leaves = hashesOf(store, 0);
  const consistency = await hashRanges(consistencyRanges(to, size), size, leaves);
  const chunks = writeExport({
    tenant: store.tenant,
    key: verifierKey(origin, pair.public_key),
    head: text,
    part: { begin: await beginningAt(store, from), to, consistency },
    entries: store.entries(from),
    objects: objectsOfPart(store, from, to),
  });
  const written = await writeHashed(out, chunks);
  try {
    await auditExport(() => readChunks(out), { key: fingerprint, deep: from === 0 });
    return await record(written);
  } catch (error) {
    // A file that no entry knows would be taken for an archive. One that an entry may know stays.
    const is_unknown = error instanceof Refusal && error.code === 'WRITE_FAILED';
    if (!is_unknown) removeDurably(out);
    throw error;
  }
}

interface Written {
  readonly sha256: Digest;
  readonly bytes: number;
}

/** Stands for the file where the act is only rehearsed: to write it takes as long as the archive itself. */
const NOT_WRITTEN: Written = { sha256: '0'.repeat(64), bytes: 1 };

function requireFolder(folder: string): void {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    refuse('WRITE_FAILED', `${folder}: ${(error as NodeJS.ErrnoException).code}.`);
  }
}

/** The first entry from `from` on that is not older than this. */
async function olderThan(store: Store, from: number, before: Date): Promise<number> {
  let to = from;
  for await (const batch of store.entries(from))
    for (const { bytes } of batch) {
      const at = skimEntry(bytes)?.at;
      if (at === undefined || Date.parse(at) >= before.getTime()) return to;
      to++;
    }
  return to;
}

async function* hashesOf(store: Store, from: number): AsyncGenerator<Digest[]> {
  for await (const batch of store.entries(from)) yield batch.map(({ hash }) => hash);
}

async function beginningAt(store: Store, from: number): Promise<SegmentBeginning> {
  let { last, ...tree }: SegmentBeginning = WHOLE;
  if (from === 0) return WHOLE;
  for await (const hashes of hashesOf(store, 0))
    for (const hash of hashes) {
      tree = append(tree, hash);
      last = hash;
      if (tree.size === from) return { ...tree, last };
    }
  return refuse('LEDGER_TRUNCATED', `The ledger has ${tree.size} entries, and ${from} are archived.`);
}

/** What these entries name. An object that was removed before is left out: the entry that says so may come later than these. */
async function* objectsOfPart(store: Store, from: number, to: number): AsyncGenerator<ExportedObject> {
  const record = new ObjectRecord();
  for await (const batch of store.entries(from)) {
    for (const { seq, bytes } of batch.filter((one) => one.seq < to)) {
      const event = parseEvent(openEntry(bytes));
      record.removes(event, seq);
      for (const digest of disclosedBy(event)) record.names(digest, seq);
    }
    if (batch.at(-1)!.seq >= to - 1) break;
  }
  for (const digest of record.named().sort())
    yield { digest, bytes: record.mustBeStored(digest) ? await bytesOf(store, digest) : null };
}

/** Null where an entry says that the bytes were removed. What is lost is not archived as if it had been. */
async function bytesOf(store: Store, digest: Digest): Promise<Uint8Array | null> {
  const bytes = await objectBytes(store, digest);
  if (bytes === null && (await removalOf(store, digest)) === null)
    refuse('OBJECT_MISSING', `The object ${digest} is gone, and no entry says that it was removed.`, {
      digest,
    });
  return bytes;
}

async function writeHashed(path: string, chunks: AsyncIterable<Uint8Array>): Promise<Written> {
  const hash = createHash('sha256');
  let bytes = 0;
  async function* seen() {
    for await (const chunk of chunks) {
      hash.update(chunk);
      bytes += chunk.length;
      yield chunk;
    }
  }
  await streamDurably(path, seen());
  return { sha256: hash.digest('hex'), bytes };
}
