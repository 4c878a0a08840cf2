import type { RunStatus } from './execution.ts';
import type { IntentState, IntentStatus } from './state.ts';

/** The stored states of an intent. */
export const STATUSES = [
  'proposed',
  'rejected',
  'withdrawn',
  'replaced',
  'approved',
  'claimed',
  'succeeded',
  'failed',
  'partial',
  'happened',
  'rolled_back',
  'rolling_back',
  'undone',
  'stuck',
] as const satisfies readonly IntentStatus[];

/** Where an intent stands now, in the words that a person sees. The clock counts, which the stored status cannot know. */
export const STATUS_WORDS = [
  'waiting',
  'expired',
  'rejected',
  'withdrawn',
  'replaced',
  'approved',
  'approval expired',
  'running',
  'IN DOUBT',
  'succeeded',
  'failed',
  'happened',
  'rolled back',
  'undone',
  'STUCK',
] as const;

export type StatusWord = (typeof STATUS_WORDS)[number];

/** The one place that decides it. `is_running` says whether something still works on its last run, which the ledger cannot know. */
export function statusWordOf(state: IntentState, now: Date, is_running = false): StatusWord {
  switch (state.status) {
    case 'proposed':
      return isPast(state.expires_at, now) ? 'expired' : 'waiting';
    case 'approved':
      if (isPast(state.expires_at, now)) return 'expired';
      return state.approvals.every(({ expires_at }) => isPast(expires_at, now))
        ? 'approval expired'
        : 'approved';
    case 'rejected':
    case 'withdrawn':
    case 'replaced':
      return state.status;
    default:
      return runWordOf(state.status, is_running);
  }
}

/** Until when that word holds while no entry comes; null where a process that runs can end. */
export function statusLasts(
  { status, expires_at, approvals }: Pick<IntentState, 'status' | 'expires_at' | 'approvals'>,
  now: Date,
): Date | null {
  if (GOING.has(status)) return null;
  const ends = [expires_at, ...approvals.map((one) => one.expires_at)].map((one) => Date.parse(one));
  return new Date(Math.min(FOR_GOOD, ...ends.filter((end) => end > now.getTime())));
}

const GOING: ReadonlySet<IntentStatus> = new Set(['claimed', 'partial', 'rolling_back']);
/** The last moment that a date can hold. */
const FOR_GOOD = 8.64e15;

/** The words for an intent that was run, and for each of its runs. */
export const RUN_WORDS = [
  'running',
  'IN DOUBT',
  'succeeded',
  'failed',
  'happened',
  'rolled back',
  'undone',
  'STUCK',
] as const satisfies readonly StatusWord[];

export type RunWord = (typeof RUN_WORDS)[number];

export function runWordOf(status: RunStatus, is_running = false): RunWord {
  switch (status) {
    case 'claimed':
      return is_running ? 'running' : 'IN DOUBT';
    case 'partial':
    case 'rolling_back':
      return 'IN DOUBT';
    case 'rolled_back':
      return 'rolled back';
    case 'stuck':
      return 'STUCK';
    default:
      return status;
  }
}

function isPast(time: string, now: Date): boolean {
  return Date.parse(time) <= now.getTime();
}
