/** What was kept of one output stream. */
export interface CapturedStream {
  readonly bytes: Uint8Array;
  /** All bytes that came, kept or not. */
  readonly total: number;
  readonly truncated: boolean;
}

/** Keeps the first `max_bytes` of a stream and counts the rest, in bounded memory. */
export class Capture {
  readonly #max_bytes: number;
  #buffer = Buffer.alloc(0);
  #kept = 0;
  #total = 0;

  constructor(max_bytes: number) {
    this.#max_bytes = max_bytes;
  }

  get total(): number {
    return this.#total;
  }

  /** Returns how many bytes of it were kept. */
  take(chunk: Uint8Array): number {
    this.#total += chunk.length;
    const wanted = Math.min(chunk.length, this.#max_bytes - this.#kept);
    if (wanted <= 0) return 0;
    this.#makeRoom(this.#kept + wanted);
    this.#buffer.set(chunk.subarray(0, wanted), this.#kept);
    this.#kept += wanted;
    return wanted;
  }

  result(): CapturedStream {
    const bytes = new Uint8Array(this.#buffer.subarray(0, this.#kept));
    return { bytes, total: this.#total, truncated: this.#total > this.#kept };
  }

  /** Copies instead of keeping chunks: a tool that writes single bytes must not cost a chunk for each. */
  #makeRoom(size: number): void {
    if (size <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.min(this.#max_bytes, Math.max(size, 2 * this.#buffer.length)));
    grown.set(this.#buffer.subarray(0, this.#kept));
    this.#buffer = grown;
  }
}
