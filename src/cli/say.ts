import { writeSync } from 'node:fs';

/** The reader of what we write is gone, as after `| head`. */
export function isUnread(error: unknown): boolean {
  const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  return code === 'EPIPE' && syscall === 'write';
}

/** Writes whole lines straight to a descriptor: an answer that cannot be written throws, and never becomes a yes. */
export function say(fd: 1 | 2, lines: string | readonly string[]): void {
  const bytes = Buffer.from(`${typeof lines === 'string' ? lines : lines.join('\n')}\n`);
  for (let done = 0; done < bytes.length; ) done += writeSome(fd, bytes, done);
}

/** The other end of a pipe may be slow: then wait, and never drop the rest. */
function writeSome(fd: number, bytes: Uint8Array, from: number): number {
  try {
    return writeSync(fd, bytes, from);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EAGAIN') throw error;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    return 0;
  }
}
