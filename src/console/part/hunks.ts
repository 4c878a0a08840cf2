import { createContext } from 'preact';
import type { ShownHunk } from '../../display/shown.ts';
import { refuse } from '../../refusal.ts';

/** Some parts of one diff. */
interface HunksAsked {
  readonly action_id: string;
  readonly path: string;
  readonly from: number;
  readonly count: number;
}

/** Reads parts of a diff whose lines did not come with the proposal. */
export type ReadHunks = (asked: HunksAsked) => Promise<readonly ShownHunk[]>;

export const HunksContext = createContext<ReadHunks | null>(null);

/** Of lines that are here, and of those that are not. */
export function countsOf(hunks: readonly ShownHunk[]): { readonly added: number; readonly removed: number } {
  let [added, removed] = [0, 0];
  for (const { lines, apart = 0, old_lines, new_lines } of hunks) {
    if (apart > 0) {
      added += apart - old_lines;
      removed += apart - new_lines;
    }
    for (const line of lines) {
      if (line[0] === '+') added++;
      if (line[0] === '-') removed++;
    }
  }
  return { added, removed };
}

/** The parts that came, if they are those that the review announced: as many, at the same places, with as many lines on each side. */
export function asAnnounced(
  announced: readonly ShownHunk[],
  came: readonly ShownHunk[],
): readonly ShownHunk[] {
  const is_same = came.length === announced.length && announced.every((one, i) => isFilled(one, came[i]!));
  if (!is_same) refuse('SEEN_OTHER', 'The service sent other lines than it announced with the proposal.');
  return came;
}

const PLACES = ['old_start', 'old_lines', 'new_start', 'new_lines'] as const;

function isFilled(announced: ShownHunk, { lines, apart, ...place }: ShownHunk): boolean {
  const count = (signs: string) => lines.filter((line) => line !== '' && signs.includes(line[0]!)).length;
  return (
    apart === undefined &&
    PLACES.every((name) => place[name] === announced[name]) &&
    count(' -') === announced.old_lines &&
    count(' +') === announced.new_lines &&
    count(' -+') === announced.apart &&
    count(' -+\\') === lines.length
  );
}
