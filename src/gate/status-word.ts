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

/**
 * Where an intent stands now, in the words that a person sees. The clock and the keys of the approvers count, which the stored status cannot
 * know: `approval expired` is what was approved, and not by enough approvals that count now, for whichever reason.
 */
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

/** What the word rests on besides the intent. */
interface WordMoment {
  readonly now: Date;
  /** How many more humans must approve it. */
  readonly missing: number;
  /** Whether a human approved it whose approval counts no more. */
  readonly has_lapsed: boolean;
  readonly is_running: boolean | undefined;
}

/** The one place that decides it, for `approvalsNow`, which knows what is missing. */
export function statusWordOf(
  state: IntentState,
  { now, missing, has_lapsed, is_running }: WordMoment,
): StatusWord {
  if (hasExpired(state, now)) return 'expired';
  switch (state.status) {
    case 'proposed':
      return 'waiting';
    case 'approved':
      if (missing === 0) return 'approved';
      return has_lapsed ? 'approval expired' : 'waiting';
    case 'rejected':
    case 'withdrawn':
    case 'replaced':
      return state.status;
    default:
      return runWordOf(state.status, is_running);
  }
}

/** Whether it could still be approved, but for its end. */
export function isDue({ status }: Pick<IntentState, 'status'>): boolean {
  return status === 'proposed' || status === 'approved';
}

/** Whether it ended because its time passed before it ran. */
export function hasExpired(state: Pick<IntentState, 'status' | 'expires_at'>, now: Date): boolean {
  return isDue(state) && Date.parse(state.expires_at) <= now.getTime();
}

/** Until when that word, and what was ordered, holds while no entry comes; null where a process that runs can end. */
export function statusLasts(
  {
    status,
    expires_at,
    approvals,
    capabilities,
  }: Pick<IntentState, 'status' | 'expires_at' | 'approvals' | 'capabilities'>,
  now: Date,
): Date | null {
  if (GOING.has(status)) return null;
  const orders = capabilities.flatMap(({ lapses_at, expires_at }) => [lapses_at, expires_at]);
  const ends = [expires_at, ...approvals.map((one) => one.expires_at), ...orders].map((one) =>
    Date.parse(one),
  );
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
