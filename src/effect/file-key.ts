import type { BigIntStats } from 'node:fs';

/** A file that changed this recently may change again without its times showing it. */
const SETTLED_MS = 2_000;

/** Whether the times of the file will show its next change. */
export function hasSettled({ ctimeMs }: BigIntStats, now_ms: number): boolean {
  return now_ms - Number(ctimeMs) > SETTLED_MS;
}

/** Another one whenever the file is another one, or was changed. The change time cannot be set by a program that is not root. */
export function fileKey({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
}
