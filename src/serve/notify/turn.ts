import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { ServiceState } from '../../keyturn.ts';

/** A service that was killed keeps its turn for so long. */
const LEASE_MS = 15_000;
const RENEW_MS = LEASE_MS / 3;
/** How often the others look whether it is free. */
const LOOK_MS = 1_000;

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
  while (!(await lease(LEASE_MS))) {
    await pause(LOOK_MS, null, { signal }).catch(() => {});
    if (signal.aborted) return;
  }
  const lost = new AbortController();
  let until = performance.now() + LEASE_MS;
  const renewing = setInterval(async () => {
    const asked = performance.now();
    const is_mine = await lease(LEASE_MS).catch(() => null);
    if (is_mine) until = asked + LEASE_MS;
    if (is_mine === false || performance.now() > until - RENEW_MS) lost.abort();
  }, RENEW_MS);
  try {
    await act(AbortSignal.any([signal, lost.signal]));
  } finally {
    clearInterval(renewing);
    await lease(0).catch(() => {});
  }
}
