import type { FileState, PathChange } from '../model.ts';
import { diffOf } from './diff.ts';
import { type DiffSummary, summaryOf } from './diff-summary.ts';

/** A run does not wait for its report. */
const DURING_RUN_MS = 50;

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
    const diff = diffOf(before, after, { timeout_ms: DURING_RUN_MS });
    if (diff.kind === 'text' && diff.hunks === null) return; // after the run there is more time
    this.#found.set(path, { change, summary: summaryOf(path, diff) });
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
