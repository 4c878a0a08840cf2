import { type Digest, sha256 } from '../canonical/digest.ts';
import {
  canonicalTextOfParsed,
  type Json,
  type JsonObject,
  parseCanonical,
  parseJson,
} from '../canonical/json.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { isObjectOf } from './strict.ts';

/** One fact in the ledger of one tenant. `seq` is also the leaf index in the Merkle tree, so it begins at 0. */
export interface Entry {
  readonly seq: number;
  readonly tenant: string;
  readonly at: string;
  readonly kind: string;
  readonly subject: string;
  /** The unique keys that this commit took. Recorded, so that at-most-once can be proven and rebuilt. */
  readonly claims: readonly string[];
  /** Opaque to the ledger. */
  readonly body: JsonObject;
  /** The hash of the entry before; zeros for the first. */
  readonly prev: Digest;
}

/** An entry as it is stored and exported: its exact bytes, and the RFC 6962 leaf hash of those bytes. */
export interface SealedEntry {
  readonly seq: number;
  readonly bytes: Uint8Array;
  readonly hash: Digest;
}

export const GENESIS: Digest = '0'.repeat(64);

const LEAF = Buffer.from([0]);

/** RFC 6962 leaf hash. It is also what the next entry names as `prev`: one hash serves chain and tree. */
export function leafHash(bytes: Uint8Array): Digest {
  return sha256(Buffer.concat([LEAF, bytes]));
}

/** The same of bytes that were decoded. A text of other bytes, which are not UTF-8, has another hash. */
export function leafHashOfText(text: string): Digest {
  return sha256(`\0${text}`);
}

export function sealEntry(entry: Entry): SealedEntry {
  const text = canonicalTextOfParsed(entry);
  const bytes = Buffer.from(text);
  if (bytes.length > limits.entry_bytes)
    refuse('INPUT_TOO_LARGE', `A ledger entry has ${bytes.length} bytes.`);
  return { seq: entry.seq, bytes, hash: leafHashOfText(text) };
}

const FIELDS = ['at', 'body', 'claims', 'kind', 'prev', 'seq', 'subject', 'tenant'];

/** Reads an entry back from its bytes. Refuses anything that `sealEntry` cannot have written, canonical form aside. */
export function openEntry(bytes: Uint8Array): Entry {
  return requireEntry(parseJson(bytes, limits.entry_bytes));
}

/** Reads an entry back that must be in the form in which `sealEntry` wrote it, from its bytes or from the text that they were decoded to. */
export function openWritten(written: Uint8Array | string): Entry {
  const value = parseCanonical(written, limits.entry_bytes);
  if (value === undefined) refuse('LEDGER_BROKEN', 'its bytes are not in canonical form');
  return requireEntry(value);
}

function requireEntry(value: Json): Entry {
  return isEntry(value) ? value : refuse('SHAPE_INVALID', 'The bytes are JSON, but not a ledger entry.');
}

/**
 * The same for bytes that are not trusted to be an entry, only to be the ones that were hashed: several times faster,
 * because duplicate keys and odd strings are left to `openEntry`. Null when the bytes are no entry at all.
 */
export function skimEntry(bytes: Uint8Array): Entry | null {
  if (bytes.length > limits.entry_bytes) return null;
  try {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
    const value: unknown = JSON.parse(text);
    return isEntry(value) ? value : null;
  } catch {
    return null;
  }
}

export function isEntry(value: unknown): value is JsonObject & Entry {
  return (
    isObjectOf(value, FIELDS) &&
    Number.isSafeInteger(value.seq) &&
    (value.seq as number) >= 0 &&
    typeof value.tenant === 'string' &&
    typeof value.at === 'string' &&
    typeof value.kind === 'string' &&
    typeof value.subject === 'string' &&
    typeof value.prev === 'string' &&
    Array.isArray(value.claims) &&
    value.claims.every((claim: Json) => typeof claim === 'string') &&
    typeof value.body === 'object' &&
    value.body !== null &&
    !Array.isArray(value.body)
  );
}
