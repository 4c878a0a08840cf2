import { type Digest, isDigest, sha256 } from '../canonical/digest.ts';
import { limits } from '../limits.ts';
import { type ReasonCode, refuse } from '../refusal.ts';

/** A stored object in an export or a proof: its bytes, or null where an entry says that it was erased. */
export interface ExportedObject {
  readonly digest: Digest;
  readonly bytes: Uint8Array | null;
}

/** One line for each object, in the order of their digests. Each part is found at a fixed place of its line. */
const OBJECT = '{"object":"';
const SHA256 = '","sha256":"';
const END = '"}';
const ERASED = '{"erased":"';
const TAIL_BYTES = SHA256.length + 64 + END.length;

/** The longest line of an object: its bytes in base64. */
export const OBJECT_LINE_BYTES: number = OBJECT.length + 4 * Math.ceil(limits.object_bytes / 3) + TAIL_BYTES;

export function objectLine({ digest, bytes }: ExportedObject): Buffer {
  if (bytes === null) return Buffer.from(`${ERASED}${digest}${END}\n`);
  return Buffer.from(`${OBJECT}${Buffer.from(bytes).toString('base64')}${SHA256}${digest}${END}\n`);
}

type Malformed = Extract<ReasonCode, 'EXPORT_MALFORMED' | 'BUNDLE_MALFORMED'>;

/** Reads the lines of objects, each behind the one before it, so that none can stand twice. */
export class ObjectLines {
  readonly #code: Malformed;
  #last = '';
  stored = 0;
  erased = 0;

  constructor(code: Malformed) {
    this.#code = code;
  }

  /** Null when the line is no object. */
  read(line: Buffer): ExportedObject | null {
    const object = erasedIn(line) ?? this.#storedIn(line);
    if (object === null) return null;
    if (object.digest <= this.#last) refuse(this.#code, 'The objects are not in the order of their digests.');
    this.#last = object.digest;
    if (object.bytes === null) this.erased++;
    else this.stored++;
    return object;
  }

  #storedIn(line: Buffer): ExportedObject | null {
    if (!beginsWith(line, OBJECT)) return null;
    const end = line.length - TAIL_BYTES;
    const tail = line.toString('latin1', Math.max(end, 0));
    const digest = tail.slice(SHA256.length, -END.length);
    if (`${SHA256}${digest}${END}` !== tail || !isDigest(digest))
      refuse(this.#code, 'The line of an object has no digest at its end.');
    const text = line.toString('latin1', OBJECT.length, end);
    const bytes = Buffer.from(text, 'base64');
    if (bytes.toString('base64') !== text) refuse(this.#code, `The object ${digest} is not base64.`);
    if (bytes.length > limits.object_bytes)
      refuse(this.#code, `The object ${digest} has ${bytes.length} bytes.`);
    if (sha256(bytes) !== digest)
      refuse('OBJECT_CORRUPT', `The object ${digest} is not what its digest says.`, { digest });
    return { digest, bytes };
  }
}

function erasedIn(line: Buffer): ExportedObject | null {
  const digest = line.toString('latin1', ERASED.length, ERASED.length + 64);
  const isMark = isDigest(digest) && line.equals(Buffer.from(`${ERASED}${digest}${END}`));
  return isMark ? { digest, bytes: null } : null;
}

function beginsWith(line: Buffer, prefix: string): boolean {
  return line.toString('latin1', 0, prefix.length) === prefix;
}
