import { findSecrets } from '../input/credential.ts';
import type { Diff } from './diff.ts';
import { hunkLines } from './hunk.ts';

/** 004 section 4.2: how much of a file changed, and the beginning of how. */
export interface DiffSummary {
  readonly lines_added: number;
  readonly lines_removed: number;
  readonly preview: string;
}

const PREVIEW_CHARS = 500;
/** A little more is searched for secrets than is shown: the cut must not leave half of one. */
const SEARCHED_CHARS = 4096;

export function summaryOf(path: string, diff: Diff): DiffSummary {
  if (diff.kind === 'binary') return unshown('The file is binary.');
  const { lines_added, lines_removed, hunks } = diff;
  if (hunks === null)
    return { lines_added, lines_removed, preview: 'The difference is too large to be shown.' };
  return {
    lines_added,
    lines_removed,
    preview: cut(hidden(hunkLines(hunks).join('\n'), path), PREVIEW_CHARS),
  };
}

/** Where there is nothing to compare. */
export function unshown(why: string): DiffSummary {
  return { lines_added: 0, lines_removed: 0, preview: why };
}

/** A plan may remove a credential that somebody left in a file. The report must not keep it. */
function hidden(diff: string, path: string): string {
  const text = cut(diff, SEARCHED_CHARS);
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
