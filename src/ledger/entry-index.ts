import type { Digest } from '../canonical/digest.ts';

/** The hash of each entry, and which entries are about a subject: some 40 bytes for an entry, and a map of the subjects. */
export class EntryIndex {
  #hashes = Buffer.alloc(32 * 1024);
  /** For each entry, the one before it about the same subject. */
  #before = new Int32Array(1024);
  readonly #newest = new Map<string, number>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(subject: string, hash: Digest): void {
    const seq = this.#size;
    if (seq === this.#before.length) this.#grow();
    this.#hashes.write(hash, 32 * seq, 'hex');
    this.#before[seq] = this.newest(subject);
    this.#newest.set(subject, seq);
    this.#size = seq + 1;
  }

  hash(seq: number): Digest {
    return this.#hashes.toString('hex', 32 * seq, 32 * (seq + 1));
  }

  /** The newest entry about a subject, -1 where there is none. */
  newest(subject: string): number {
    return this.#newest.get(subject) ?? -1;
  }

  /** The entries about a subject behind this one, oldest first. */
  after(subject: string, seq: number): number[] {
    const found: number[] = [];
    for (let at = this.newest(subject); at > seq; at = this.#before[at]!) found.push(at);
    return found.reverse();
  }

  #grow(): void {
    const before = new Int32Array(2 * this.#before.length);
    before.set(this.#before);
    this.#before = before;
    this.#hashes = Buffer.concat([this.#hashes], 2 * this.#hashes.length);
  }
}
