import { isSameJson } from '../canonical/json.ts';
import { type ReasonCode, refuse } from '../refusal.ts';

/**
 * A human signs for what they saw. Where what an act replaces or rests on is another one when it is written, it is refused: another human may
 * have changed it while the act waited for its signature.
 */
export function requireSeen(
  seen: unknown,
  now: unknown,
  words?: string,
  code: ReasonCode = 'ACT_CHANGED',
): void {
  if (!isSameJson(seen, now)) refuse(code, words);
}
