import type { FileState, PathChange } from '../model.ts';
import { diffOf } from './diff.ts';
import { type DiffSummary, summaryOf } from './diff-summary.ts';

/** The differences that edits made, told while both contents are in memory, so that no file is read again for a report. */
export class EditDiffs {
  readonly #found = new Map<string, { readonly change: PathChange; readonly summary: DiffSummary }>();
  readonly #hides: (path: string) => boolean;

  constructor(hides: (path: string) => boolean) {
    this.#hides = hides;
  }

  readonly see = (change: PathChange, before: Uint8Array, after: Uint8Array): void => {
    const { path } = change;
    this.#found.delete(path);
    if (this.#hides(path)) return;
    this.#found.set(path, { change, summary: summaryOf(path, diffOf(before, after)) });
  };

  /** Null where no single edit led from the one content to the other. */
  between(path: string, before_sha256: string | null, after: FileState | null): DiffSummary | null {
    const found = this.#found.get(path);
    if (!found || hashOf(found.change.before) !== before_sha256) return null;
    return hashOf(found.change.after) === hashOf(after) ? found.summary : null;
  }
}

function hashOf(state: PathChange['before']): string | null {
  return state === null || state === 'unknown' ? null : state.sha256;
}
