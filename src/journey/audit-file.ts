import type { Digest } from '../canonical/digest.ts';
import { parseEvent } from '../event/event.ts';
import { FoldedLedger } from '../fold/ledger.ts';
import { disclosedBy } from '../gate/objects.ts';
import type { Entry } from '../ledger/entry.ts';
import { type Contents, type VerifiedExport, verifyExport } from '../ledger/export.ts';
import { fingerprint, type Head } from '../ledger/head.ts';
import { type VerifiedBundle, verifyBundle } from '../ledger/prove.ts';
import { refuse } from '../refusal.ts';
import { requireContents } from '../story/contents.ts';
import type { Expired, ReadObject } from '../story/tell.ts';
import type { VerifyOptions } from './audit.ts';

/** For an auditor with no project: a file, a fingerprint of the ledger key, and kept heads. */

/** Verifies an export: bytes, chain, head, objects; with `deep` also canonical form and every signature. */
export function verifyExportFile(path: string, options: VerifyOptions): Promise<VerifiedExport> {
  return verifyWith(path, options, requireContents());
}

async function verifyWith(path: string, options: VerifyOptions, contents: Contents): Promise<VerifiedExport> {
  const folded = new FoldedLedger({ is_whole: true });
  const verified = await verifyExport(path, { ...options, inspect: folded.take, contents });
  if (options.deep) requireGenesis(folded, verified);
  return verified;
}

/** The first entry names the ledger and the key of its heads: both must be those of the head that was verified. */
function requireGenesis(
  { system }: FoldedLedger,
  { head, fingerprint: key }: { head: Head; fingerprint: string },
): void {
  if (head.origin !== system.origin) refuse('LEDGER_FORKED', 'The head belongs to another ledger.');
  if (fingerprint(system.ledger_key) !== key)
    refuse('HEAD_SIGNATURE_INVALID', 'The head is signed by another key.');
}

export interface VerifyProofOptions {
  readonly key: string;
  readonly kept?: string;
}

/** Verifies a bundle offline: head, inclusion, the signature of every human in the story, and the objects. */
export function verifyProof(bytes: Uint8Array, options: VerifyProofOptions): VerifiedBundle {
  const bundle = verifyBundle(bytes, options);
  const folded = new FoldedLedger({ is_whole: false });
  const contents = requireContents(bundle.subject);
  for (const entry of bundle.entries) {
    folded.take(entry);
    contents.entry(entry);
  }
  requireGenesis(folded, bundle);
  if (bundle.objects === null) return bundle;
  for (const [digest, found] of bundle.objects) contents.object({ digest, bytes: found });
  contents.finish();
  return bundle;
}

/** Entries of a verified file, and the objects that they name. */
export interface Excerpt {
  readonly entries: readonly Entry[];
  readonly read: ReadObject;
}

export function excerptOfProof({ subject, entries, objects }: VerifiedBundle): Excerpt {
  return {
    entries: entries.filter((entry) => entry.subject === subject),
    read: readerOf(objects, expiriesIn(entries)),
  };
}

export interface ExcerptRequest extends Omit<VerifyOptions, 'deep'> {
  /** What the entries must be about: the first of these that has any. Without it the newest. */
  readonly subjects: readonly string[];
  readonly limit: number;
}

/** Verifies an export with every signature, and keeps what it says about one subject. */
export async function excerptOfExport(
  path: string,
  { subjects, limit, ...options }: ExcerptRequest,
): Promise<Excerpt & { readonly verified: VerifiedExport }> {
  const found = new Map<string, Entry[]>(subjects.map((subject) => [subject, []]));
  const newest: Entry[] = [];
  const objects = new Map<Digest, Uint8Array | null>();
  const expiries = new Map<Digest, Expired>();
  const all = requireContents();
  let wanted: ReadonlySet<Digest> | null = null;
  const entriesNow = () =>
    subjects.length === 0 ? newest : ([...found.values()].find((entries) => entries.length > 0) ?? []);
  const verified = await verifyWith(
    path,
    { ...options, deep: true },
    {
      entry: (entry) => {
        all.entry(entry);
        noteExpiry(expiries, entry);
        found.get(entry.subject)?.push(entry);
        newest.push(entry);
        if (newest.length > limit) newest.shift();
      },
      object: (object) => {
        all.object(object);
        wanted ??= new Set(entriesNow().flatMap((entry) => disclosedBy(parseEvent(entry))));
        if (wanted.has(object.digest)) objects.set(object.digest, object.bytes);
      },
      finish: all.finish,
    },
  );
  return { verified, entries: entriesNow(), read: readerOf(verified.objects && objects, expiries) };
}

function readerOf(
  objects: ReadonlyMap<Digest, Uint8Array | null> | null,
  expiries: ReadonlyMap<Digest, Expired>,
): ReadObject {
  return async (digest) => {
    if (objects === null) return 'left out';
    const found = objects.get(digest);
    return found === undefined ? 'left out' : (found ?? expiries.get(digest) ?? 'erased');
  };
}

/** By digest: who removed it with gc, and when. */
function expiriesIn(entries: readonly Entry[]): Map<Digest, Expired> {
  const found = new Map<Digest, Expired>();
  for (const entry of entries) noteExpiry(found, entry);
  return found;
}

function noteExpiry(found: Map<Digest, Expired>, { at, ...entry }: Entry): void {
  const { kind, subject, body } = parseEvent(entry);
  if (kind === 'object.expired') found.set(subject, { expired: { at, by: body.by } });
  if (kind === 'object.erased') found.delete(subject);
}
