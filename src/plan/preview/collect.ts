import type { Visited } from '../derive.ts';
import { type ContentFinding, contentFindings, type FileContent } from '../input/content.ts';
import { planLimits } from '../limits.ts';
import type { FileState } from '../model.ts';
import { type Diff, diffOf } from '../report/diff.ts';
import { isPin } from '../state/pin.ts';

/** What a preview keeps of a change. */
export interface SeenChange {
  readonly diff: Diff;
  /** Lines that the diff has and that are not kept. */
  readonly lines_left_out: number;
}

/**
 * Looks at each change while a plan is derived: `derivePlan({ ..., visit: collector.visit })`. Nothing here is part of what is approved;
 * the findings say whether it may be.
 */
export class Collector {
  readonly findings: ContentFinding[] = [];
  private readonly seen = new Map<string, SeenChange>();
  private room: number = planLimits.preview_chars;

  readonly visit = async ({ action, change, before, after }: Visited): Promise<void> => {
    if (isPin(change)) return;
    const { action_id, action_type } = action;
    const from = contentOf(change.before, await before());
    const to = contentOf(change.after, await after());
    if (isUnknown(change.before, from) || isUnknown(change.after, to)) return;
    this.seen.set(
      keyOf(action_id, change.path),
      this.kept(diffOf(from?.bytes ?? null, to?.bytes ?? null), to === null),
    );
    // A renamed file brings its content along; it is not new.
    const was = action_type === 'FILE_RENAME' ? to : from;
    this.findings.push(...contentFindings({ action_id, path: change.path, before: was, after: to }));
  };

  /** A diff that does not fit is left out whole. Of a file that goes away, its size and hash are enough. */
  private kept(diff: Diff, goes_away: boolean): SeenChange {
    if (diff.kind === 'binary') return { diff, lines_left_out: 0 };
    const chars = (diff.hunks ?? []).reduce((sum, { lines }) => sum + lines.join('').length, 0);
    const { lines_added, lines_removed } = diff;
    if (diff.hunks === null || chars > this.room)
      return { diff: { ...diff, hunks: null }, lines_left_out: goes_away ? 0 : lines_added + lines_removed };
    this.room -= chars;
    return { diff, lines_left_out: 0 };
  }

  changeOf(action_id: string, path: string): SeenChange | null {
    return this.seen.get(keyOf(action_id, path)) ?? null;
  }
}

function keyOf(action_id: string, path: string): string {
  return `${action_id}\0${path}`;
}

function contentOf(state: FileState | null | 'unknown', bytes: Uint8Array | null): FileContent | null {
  return state === null || state === 'unknown' || bytes === null ? null : { bytes, mode: state.mode };
}

function isUnknown(state: FileState | null | 'unknown', content: FileContent | null): boolean {
  return state === 'unknown' || (state !== null && content === null);
}
