import { isUtf8 } from 'node:buffer';
import type { Digest } from '../canonical/digest.ts';
import { canonicalText } from '../canonical/json.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import type { Entry, SealedEntry } from './entry.ts';
import { fingerprint, type Head, openHead, requireKey } from './head.ts';
import { readChunks, readLines } from './lines.ts';
import { formatVerifierKey, parseVerifierKey, type VerifierKey } from './note.ts';
import { type ExportedObject, OBJECT_LINE_BYTES, ObjectLines, objectLine } from './object.ts';
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
  readonly entries: AsyncIterable<readonly SealedEntry[]>;
  /** What the entries name, in the order of the digests. Without it the export has no objects. */
  readonly objects?: AsyncIterable<ExportedObject>;
}

export async function* writeExport(source: ExportSource): AsyncGenerator<Uint8Array> {
  const { tenant, key, head, entries, objects } = source;
  const { size } = openHead(head, key);
  const about = { format: FORMAT, key: formatVerifierKey(key), origin: key.name, tenant };
  yield line(canonicalText({ ...about, objects: objects !== undefined }));
  let written = 0;
  for await (const batch of entries) {
    const covered = batch.slice(0, size - written);
    written += covered.length;
    yield Buffer.concat(covered.flatMap(entryLine));
    if (written === size) break;
  }
  if (written < size) refuse('LEDGER_TRUNCATED', `The ledger has ${written} entries; its head has ${size}.`);
  for await (const object of objects ?? NONE) yield objectLine(object);
  yield line(canonicalText({ head }));
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
  /** The texts of heads that somebody kept. */
  readonly kept?: readonly string[];
  readonly deep?: boolean;
  readonly inspect?: (entry: Entry) => void;
  /** Is shown every entry, and then every object. What it refuses is refused. */
  readonly contents?: Contents;
}

export interface Contents {
  entry(entry: Entry): void;
  object(object: ExportedObject): void;
  /** The file has objects, and this was all of them. */
  finish(): void;
}

export interface VerifiedExport extends VerifiedLedger {
  readonly head: Head;
  readonly fingerprint: string;
  /** Whether the auditor named the key. If not, only accidents are excluded, not forgers. */
  readonly key_confirmed: boolean;
  /** How many objects the file holds, each checked against its digest; null when it was written without. */
  readonly objects: { readonly stored: number; readonly erased: number } | null;
}

/** Verifies an export with nothing but the file, given as a path or as its bytes. Constant memory unless `deep`. */
export async function verifyExport(
  source: string | AsyncIterable<Uint8Array>,
  options: VerifyExportOptions = {},
): Promise<VerifiedExport> {
  const reader = new ExportReader(options);
  const chunks = typeof source === 'string' ? readChunks(source) : source;
  for await (const lines of readLines(chunks, () => reader.max_line_bytes)) reader.feed(lines);
  return reader.finish();
}

class ExportReader {
  readonly #options: VerifyExportOptions;
  #key: VerifierKey | null = null;
  #verifier: LedgerVerifier | null = null;
  #head: Head | null = null;
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
    else if (beginsWith(text, HEAD)) this.#head = openHead(headOf(text), this.#key);
    else if (!this.#object(text))
      malformed(`After entry ${this.#verifier.size - 1} comes a line that is neither an entry nor the head.`);
  }

  #entry(text: Buffer, verifier: LedgerVerifier): void {
    if (this.#objects && this.#objects.stored + this.#objects.erased > 0)
      malformed('An entry comes after an object.');
    verifier.feed([sealedEntry(text, verifier.size)]);
  }

  #object(text: Buffer): boolean {
    const object = this.#objects?.read(text) ?? null;
    if (object === null) return false;
    this.#options.contents?.object(object);
    return true;
  }

  #begin(text: Buffer): void {
    const { key, tenant, objects } = headerOf(text);
    const { key: expected, kept = [], deep = false, inspect, contents } = this.#options;
    if (expected !== undefined) requireKey(key, expected);
    const heads = kept.map((note) => openHead(note, key));
    this.#key = key;
    this.#objects = objects ? new ObjectLines('EXPORT_MALFORMED') : null;
    const watch = contents && { onEntry: (entry: Entry) => contents.entry(entry) };
    this.#verifier = new LedgerVerifier({ tenant, kept: heads, deep, ...(inspect && { inspect }), ...watch });
  }

  finish(): VerifiedExport {
    if (this.#key === null || this.#verifier === null) malformed('The file is empty.');
    if (this.#head === null) malformed('The file has no head. It is cut off.');
    const ledger = this.#verifier.finish();
    requireCovered(ledger, this.#head);
    if (this.#objects) this.#options.contents?.finish();
    const found = this.#objects;
    return {
      ...ledger,
      head: this.#head,
      fingerprint: fingerprint(this.#key.public_key),
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

function headerOf(text: Buffer): { key: VerifierKey; tenant: string; objects: boolean } {
  const header = readCanonical(text, ['format', 'key', 'objects', 'origin', 'tenant'], 'EXPORT_MALFORMED');
  const { format, key: vkey, objects, origin, tenant } = header;
  if (format !== FORMAT) malformed(`The first line does not say ${FORMAT}.`);
  if (typeof vkey !== 'string' || typeof tenant !== 'string' || typeof objects !== 'boolean')
    malformed('The first line is not a header.');
  const key = refuseAs('EXPORT_MALFORMED', () => parseVerifierKey(vkey));
  if (key.name !== origin) malformed('The key is not the key of the origin.');
  return { key, tenant, objects };
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
