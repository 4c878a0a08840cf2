import { realpathSync } from 'node:fs';
import type { JsonObject } from '../canonical/json.ts';
import { appendDurably } from '../durable/file.ts';
import { withLockedFile } from '../effect/lock.ts';
import { refuse } from '../refusal.ts';
import type { QueueFolder } from './folder.ts';

/**
 * One writer at a time for the whole folder. The kernel drops the lock when its holder dies. The folder itself is
 * locked, so that a refusal creates no file.
 */
export function locked<T>(queue: QueueFolder, act: () => T | Promise<T>): Promise<T> {
  return withLockedFile(requireFolder(queue.folder), act);
}

function requireFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return refuse('QUEUE_MISSING', 'The queue folder does not exist.');
  }
}

/** Appends one line; it is on the disk when this returns. The caller holds the lock and has just read the file whole. */
export function appendLine(path: string, line: JsonObject): void {
  appendDurably(path, Buffer.from(`${JSON.stringify(line)}\n`), 0o644);
}
