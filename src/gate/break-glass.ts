import { limits } from '../limits.ts';
import type { IntentState } from './state.ts';

/**
 * Since when two humans have gone past what stops this attempt; null when they have not. A key that was revoked since does
 * not count, and neither does what they did too long ago.
 */
export function breakGlassSince(
  { break_glass }: IntentState,
  at: string,
  isLiveKey: (name: string, key: string) => boolean,
): string | null {
  const now_ms = Date.parse(at);
  const counted = new Map<string, string>();
  for (const one of break_glass)
    if (now_ms - Date.parse(one.at) < limits.break_glass_ms && isLiveKey(one.by, one.key))
      counted.set(one.by, one.at);
  return [...counted.values()].sort()[1] ?? null;
}
