import type { Crowd } from './growth.ts';
import type { ServiceAsked } from './service.ts';

export interface Sizes {
  readonly policy_rounds: number;
  /** Runs of each process, with a small and with a large queue. */
  readonly starts: number;
  readonly large_starts: number;
  readonly queue_lines: number;
  readonly commit_rounds: number;
  readonly commits: number;
  /** Entries of the small, the middle and the large ledger. */
  readonly small: number;
  readonly middle: number;
  readonly large: number;
  readonly check_rounds: number;
  readonly checks: number;
  readonly runs: number;
  /** Of each number of callers, and what they share in one round. */
  readonly caller_rounds: number;
  readonly caller_journeys: number;
  /** Bare loop, plan and rollback, one after the other. */
  readonly plan_pairs: number;
  readonly plan_rounds: number;
  readonly plan_file_bytes: number;
  readonly dispatches: number;
  /** Rows of agent_execution_ledger. */
  readonly agent_rows: number;
  /** Simulations that are searched, queries that are timed, and those after which the heap is looked at. */
  readonly finder: { readonly simulations: number; readonly timed: number; readonly queries: number };
  /** Cold starts of the console, proposals that wait in it, keys, and lines of a diff. */
  readonly console: {
    readonly rounds: number;
    readonly waiting: number;
    readonly strokes: number;
    readonly lines: number;
  };
  readonly service: Omit<ServiceAsked, 'root'>;
  /** What a journey does not ask about. */
  readonly crowd: Crowd;
}

export const FULL: Sizes = {
  policy_rounds: 60,
  starts: 40,
  large_starts: 12,
  queue_lines: 200_000,
  commit_rounds: 40,
  commits: 64,
  small: 1_000,
  middle: 100_000,
  large: 1_000_000,
  check_rounds: 200,
  checks: 250,
  runs: 100,
  caller_rounds: 8,
  caller_journeys: 256,
  plan_pairs: 32,
  plan_rounds: 12,
  plan_file_bytes: 5_000_000,
  dispatches: 300,
  agent_rows: 100_000,
  finder: { simulations: 10_000, timed: 2_000, queries: 100_000 },
  console: { rounds: 15, waiting: 1_000, strokes: 100, lines: 10_000 },
  service: {
    rounds: 5,
    gets: 10_000,
    proposals: 256,
    starts: 200,
    mixed_s: 60,
    followers: 100,
    heap_first: 10_000,
    heap_last: 110_000,
  },
  crowd: { intents: 10_000, principals: 1_000, delegations: 1_000, entries: 1_500 },
};

/** To see that the bench works. Its figures are not the ones that are asked for. */
export const QUICK: Sizes = {
  policy_rounds: 2,
  starts: 4,
  large_starts: 2,
  queue_lines: 2_000,
  commit_rounds: 3,
  commits: 64,
  small: 1_000,
  middle: 2_000,
  large: 4_000,
  check_rounds: 5,
  checks: 50,
  runs: 5,
  plan_pairs: 2,
  plan_rounds: 2,
  plan_file_bytes: 100_000,
  caller_rounds: 1,
  caller_journeys: 128,
  dispatches: 10,
  agent_rows: 2_000,
  finder: { simulations: 500, timed: 50, queries: 500 },
  console: { rounds: 2, waiting: 20, strokes: 5, lines: 1_000 },
  service: {
    rounds: 1,
    gets: 500,
    proposals: 128,
    starts: 3,
    mixed_s: 2,
    followers: 20,
    heap_first: 200,
    heap_last: 1_000,
  },
  crowd: { intents: 100, principals: 20, delegations: 20, entries: 30 },
};
