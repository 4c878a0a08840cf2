import type { Digest } from '../canonical/digest.ts';
import { canonicalText } from '../canonical/json.ts';
import { isUtf8 } from '../canonical/primitive.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import type { Entry, SealedEntry } from './entry.ts';
import { type Head, keyFingerprint, openHead, requireKey } from './head.ts';
import { streamLines } from './lines.ts';
import { formatVerifierKey, parseVerifierKey, type VerifierKey } from './note.ts';
import { type ExportedObject, OBJECT_LINE_BYTES, ObjectLines, objectLine } from './object.ts';
import {
  endLine,
  isEndLine,
  PART_FIELDS,
  partFields,
  partOf,
  requireBeneath,
  requireFollows,
  SEGMENT_FORMAT,
  type SegmentBeginning,
  type SegmentEnd,
  type SegmentPart,
  segmentEnd,
} from './segment.ts';
import { readCanonical, refuseAs } from './strict.ts';
import { LedgerVerifier, type VerifiedLedger } from './verify.ts';

/**
 * A whole ledger as JSON Lines: who it belongs to, then each entry in its exact bytes with its hash, then the objects if it
 * has them, then the signed head. Each part is found at a fixed place of its line, so that what is hashed is what was stored.
 */

const FORMAT = 'keyturn-ledger/1';
const ENTRY = '{"entry":';
const HASH = ',"hash":"';
const END = '"}';
const HEAD = '{"head":';
const TAIL = /^,"hash":"([0-9a-f]{64})"\}$/;
const TAIL_BYTES = HASH.length + 64 + END.length;
const ENTRY_LINE_BYTES = ENTRY.length + limits.entry_bytes + TAIL_BYTES;

export interface ExportSource {
  readonly tenant: string;
  /** Its name is the origin of the ledger. */
  readonly key: VerifierKey;
  /** The signed head. Entries after it are left out: the ledger may grow while it is exported. */
  readonly head: string;
  /** From the first one on, or from that of the part. */
  readonly entries: AsyncIterable<readonly SealedEntry[]>;
  /** Only these entries, with the proof that they are beneath the head. */
  readonly part?: SegmentPart & { readonly consistency: readonly Digest[] };
  /** What the entries name, in the order of the digests. Without it the export has no objects. */
  readonly objects?: AsyncIterable<ExportedObject>;
}

export async function* writeExport(source: ExportSource): AsyncGenerator<Uint8Array> {
  const { tenant, key, head, entries, objects, part } = source;
  const { size } = openHead(head, key);
  const about = { key: formatVerifierKey(key), origin: key.name, tenant, objects: objects !== undefined };
  const format = part ? { format: SEGMENT_FORMAT, ...partFields(part) } : { format: FORMAT };
  yield line(canonicalText({ ...about, ...format }));
  const end = part?.to ?? size;
  let written = part?.begin.size ?? 0;
  for await (const batch of entries) {
    const covered = batch.slice(0, end - written);
    written += covered.length;
    yield Buffer.concat(covered.flatMap(entryLine));
    if (written === end) break;
  }
  if (written < end) refuse('LEDGER_TRUNCATED', `The ledger has ${written} entries; its head has ${size}.`);
  for await (const object of objects ?? NONE) yield objectLine(object);
  yield line(part ? endLine(part.consistency, head) : canonicalText({ head }));
}

const NONE: readonly ExportedObject[] = [];

function entryLine({ bytes, hash }: SealedEntry): Uint8Array[] {
  return [Buffer.from(ENTRY), bytes, line(`${HASH}${hash}${END}`)];
}

function line(text: string): Buffer {
  return Buffer.from(`${text}\n`);
}

export interface VerifyExportOptions {
  /** The fingerprint or the verifier key that the auditor knows. Without it the file vouches for itself. */
  readonly key?: string;
  /** The texts of heads that an auditor kept. */
  readonly kept?: readonly string[];
  readonly deep?: boolean;
  /** The file before this one, where several segments are one ledger. */
  readonly after?: VerifiedExport;
  readonly inspect?: (entry: Entry) => void;
  /** Is shown every entry, and then every object. What it refuses is refused. */
  readonly contents?: Contents;
}

export interface Contents {
  /** Whether the file has objects, and whether it is only a part of a ledger. Called before anything else. */
  begin?(objects: boolean, is_part: boolean): void;
  entry(entry: Entry): void;
  object(object: ExportedObject): void;
  /** The file has objects, and this was all of them. */
  finish(): void;
}

export interface VerifiedExport extends VerifiedLedger {
  /** The first entry; 0 but for a segment. */
  readonly from: number;
  /** For a segment it may know more entries than the file has. */
  readonly head: Head;
  /** Kept heads that a segment says nothing about. */
  readonly unjudged: readonly Head[];
  readonly fingerprint: string;
  /** Whether the auditor named the key. If not, only accidents are excluded, not forgers. */
  readonly key_confirmed: boolean;
  /** How many objects the file holds, each checked against its digest; null when it was written without. */
  readonly objects: { readonly stored: number; readonly erased: number } | null;
}

/** Verifies an export with nothing but its bytes. Constant memory unless `deep`. */
export async function verifyExport(
  chunks: AsyncIterable<Uint8Array>,
  options: VerifyExportOptions = {},
): Promise<VerifiedExport> {
  const reader = new ExportReader(options);
  for await (const lines of streamLines(chunks, () => reader.max_line_bytes)) reader.feed(lines);
  return reader.finish();
}

class ExportReader {
  readonly #options: VerifyExportOptions;
  #key: VerifierKey | null = null;
  #verifier: LedgerVerifier | null = null;
  #head: Head | null = null;
  #part: SegmentPart | null = null;
  #end: SegmentEnd | null = null;
  #outside: readonly Head[] = [];
  #objects: ObjectLines | null = null;

  constructor(options: VerifyExportOptions) {
    this.#options = options;
  }

  get max_line_bytes(): number {
    return this.#objects ? OBJECT_LINE_BYTES : ENTRY_LINE_BYTES;
  }

  feed(lines: readonly Buffer[]): void {
    for (const text of lines) this.#read(text);
  }

  #read(text: Buffer): void {
    if (text.length > this.max_line_bytes) malformed(`A line is longer than ${this.max_line_bytes} bytes.`);
    if (!isUtf8(text)) malformed('A line is not valid UTF-8.');
    if (this.#head !== null) malformed('Something follows the head.');
    if (this.#key === null || this.#verifier === null) this.#begin(text);
    else if (beginsWith(text, ENTRY)) this.#entry(text, this.#verifier);
    else if (this.#part ? isEndLine(text) : beginsWith(text, HEAD)) this.#finishWith(text, this.#key);
    else if (!this.#object(text))
      malformed(`After entry ${this.#verifier.size - 1} comes a line that is neither an entry nor the head.`);
  }

  #entry(text: Buffer, verifier: LedgerVerifier): void {
    if (this.#objects && this.#objects.stored + this.#objects.erased > 0)
      malformed('An entry comes after an object.');
    verifier.feed([sealedEntry(text, verifier.size)]);
  }

  #finishWith(text: Buffer, key: VerifierKey): void {
    this.#end = this.#part && segmentEnd(text, key);
    this.#head = this.#end?.head ?? openHead(headOf(text), key);
  }

  #object(text: Buffer): boolean {
    const object = this.#objects?.read(text) ?? null;
    if (object === null) return false;
    this.#options.contents?.object(object);
    return true;
  }

  #begin(text: Buffer): void {
    const { key, tenant, objects, part } = headerOf(text);
    const { key: expected, kept = [], deep = false, inspect, contents, after } = this.#options;
    if (expected !== undefined) requireKey(key, expected);
    if (after) requireAfter(after, { key, tenant, part });
    else if (deep && part && part.begin.size > 0)
      refuse('SEGMENT_MISSING', 'A deep verification begins with the first segment.');
    const heads = [...kept.map((note) => openHead(note, key)), ...(after ? [after.head] : [])];
    const isInside = ({ size }: Head) => !part || (size >= part.begin.size && size <= part.to);
    this.#outside = heads.filter((head) => !isInside(head));
    this.#key = key;
    this.#part = part;
    this.#objects = objects ? new ObjectLines('EXPORT_MALFORMED') : null;
    contents?.begin?.(objects, part !== null);
    const watch = contents && { onEntry: (entry: Entry) => contents.entry(entry) };
    const where = { tenant, kept: heads.filter(isInside), ...(part && { begin: part.begin }) };
    this.#verifier = new LedgerVerifier({ ...where, deep, ...(inspect && { inspect }), ...watch });
  }

  finish(): VerifiedExport {
    if (this.#key === null || this.#verifier === null) malformed('The file is empty.');
    if (this.#head === null) malformed('The file has no head. It is cut off.');
    const ledger = this.#verifier.finish();
    if (this.#part && this.#end) requireBeneath(ledger, this.#part.to, this.#end);
    else requireCovered(ledger, this.#head);
    if (this.#objects) this.#options.contents?.finish();
    const found = this.#objects;
    return {
      ...ledger,
      from: this.#part?.begin.size ?? 0,
      head: this.#head,
      unjudged: unjudgedBy(this.#head, this.#outside).filter((one) => one !== this.#options.after?.head),
      fingerprint: keyFingerprint(this.#key.public_key),
      key_confirmed: this.#options.key !== undefined,
      objects: found && { stored: found.stored, erased: found.erased },
    };
  }
}

function requireCovered(ledger: VerifiedLedger, head: Head): void {
  const sizes = { entries: ledger.size, head: head.size };
  if (ledger.size < head.size) refuse('LEDGER_TRUNCATED', 'Entries before the head are missing.', sizes);
  if (ledger.size > head.size) malformed('There are entries that the head does not cover.');
  if (ledger.root !== head.root) refuse('LEDGER_FORKED', 'The entries are not those that the head signs.');
}

interface Header {
  readonly key: VerifierKey;
  readonly tenant: string;
  readonly objects: boolean;
  /** Null for a whole ledger. */
  readonly part: SegmentPart | null;
}

const FIELDS = ['format', 'key', 'objects', 'origin', 'tenant'] as const;

function headerOf(text: Buffer): Header {
  const is_part = beginsWith(text, `{"format":"${SEGMENT_FORMAT}"`);
  const header = readCanonical(text, is_part ? [...FIELDS, ...PART_FIELDS] : FIELDS, 'EXPORT_MALFORMED');
  const { format, key: vkey, objects, origin, tenant } = header;
  if (!is_part && format !== FORMAT) malformed(`The first line does not say ${FORMAT}.`);
  if (typeof vkey !== 'string' || typeof tenant !== 'string' || typeof objects !== 'boolean')
    malformed('The first line is not a header.');
  const key = refuseAs('EXPORT_MALFORMED', () => parseVerifierKey(vkey));
  if (key.name !== origin) malformed('The key is not the key of the origin.');
  return { key, tenant, objects, part: is_part ? partOf(header) : null };
}

function requireAfter(after: VerifiedExport, { key, tenant, part }: Omit<Header, 'objects'>): void {
  if (key.name !== after.head.origin || tenant !== after.tenant)
    refuse('LEDGER_FOREIGN', 'The files are of different ledgers.');
  if (keyFingerprint(key.public_key) !== after.fingerprint)
    refuse('HEAD_SIGNATURE_INVALID', 'The files are signed by different keys.');
  if (part === null) refuse('SEGMENT_ORDER', 'A whole ledger follows nothing.');
  const before: SegmentBeginning = { size: after.size, frontier: after.frontier, last: after.last };
  requireFollows(before, part);
}

/** The head of the file itself tells of one more size. */
function unjudgedBy(head: Head, outside: readonly Head[]): Head[] {
  return outside.filter(({ size, root }) => {
    if (size === head.size && root !== head.root)
      refuse('LEDGER_FORKED', `The first ${size} entries are not those of the kept head.`, { size });
    return size !== head.size;
  });
}

function sealedEntry(text: Buffer, seq: number): SealedEntry {
  const end = text.length - TAIL_BYTES;
  const hash: Digest | undefined = TAIL.exec(text.toString('latin1', Math.max(end, 0)))?.[1];
  if (hash === undefined) malformed(`The line of entry ${seq} has no hash at its end.`);
  return { seq, bytes: text.subarray(ENTRY.length, end), hash };
}

function headOf(text: Buffer): string {
  const { head } = readCanonical(text, ['head'], 'EXPORT_MALFORMED');
  return typeof head === 'string' ? head : malformed('The head is not a text.');
}

function beginsWith(text: Buffer, prefix: string): boolean {
  return text.toString('latin1', 0, prefix.length) === prefix;
}

function malformed(message: string): never {
  return refuse('EXPORT_MALFORMED', message);
}
