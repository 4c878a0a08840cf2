import type { Visited } from '../derive.ts';
import { contentFindings, type FileContent, type Finding } from '../input/content.ts';
import type { FileState } from '../model.ts';
import { type Diff, diffOf, type Hunk } from '../report/diff.ts';
import { isPin } from '../state/see.ts';

/** What a preview keeps of a change. The contents are gone again: a plan may touch half a gigabyte. */
export interface SeenChange {
  readonly diff: Diff;
  /** Lines that the diff has and that are not kept. */
  readonly lines_left_out: number;
}

/** Lines of one diff that are kept: more than anybody reads, little enough to hold. */
const LINES = 5000;

/**
 * Looks at each change while a plan is derived: `derivePlan({ ..., visit: collector.visit })`. Nothing here is part of what is approved;
 * the findings say whether it may be.
 */
export class Collector {
  readonly findings: Finding[] = [];
  private readonly seen = new Map<string, SeenChange>();

  readonly visit = async ({ action, change, before, after }: Visited): Promise<void> => {
    if (isPin(change)) return;
    const { action_id, action_type } = action;
    const from = contentOf(change.before, await before());
    const to = contentOf(change.after, await after());
    if (isUnknown(change.before, from) || isUnknown(change.after, to)) return;
    this.seen.set(keyOf(action_id, change.path), shortened(diffOf(from?.bytes ?? null, to?.bytes ?? null)));
    // A renamed file brings its content along; it is not new.
    const was = action_type === 'FILE_RENAME' ? to : from;
    this.findings.push(...contentFindings({ action_id, path: change.path, before: was, after: to }));
  };

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

function shortened(diff: Diff): SeenChange {
  if (diff.kind === 'binary' || diff.hunks === null) return { diff, lines_left_out: 0 };
  let room = LINES;
  let lines_left_out = 0;
  const hunks = diff.hunks.flatMap((hunk): Hunk[] => {
    const lines = hunk.lines.slice(0, room);
    room -= lines.length;
    lines_left_out += hunk.lines.length - lines.length;
    return lines.length === 0 ? [] : [{ ...hunk, lines }];
  });
  return { diff: { ...diff, hunks }, lines_left_out };
}
