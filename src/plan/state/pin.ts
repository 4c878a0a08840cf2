import type { FileState, PathChange } from '../model.ts';

export function sameState(a: FileState | null, b: FileState | null): boolean {
  if (a === null || b === null) return a === b;
  return a.sha256 === b.sha256 && a.size === b.size && a.mode === b.mode && a.attributes === b.attributes;
}

/** An action may depend on a file that it does not change: then only its content is fixed. */
export function isPin({ before, after }: PathChange): boolean {
  return before !== 'unknown' && after !== 'unknown' && sameState(before, after);
}
