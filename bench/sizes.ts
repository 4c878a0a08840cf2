import type { Crowd } from './growth.ts';
import type { ServiceAsked } from './service.ts';

export interface Sizes {
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
  ...FULL,
  starts: 10,
  large_starts: 3,
  queue_lines: 20_000,
  commit_rounds: 10,
  middle: 10_000,
  large: 30_000,
  check_rounds: 40,
  runs: 20,
  plan_pairs: 12,
  caller_rounds: 2,
  caller_journeys: 128,
  dispatches: 60,
  agent_rows: 10_000,
  console: { rounds: 5, waiting: 100, strokes: 20, lines: 10_000 },
  service: {
    rounds: 2,
    gets: 2_000,
    proposals: 128,
    starts: 20,
    mixed_s: 5,
    followers: 100,
    heap_first: 1_000,
    heap_last: 11_000,
  },
  crowd: { intents: 1_000, principals: 100, delegations: 100, entries: 150 },
};
