import type { WaitsFor } from '../display/unserved.ts';
import { freezeWords } from '../gate/freeze.ts';
import { type Moment, type Standing, standingOf } from '../gate/standing.ts';
import type { IntentState } from '../gate/state.ts';
import { isDue } from '../gate/status-word.ts';
import { waitsFor } from './beat.ts';
import { momentFor } from './check.ts';
import type { Context } from './context.ts';
import { type Reviewers, reviewersOf } from './reviewers.ts';

/** The standing of an intent as the store has it now. Its dear parts are asked for when they are needed. */
export interface StandingNow extends Standing {
  readonly moment: Moment;
  /** Who is asked to give the approval that is missing. */
  readonly reviewers: () => Promise<Reviewers>;
  /** Which executors its capability waits for; null where it has none that could be used. */
  readonly executors: () => Promise<WaitsFor | null>;
}

/** Which freeze stops what still waits for its run, in one sentence; null where none does, and of what is over. */
export async function frozenNow(context: Context, state: IntentState): Promise<string | null> {
  return frozenWords(standingOf(state, await momentFor(context, state)));
}

export function frozenWords({ state, freeze }: Pick<Standing, 'state' | 'freeze'>): string | null {
  return freeze && isDue(state) ? freezeWords(freeze) : null;
}

/** Policies are asked for each act, and not here: their answer depends on who does what. */
export async function standingNow(context: Context, state: IntentState): Promise<StandingNow> {
  const moment = await momentFor(context, state);
  const standing = standingOf(state, moment);
  const { capability } = standing;
  return {
    ...standing,
    moment,
    reviewers: () => reviewersOf(context, state, standing),
    executors: async () => capability && waitsFor(context, capability.audience),
  };
}
