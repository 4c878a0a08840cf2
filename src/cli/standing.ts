import type { IntentState } from '../keyturn.ts';
import type { Paint } from './paint.ts';

/** Where an intent stands now, in the words that a person sees. The clock counts, which the stored status cannot know. */
export type Standing =
  | 'waiting'
  | 'expired'
  | 'rejected'
  | 'approved'
  | 'approval expired'
  | 'IN DOUBT'
  | 'succeeded'
  | 'failed'
  | 'happened'
  | 'rolled back'
  | 'undone'
  | 'STUCK';

export function standingOf(state: IntentState, now: Date): Standing {
  switch (state.status) {
    case 'proposed':
      return isPast(state.expires_at, now) ? 'expired' : 'waiting';
    case 'approved':
      if (isPast(state.expires_at, now)) return 'expired';
      return state.approvals.every(({ expires_at }) => isPast(expires_at, now))
        ? 'approval expired'
        : 'approved';
    case 'claimed':
    case 'partial':
    case 'rolling_back':
      return 'IN DOUBT';
    case 'rolled_back':
      return 'rolled back';
    case 'stuck':
      return 'STUCK';
    default:
      return state.status;
  }
}

function isPast(time: string, now: Date): boolean {
  return Date.parse(time) <= now.getTime();
}

export function styleOf(standing: Standing): Parameters<Paint>[0] | null {
  if (standing === 'IN DOUBT' || standing === 'STUCK') return 'alarm';
  if (standing === 'waiting' || standing === 'approval expired') return 'yellow';
  if (standing === 'approved' || standing === 'succeeded') return 'green';
  return standing === 'failed' ? 'red' : null;
}

export function painted(standing: Standing, paint: Paint): string {
  const style = styleOf(standing);
  return style === null ? standing : paint(style, standing);
}
