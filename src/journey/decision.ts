import type { Digest } from '../canonical/digest.ts';
import type { Event } from '../event/event.ts';

/** The stored decision that a fact rests on. */
export function decisionOf({ body }: Event): Digest | null {
  return 'decision' in body ? body.decision : null;
}
