import { planLimits } from '../../limits.ts';
import { findSecrets } from '../input/credential.ts';
import type { Diff } from './diff.ts';
import { hunkLines } from './hunk.ts';

/** 004 section 4.2: how much of a file changed, and the beginning of how. */
export interface DiffSummary {
  readonly lines_added: number;
  readonly lines_removed: number;
  readonly preview: string;
}

export function summaryOf(path: string, diff: Diff): DiffSummary {
  if (diff.kind === 'binary') return unshown('The file is binary.');
  const { lines_added, lines_removed, hunks } = diff;
  if (hunks === null)
    return {
      lines_added,
      lines_removed,
      preview: `Old and new text have more than ${planLimits.diff_chars} characters: the difference is not shown.`,
    };
  return {
    lines_added,
    lines_removed,
    preview: cut(hidden(hunkLines(hunks).join('\n'), path), planLimits.diff_preview_chars),
  };
}

/** Where there is nothing to compare. */
export function unshown(why: string): DiffSummary {
  return { lines_added: 0, lines_removed: 0, preview: why };
}

/** A plan may remove a credential from a file. The report must not keep it. */
function hidden(diff: string, path: string): string {
  const text = cut(diff, planLimits.diff_searched_chars);
  return findSecrets(text, path).reduce(
    (shown, { text: secret }) => shown.replaceAll(secret, '[hidden]'),
    text,
  );
}

/** Never between the two halves of a character. */
function cut(text: string, chars: number): string {
  const head = text.slice(0, chars);
  return head.isWellFormed() ? head : head.slice(0, -1);
}
