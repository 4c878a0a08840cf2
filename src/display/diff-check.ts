import { sha256 } from '../canonical/digest.ts';
import { visible } from '../canonical/visible.ts';
import { limits } from '../limits.ts';
import type { FileState, PathChange, PlanEffect } from '../plan/model.ts';
import type { Hunk } from '../plan/report/hunk.ts';
import { isPin } from '../plan/state/pin.ts';
import { BINARY, namesOf } from './diff.ts';
import { type Block, type Shown, type ShownHunk, worded } from './shown.ts';

/**
 * Diffs need the files, which only the service has. A screen that draws a diff of a service compares it here with the two texts, and
 * the texts with the digests of the effect, before anything is signed.
 */

/** The lines of two texts, each with its line feed. */
export interface TextPair {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

export function textPair(before: string | null, after: string | null): TextPair {
  return { before: linesOf(before), after: linesOf(after) };
}

function linesOf(text: string | null): readonly string[] {
  return text === null || text === '' ? [] : text.split(/(?<=\n)/);
}

/** Whether the drawn parts are the difference: outside of them both texts are the same. Of lines that are read apart only the place is compared. */
export function isDiffOf({ before, after }: TextPair, hunks: readonly ShownHunk[]): boolean {
  let [i, j] = [0, 0];
  const sameUntil = (end: number) => {
    while (i < end && i < before.length && before[i] === after[j]) [i, j] = [i + 1, j + 1];
    return i === end;
  };
  for (const hunk of hunks) {
    if (!sameUntil(hunk.old_start - 1) || j !== hunk.new_start - 1) return false;
    if (hunk.apart === undefined && !isPartOf({ before, after }, hunk)) return false;
    [i, j] = [i + hunk.old_lines, j + hunk.new_lines];
  }
  return sameUntil(before.length) && j === after.length;
}

/** Whether every line of one part is the line of its text, at its place. */
function isPartOf(
  { before, after }: TextPair,
  { old_start, old_lines, new_start, new_lines, lines }: Hunk,
): boolean {
  let [i, j] = [old_start - 1, new_start - 1];
  for (let at = 0; at < lines.length; at++) {
    const mark = lines[at]![0];
    if (mark !== ' ' && mark !== '-' && mark !== '+') return false;
    const text = mark === '+' ? after[j] : before[i];
    if (text === undefined || (mark === ' ' && text !== after[j])) return false;
    if (visible(mark + text.replace(/\n$/, '')) !== lines[at]) return false;
    // A last line without a line feed says so.
    if (!text.endsWith('\n') && !lines[++at]?.startsWith('\\')) return false;
    if (mark !== '+') i++;
    if (mark !== '-') j++;
  }
  return i === old_start - 1 + old_lines && j === new_start - 1 + new_lines;
}

/** As `intents.diffTexts` tells them. */
export interface DiffText {
  readonly action_id: string;
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

export interface ComparedDiffs {
  /** A diff is not that of the contents that the digests cover, or the contents were kept back. */
  readonly is_other: boolean;
  /** Diffs of contents that are too large to be compared. */
  readonly unchecked: readonly string[];
  /** Whether lines that were read apart are those of the contents; true where these are too large. */
  isPart(action_id: string, path: string, hunk: Hunk): boolean;
}

export function hasDiffs({ parts }: Shown): boolean {
  return parts.some(({ blocks }) => blocks.some(({ kind, hunks }) => kind === 'diff' && hunks.length > 0));
}

/** The diffs of a plan, as they are drawn, with the digests of its effect. */
export function comparedDiffs(
  { actions }: PlanEffect,
  { parts }: Shown,
  told: readonly DiffText[],
): ComparedDiffs {
  const keyOf = (action_id: string, path: string) => `${action_id}\0${path}`;
  const texts = new Map(told.map((one) => [keyOf(one.action_id, one.path), one]));
  const pairs = new Map<string, TextPair>();
  const unchecked: string[] = [];
  const changes = actions.flatMap((action) => action.changes.filter((change) => !isPin(change)));
  const all_fit = changes.reduce((sum, change) => sum + charsIn(change), 0) <= limits.diff_text_bytes;
  let is_other = false;
  for (const [n, { action_id, changes }] of actions.entries()) {
    for (const { kind, title, hunks } of parts[n]?.blocks ?? []) {
      if (kind !== 'diff' || hunks.length === 0) continue;
      const name = title.map(({ text }) => text).join('');
      const change = changes.find(({ path }) => worded(path, 'agent').text === name);
      const text = change && texts.get(keyOf(action_id, change.path));
      if (!change || (!text && all_fit)) is_other = true;
      else if (!text) unchecked.push(name);
      else {
        const pair = textPair(text.before, text.after);
        pairs.set(keyOf(action_id, change.path), pair);
        const is_same = isOf(text.before, change.before) && isOf(text.after, change.after);
        if (!is_same || !isDiffOf(pair, hunks)) is_other = true;
      }
    }
  }
  const isPart = (action_id: string, path: string, hunk: Hunk) => {
    const pair = pairs.get(keyOf(action_id, path));
    return pair === undefined || isPartOf(pair, hunk);
  };
  return { is_other, unchecked, isPart };
}

/** Whether each change of a file is drawn, or what is missing of it is said. A diff that a service leaves out would be signed unseen. */
export function areAllDrawn({ actions }: PlanEffect, { parts, alarms }: Shown): boolean {
  if (alarms.some((one) => one.alarm === 'unseen')) return true;
  return actions.every(({ action_type, changes }, n) => {
    const diffs = (parts[n]?.blocks ?? []).filter(({ kind }) => kind === 'diff');
    const diffOf = (path: string) =>
      diffs.find(({ title }) => title.map(({ text }) => text).join('') === worded(path, 'agent').text);
    // A file that is only renamed brings nothing new, and what only the run can tell has no diff.
    const is_told = action_type === 'FILE_RENAME';
    return changes.every(
      (change) => is_told || isPin(change) || !isKnown(change) || isDrawn(change, diffOf(change.path)),
    );
  });
}

function isKnown({ before, after }: PathChange): boolean {
  return before !== 'unknown' && after !== 'unknown';
}

/** Without lines there is only a file that is not text, and says so; that goes away; or whose content stays. */
function isDrawn({ path, before, after }: PathChange, block: Block | undefined): boolean {
  if (block === undefined || block.left_out > 0) return false;
  const { hunks, lines } = block;
  const names = namesOf(path, before !== null, after !== null);
  if (hunks.length === 0 && isSameText(lines, [...names, BINARY])) return true;
  const is_whole = hunks.length > 0 || after === null || contentOf(before) === contentOf(after);
  return is_whole && isSameText(lines, names);
}

const isSameText = (a: readonly string[], b: readonly string[]) => a.join('\n') === b.join('\n');

/** No file has the content of an empty one. */
const contentOf = (state: PathChange['before']) =>
  state === null || state === 'unknown' ? sha256('') : state.sha256;

/** In both contents of a change; none where they are not known before the run. */
export function charsIn({ before, after }: PathChange): number {
  return sizeOf(before) + sizeOf(after);
}

const sizeOf = (state: PathChange['before']) => (state === null || state === 'unknown' ? 0 : state.size);

function isOf(text: string | null, state: FileState | null | 'unknown'): boolean {
  if (state === 'unknown') return false;
  return text === null || state === null ? text === state : sha256(text) === state.sha256;
}
