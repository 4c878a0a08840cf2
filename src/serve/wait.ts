import { webLimits } from '../limits.ts';
import { refuse } from '../refusal.ts';

export interface Wait {
  readonly signal: AbortSignal;
  /** Held as long as the wait: node ends the timer of a signal that only another signal refers to. */
  readonly late: AbortSignal;
}

/** How long an answer may be waited for: `Prefer: wait=10` of RFC 7240, or 25 seconds; less where the caller goes or the service stops. */
export function waitOf({ headers, signal }: Request, stopping: AbortSignal): Wait {
  const [, text] = /(?:^|,)\s*wait\s*=\s*([0-9]{1,6})\s*(?:,|;|$)/i.exec(headers.get('prefer') ?? '') ?? [];
  const seconds = Math.min(text === undefined ? webLimits.wait_s_default : Number(text), webLimits.wait_s);
  const late = AbortSignal.timeout(seconds * 1000);
  return { signal: AbortSignal.any([signal, stopping, late]), late };
}

/** When the time is over the caller gets WAIT_OVER, and asks again. */
export async function waited<T>(wait: Wait | null, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (wait?.signal.aborted && error === wait.signal.reason) refuse('WAIT_OVER');
    throw error;
  }
}
