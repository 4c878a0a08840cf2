import { createContext } from 'preact';
import type { ShownHunk } from '../../display/shown.ts';

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
