import { planLimits } from '../../limits.ts';
import type { Visited } from '../derive.ts';
import {
  type ContentChange,
  type ContentFinding,
  contentFindingsInTurns,
  type FileContent,
} from '../input/content.ts';
import type { FileState } from '../model.ts';
import { type Diff, diffOf } from '../report/diff.ts';
import type { Hunk } from '../report/hunk.ts';
import { isPin } from '../state/pin.ts';

/** What a preview keeps of a change. */
export interface SeenChange {
  readonly diff: Diff;
  /** Lines that the diff has and that are not kept. */
  readonly lines_left_out: number;
}

/** Looks at a change elsewhere. Null where it is to be looked at here. */
export type Onlooker = (look: {
  readonly from: Uint8Array | null;
  readonly change: ContentChange;
}) => Promise<{ readonly diff: Diff; readonly findings: readonly ContentFinding[] }> | null;

/**
 * Looks at each change while a plan is derived: `derivePlan({ ..., visit: collector.visit })`. Nothing here is part of what is approved;
 * the findings say whether it may be.
 */
export class Collector {
  readonly findings: ContentFinding[] = [];
  private readonly seen = new Map<string, SeenChange>();
  private readonly onlooker: Onlooker;
  private room: number = planLimits.preview_chars;
  private room_lines: number = planLimits.preview_lines;

  constructor(onlooker: Onlooker | null = null) {
    this.onlooker = onlooker ?? (() => null);
  }

  readonly visit = async ({ action, change, before, after }: Visited): Promise<void> => {
    if (isPin(change)) return;
    const { action_id, action_type } = action;
    const from = contentOf(change.before, await before());
    const to = contentOf(change.after, await after());
    if (isUnknown(change.before, from) || isUnknown(change.after, to)) return;
    // A renamed file brings its content along; it is not new.
    const was = action_type === 'FILE_RENAME' ? to : from;
    const look = {
      from: from?.bytes ?? null,
      change: { action_id, path: change.path, before: was, after: to },
    };
    const { diff, findings } = (await this.onlooker(look)) ?? (await lookInTurns(look));
    this.seen.set(keyOf(action_id, change.path), this.kept(diff, to === null));
    this.findings.push(...findings);
  };

  /** A diff that does not fit is left out whole. Of a file that goes away, its size and hash are enough. */
  private kept(diff: Diff, goes_away: boolean): SeenChange {
    if (diff.kind === 'binary') return { diff, lines_left_out: 0 };
    const { lines_added, lines_removed } = diff;
    const [chars, lines] = sizeOf(diff.hunks ?? []);
    if (diff.hunks === null || chars > this.room || lines > this.room_lines)
      return { diff: { ...diff, hunks: null }, lines_left_out: goes_away ? 0 : lines_added + lines_removed };
    this.room -= chars;
    this.room_lines -= lines;
    return { diff, lines_left_out: 0 };
  }

  changeOf(action_id: string, path: string): SeenChange | null {
    return this.seen.get(keyOf(action_id, path)) ?? null;
  }
}

async function lookInTurns({ from, change }: Parameters<Onlooker>[0]) {
  const diff = diffOf(from, change.after?.bytes ?? null);
  return { diff, findings: await contentFindingsInTurns(change) };
}

function sizeOf(hunks: readonly Hunk[]): readonly [chars: number, lines: number] {
  let [chars, count] = [0, 0];
  for (const { lines } of hunks) {
    count += lines.length;
    for (const line of lines) chars += line.length;
  }
  return [chars, count];
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
