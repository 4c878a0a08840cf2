import { type BigIntStats, lstatSync } from 'node:fs';
import { limits } from '../limits.ts';

/** Whether the times of the file will show its next change. */
export function hasSettled({ ctimeMs }: BigIntStats, now_ms: number): boolean {
  return now_ms - Number(ctimeMs) > limits.settled_ms;
}

/** Another one whenever the file is another one, or was changed. The change time cannot be set by a program that is not root. */
export function fileKey({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
}

/**
 * What was read from a file, for as long as the file is the same one and was not changed. `read` gets what was read before, and refuses
 * what it does not take.
 */
export function rememberedFile<T>(
  path: string,
  read: (known: T | undefined) => T,
  now_ms: () => number = Date.now,
): () => T {
  let known: { readonly key: string | null; readonly value: T } | undefined;
  return () => {
    // Looked at before it is read: what is changed in between has another key at the next look.
    const key = settledKey(path, now_ms());
    if (known && key !== null && known.key === key) return known.value;
    known = { key, value: read(known?.value) };
    return known.value;
  };
}

/** Null where the file has to be read to know. */
function settledKey(path: string, now_ms: number): string | null {
  try {
    const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    return stats && hasSettled(stats, now_ms) ? fileKey(stats) : null;
  } catch {
    return null;
  }
}
