/** Where a content is put: memory of this size, whose bytes may be any. */
export type TakeMemory = (size: number) => Buffer;

/** Memory of its own, for a content that is kept. */
export const ownMemory: TakeMemory = (size) => Buffer.allocUnsafeSlow(size);

/**
 * Memory for the contents of one action, which the next action takes again. Large buffers that are dropped are collected late: a
 * plan over files of 5 MB held twenty of them.
 */
export class ReusedMemory {
  readonly #blocks: Buffer[] = [];
  #used = 0;

  readonly take: TakeMemory = (size) => {
    let block = this.#blocks[this.#used];
    if (block === undefined || block.length < size) {
      block = ownMemory(size);
      this.#blocks[this.#used] = block;
    }
    this.#used += 1;
    return block.subarray(0, size);
  };

  /** What was taken is no longer looked at. What the last action did not need is given back: the others may be small. */
  release(): void {
    this.#blocks.length = this.#used;
    this.#used = 0;
  }
}
