import { close } from 'node:fs';

/**
 * Files that stay open for a while. The last descriptor of a file that was replaced frees its blocks, and that can take longer than all
 * the rest of the replacement: so it happens here, when nothing waits for it, and off the main thread.
 */
export class OpenFiles {
  #open: number[] = [];

  /** The file is closed with the others. */
  keep(fd: number): void {
    this.#open.push(fd);
  }

  /** Whatever a close says: the descriptor is gone, and nothing was written through it. */
  async close(): Promise<void> {
    const open = this.#open;
    this.#open = [];
    await Promise.all(open.map((fd) => new Promise<void>((resolve) => close(fd, () => resolve()))));
  }
}
