import { type Digest, isDigest, sha256 } from '../canonical/digest.ts';
import type { Seed } from '../canonical/ed25519.ts';
import { canonicalBytes, type JsonObject } from '../canonical/json.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { type Entry, isEntry, openEntry, type SealedEntry, sealEntry } from './entry.ts';
import { type Head, keyFingerprint, openHead, requireKey } from './head.ts';
import {
  consistencyRanges,
  hashRanges,
  inclusionRanges,
  verifyConsistency,
  verifyInclusion,
} from './merkle.ts';
import { formatVerifierKey, openNote, parseVerifierKey, signNote, type VerifierKey } from './note.ts';
import { type ExportedObject, ObjectLines, objectLine } from './object.ts';
import { isObjectOf, readCanonical, refuseAs } from './strict.ts';

/**
 * A proof bundle: a few entries, and for each the path that leads from it to one signed head. With a head that the
 * auditor kept it also shows that the ledger only grew since. The objects that the entries name may follow, one a line.
 */

const FORMAT = 'keyturn-proof/1';
const NEWLINE = Buffer.from('\n');
const FIELDS = ['complete', 'consistency', 'entries', 'format', 'head', 'key', 'objects', 'subject'];

interface ProvenEntry {
  readonly entry: Entry;
  readonly path: readonly Digest[];
}

interface Consistency {
  readonly from: number;
  readonly path: readonly Digest[];
}

interface Bundle {
  readonly subject: string;
  readonly key: VerifierKey;
  readonly head: string;
  readonly entries: readonly ProvenEntry[];
  readonly consistency: Consistency | null;
  /** The ledger key's word that these are all the entries of the story, so that none can be left out. */
  readonly complete: string;
  /** Whether the objects follow. */
  readonly objects: boolean;
}

export interface ProofRequest {
  /** What the proof is about, such as an intent id. At least one entry must be about it. */
  readonly subject: string;
  readonly key: VerifierKey;
  readonly head: string;
  /** The entries to prove, in the order of the ledger. */
  readonly entries: readonly SealedEntry[];
  /** An earlier head, to show that the ledger only grew since. */
  readonly kept?: string;
  readonly ledger: AsyncIterable<readonly SealedEntry[]>;
  readonly seed: Seed;
  /** What the entries about the subject name, in the order of the digests. Without it the bundle has no objects. */
  readonly objects?: readonly ExportedObject[];
}

/** Writes a bundle in one pass over the ledger, and verifies it before it is returned. */
export async function makeBundle(request: ProofRequest): Promise<Uint8Array> {
  const { subject, key, kept } = request;
  const { size } = openHead(request.head, key);
  const from = kept === undefined ? null : openHead(kept, key).size;
  if (from !== null && from > size)
    refuse('LEDGER_TRUNCATED', `The ledger has ${size} entries; the kept head has ${from}.`);
  const wanted = [
    ...request.entries.map(({ seq }) => inclusionRanges(seq, size)),
    ...(from === null ? [] : [consistencyRanges(from, size)]),
  ];
  const hashes = (await hashRanges(wanted.flat(), size, leavesOf(request.ledger))).values();
  const paths = wanted.map((ranges) => ranges.map(() => hashes.next().value as Digest));
  const entries = request.entries.map(({ bytes }, i) => ({ entry: openEntry(bytes), path: paths[i]! }));
  const consistency = from === null ? null : { from, path: paths.at(-1)! };
  const complete = signNote(completeness(subject, request.head, request.entries), key.name, request.seed);
  const objects = request.objects !== undefined;
  const bundle = formatBundle({ subject, key, head: request.head, entries, consistency, complete, objects });
  const bytes = Buffer.concat([bundle, ...(request.objects ?? []).map(objectLine)]);
  if (bytes.length > limits.bundle_bytes) refuse('INPUT_TOO_LARGE', `The bundle has ${bytes.length} bytes.`);
  verifyBundle(bytes, { key: keyFingerprint(key.public_key), ...(kept !== undefined && { kept }) });
  return bytes;
}

/** What the ledger key signs about a bundle: which entries tell the story, up to which head. */
function completeness(subject: string, head: string, entries: readonly { readonly seq: number }[]): string {
  return `keyturn-complete/1\n${subject}\n${sha256(head)}\n${entries.map(({ seq }) => seq).join(',')}\n`;
}

async function* leavesOf(ledger: AsyncIterable<readonly SealedEntry[]>): AsyncGenerator<Digest[]> {
  for await (const batch of ledger) yield batch.map(({ hash }) => hash);
}

export interface VerifyBundleOptions {
  /** The fingerprint or the verifier key that the auditor got from the owner of the ledger, not from the bundle. */
  readonly key: string;
  /** The text of a head that the auditor kept. */
  readonly kept?: string;
}

export interface VerifiedBundle {
  readonly subject: string;
  readonly tenant: string;
  readonly head: Head;
  readonly kept: Head | null;
  readonly fingerprint: string;
  /** In the order of the ledger. That each is there is proven; that they are all there is the word of the ledger key. */
  readonly entries: readonly Entry[];
  /** By digest, each checked against it; null for one that was erased. Null when the bundle was made without. */
  readonly objects: ReadonlyMap<Digest, Uint8Array | null> | null;
}

export function verifyBundle(bytes: Uint8Array, options: VerifyBundleOptions): VerifiedBundle {
  const end = bytes.indexOf(NEWLINE[0]!) + 1;
  if (end === 0) malformed('The bundle does not end with a newline. It is cut off.');
  const bundle = parseBundle(bytes.subarray(0, end - 1));
  // The key is the auditor's, the head is signed by it, and the ledger goes through the head that was kept.
  requireKey(bundle.key, options.key);
  const head = openHead(bundle.head, bundle.key);
  const kept = options.kept === undefined ? null : openHead(options.kept, bundle.key);
  if (kept !== null) requireConsistent(kept, head, bundle.consistency);
  // Each entry stands where it says, in the ledger that the head signs.
  for (const proven of bundle.entries) requireIncluded(proven, head);
  const entries = bundle.entries.map(({ entry }) => entry);
  const tenant = requireOneStory(bundle.subject, entries);
  if (openNote(bundle.complete, bundle.key) !== completeness(bundle.subject, bundle.head, entries))
    refuse('PROOF_INVALID', 'The bundle does not hold the entries that the ledger key vouches for.');
  const { subject, key } = bundle;
  const objects = readObjects(bytes.subarray(end), bundle.objects);
  return { subject, tenant, head, kept, fingerprint: keyFingerprint(key.public_key), entries, objects };
}

function readObjects(bytes: Uint8Array, expected: boolean): Map<Digest, Uint8Array | null> | null {
  if (bytes.length > 0 && !expected) malformed('Something follows the bundle.');
  const lines = new ObjectLines('BUNDLE_MALFORMED');
  const objects = new Map<Digest, Uint8Array | null>();
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(NEWLINE[0]!, start);
    if (end === -1) malformed('The last line has no end. The bundle is cut off.');
    const object = lines.read(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start));
    if (object === null) malformed('After the bundle comes a line that is no object.');
    objects.set(object.digest, object.bytes);
    start = end + 1;
  }
  return expected ? objects : null;
}

function requireConsistent(kept: Head, head: Head, proof: Consistency | null): void {
  if (kept.size === head.size) {
    if (kept.root !== head.root) refuse('LEDGER_FORKED', 'Two signed heads of one size differ.');
    return;
  }
  if (proof?.from !== kept.size)
    refuse(
      'PROOF_INVALID',
      'The bundle does not reach the kept head. Make one that does: `keyturn ledger prove ID --head FILE`.',
      { kept: kept.size, head: head.size },
    );
  if (!verifyConsistency(kept, head, proof.path))
    refuse('PROOF_INVALID', 'The ledger of this bundle did not grow out of the kept head.');
}

function requireIncluded({ entry, path }: ProvenEntry, head: Head): void {
  const { hash } = refuseAs('BUNDLE_MALFORMED', () => sealEntry(entry));
  if (!verifyInclusion(hash, entry.seq, head, path))
    refuse('PROOF_INVALID', `Entry ${entry.seq} is not in the ledger of this head.`, { seq: entry.seq });
}

function requireOneStory(subject: string, entries: readonly Entry[]): string {
  const { tenant } = entries.find((entry) => entry.subject === subject) ?? malformed('No entry is about it.');
  if (entries.some((entry) => entry.tenant !== tenant)) malformed('The entries belong to several tenants.');
  if (entries.some((entry, i) => i > 0 && entry.seq <= entries[i - 1]!.seq))
    malformed('The entries are not in the order of the ledger.');
  return tenant;
}

function formatBundle({ key, ...rest }: Bundle): Uint8Array {
  // A text file ends with a newline, also when a shell writes it.
  const bytes = Buffer.concat([
    canonicalBytes({ format: FORMAT, key: formatVerifierKey(key), ...rest }),
    NEWLINE,
  ]);
  if (bytes.length > limits.json_bytes) refuse('INPUT_TOO_LARGE', `The bundle has ${bytes.length} bytes.`);
  return bytes;
}

function parseBundle(bytes: Uint8Array): Bundle {
  const bundle = readCanonical(bytes, FIELDS, 'BUNDLE_MALFORMED');
  const { format, subject, key, head, entries, consistency, complete, objects } = bundle;
  if (format !== FORMAT) malformed(`The bundle does not say ${FORMAT}.`);
  if ([subject, key, head, complete].some((text) => typeof text !== 'string'))
    malformed('The subject, the key, the head and its note must be texts.');
  if (typeof objects !== 'boolean') malformed('The bundle does not say whether objects follow.');
  if (!Array.isArray(entries) || !entries.every(isProvenEntry))
    malformed('An entry or its path is malformed.');
  if (consistency !== null && !isConsistency(consistency)) malformed('The consistency proof is malformed.');
  return {
    subject: subject as string,
    key: refuseAs('BUNDLE_MALFORMED', () => parseVerifierKey(key as string)),
    head: head as string,
    entries,
    consistency,
    complete: complete as string,
    objects,
  };
}

function isProvenEntry(value: unknown): value is JsonObject & ProvenEntry {
  return isObjectOf(value, ['entry', 'path']) && isEntry(value.entry) && isPath(value.path);
}

function isConsistency(value: unknown): value is JsonObject & Consistency {
  return isObjectOf(value, ['from', 'path']) && Number.isSafeInteger(value.from) && isPath(value.path);
}

function isPath(value: unknown): value is Digest[] {
  return Array.isArray(value) && value.every((digest) => typeof digest === 'string' && isDigest(digest));
}

function malformed(message: string): never {
  return refuse('BUNDLE_MALFORMED', message);
}
