import { clearableBytes, clearableCopy } from '../canonical/clearable.ts';
import { isUtf8Continuation } from '../canonical/json.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';

const KEY = {
  interrupt: 0x03,
  end: 0x04,
  backspace: 0x08,
  tab: 0x09,
  line_feed: 0x0a,
  enter: 0x0d,
  erase_line: 0x15,
  escape: 0x1b,
  space: 0x20,
  delete: 0x7f,
} as const;

/** A line as it is typed, byte by byte, in one place that can be cleared. What is erased is cleared at once. */
export class SecretLine {
  // One more than is taken, so that a line that is too long is not cut to one that fits.
  readonly #bytes = clearableBytes(limits.passphrase_bytes + 1);
  #length = 0;
  #state: 'open' | 'done' | 'given up' = 'open';
  /** Inside the sequence of a key that types no letter, such as an arrow. */
  #escaped: 'no' | 'begun' | 'sequence' = 'no';

  /** What follows the end of the line in the same bytes is no part of it. */
  take(typed: Uint8Array): 'open' | 'done' | 'given up' {
    for (const byte of typed) if (this.#state === 'open') this.#key(byte);
    return this.#state;
  }

  /** The line, which the caller clears; null when it was not ended by Enter. */
  finish(): Buffer | null {
    try {
      if (this.#state !== 'done') return null;
      if (this.#length > limits.passphrase_bytes) refuse('INPUT_TOO_LARGE', 'The passphrase is too long.');
      return clearableCopy(this.#bytes.subarray(0, this.#length));
    } finally {
      this.#bytes.fill(0);
    }
  }

  #key(byte: number): void {
    if (byte < KEY.space) this.#escaped = 'no';
    if (this.#escaped !== 'no') this.#escaped = this.#afterEscape(byte);
    else if (byte === KEY.enter || byte === KEY.line_feed) this.#state = 'done';
    else if (byte === KEY.interrupt || (byte === KEY.end && this.#length === 0)) this.#state = 'given up';
    else if (byte === KEY.backspace || byte === KEY.delete) this.#eraseLetter();
    else if (byte === KEY.erase_line) this.#eraseTo(0);
    else if (byte === KEY.escape) this.#escaped = 'begun';
    else if (byte >= KEY.space || byte === KEY.tab) this.#append(byte);
  }

  /** ESC [ … or ESC O …, up to the letter that ends it; ESC and one other key is that key with Alt. */
  #afterEscape(byte: number): 'no' | 'sequence' {
    if (this.#escaped === 'begun') return byte === 0x5b || byte === 0x4f ? 'sequence' : 'no';
    return byte >= 0x40 && byte <= 0x7e ? 'no' : 'sequence';
  }

  #append(byte: number): void {
    if (this.#length < this.#bytes.length) this.#bytes[this.#length++] = byte;
  }

  #eraseLetter(): void {
    let start = this.#length - 1;
    while (start > 0 && isUtf8Continuation(this.#bytes[start]!)) start -= 1;
    this.#eraseTo(Math.max(start, 0));
  }

  #eraseTo(length: number): void {
    this.#bytes.fill(0, length, this.#length);
    this.#length = length;
  }
}
