import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';

const BLOCK = 512;
const PREFIX = 'SCHILY.xattr.';

/** One extended attribute. An access control list is one of them. */
export interface Attribute {
  readonly name: string;
  readonly value: string;
}

/**
 * Reads the extended attributes out of a stream in GNU tar's PAX format, one list for each member, in order. Contents are
 * skipped as they come.
 */
export class PaxReader {
  readonly members: Attribute[][] = [];
  #pending: Buffer[] = [];
  #length = 0;
  /** What the present part is, and how many bytes of it and of its padding are to come. */
  #part: 'header' | 'extended' | 'skipped' = 'header';
  #size = 0;
  #wanted = BLOCK;
  #attributes: Attribute[] = [];
  #ended = false;

  feed(chunk: Buffer): void {
    for (let rest = chunk; rest.length > 0 && !this.#ended; ) {
      const taken = rest.subarray(0, this.#wanted - this.#length);
      if (this.#part !== 'skipped') this.#pending.push(taken);
      this.#length += taken.length;
      rest = rest.subarray(taken.length);
      if (this.#length === this.#wanted) this.#complete();
    }
  }

  #complete(): void {
    const part = Buffer.concat(this.#pending);
    this.#pending = [];
    this.#length = 0;
    if (this.#part === 'header') this.#header(part);
    else {
      if (this.#part === 'extended') this.#attributes = recordsOf(part.subarray(0, this.#size));
      this.#expect('header', BLOCK);
    }
  }

  #header(header: Buffer): void {
    if (header.every((byte) => byte === 0)) {
      this.#ended = true;
      return;
    }
    const size = sizeOf(header);
    const type = String.fromCharCode(header[156]!);
    if (type === 'x') {
      if (size > limits.attribute_header_bytes)
        refuse(
          'ATTRIBUTES_UNREADABLE',
          `The attributes of a file have more than ${limits.attribute_header_bytes} bytes.`,
        );
      this.#expect('extended', size);
    } else {
      this.members.push(this.#attributes);
      this.#attributes = [];
      // A folder and a link have no content, whatever they say about their size.
      this.#expect('skipped', type === '0' || type === '\0' ? size : 0);
    }
  }

  #expect(part: 'header' | 'extended' | 'skipped', size: number): void {
    const padded = Math.ceil(size / BLOCK) * BLOCK;
    if (padded === 0) {
      this.#part = 'header';
      this.#wanted = BLOCK;
      return;
    }
    this.#part = part;
    this.#size = size;
    this.#wanted = padded;
  }
}

function sizeOf(header: Buffer): number {
  const digits = header.toString('latin1', 124, 136).replace(/[\0 ]+$/, '');
  if (!/^[0-7]{1,12}$/.test(digits)) refuse('ATTRIBUTES_UNREADABLE', 'tar answered something else.');
  return Number.parseInt(digits, 8);
}

/** `LENGTH KEY=VALUE\n`, where the length counts everything: a value may hold any byte. */
function recordsOf(bytes: Buffer): Attribute[] {
  const attributes: Attribute[] = [];
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const length = Number(bytes.toString('latin1', at, space));
    const equals = bytes.indexOf(0x3d, space);
    if (space < 0 || equals < 0 || !Number.isSafeInteger(length) || length <= 0)
      refuse('ATTRIBUTES_UNREADABLE', 'tar answered something else.');
    const key = bytes.toString('utf8', space + 1, equals);
    const value = bytes.subarray(equals + 1, at + length - 1);
    if (key.startsWith(PREFIX))
      attributes.push({ name: key.slice(PREFIX.length), value: value.toString('base64') });
    at += length;
  }
  return attributes;
}
