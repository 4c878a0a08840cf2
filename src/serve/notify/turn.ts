import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { ServiceState } from '../../keyturn.ts';
import { notifyLimits } from '../../limits.ts';

interface Turn {
  readonly state: ServiceState;
  readonly name: string;
  readonly signal: AbortSignal;
}

/**
 * Of the services of one ledger one tells a target at a time, so each message is delivered once. Waits for the turn, and gives a signal that
 * ends with it. Another service goes on where this one ends; after a kill, the message that was under way is sent again, with the same id.
 */
export async function inTurn(
  { state, name, signal }: Turn,
  act: (mine: AbortSignal) => Promise<void>,
): Promise<void> {
  const holder = randomUUID();
  const lease = (ttl_ms: number) => state.lease('notify-turn', name, holder, ttl_ms);
  let first = performance.now();
  while (!(await lease(notifyLimits.lease_ms))) {
    await pause(notifyLimits.turn_look_ms, null, { signal }).catch(() => {});
    if (signal.aborted) return;
    first = performance.now();
  }
  const lost = new AbortController();
  // A renewal can hang as well as fail, so the turn ends by the clock of this process, before another service can have it.
  const endsAfter = (asked: number) =>
    setTimeout(() => lost.abort(), asked + notifyLimits.lease_ms - notifyLimits.renew_ms - performance.now());
  let ending = endsAfter(first);
  const renewing = setInterval(async () => {
    const asked = performance.now();
    const is_mine = await lease(notifyLimits.lease_ms).catch(() => null);
    if (is_mine === false) lost.abort();
    if (is_mine === null || lost.signal.aborted) return;
    clearTimeout(ending);
    ending = endsAfter(asked);
  }, notifyLimits.renew_ms);
  try {
    await act(AbortSignal.any([signal, lost.signal]));
  } finally {
    clearInterval(renewing);
    clearTimeout(ending);
    // A store that does not answer lets go of it by itself.
    await Promise.race([lease(0).catch(() => {}), pause(notifyLimits.turn_look_ms, null, { ref: false })]);
  }
}
