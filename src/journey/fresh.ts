import { setTimeout } from 'node:timers/promises';
import type { Signer } from '../identity/act.ts';
import { signingOnce } from '../identity/signing-once.ts';
import { journeyLimits, limits } from '../limits.ts';
import { Refusal } from '../refusal.ts';
import type { Context } from './context.ts';

/**
 * An act whose decision belongs to the control plane: where that is stale when it is written, because other policies are active or a
 * count moved, it is decided again, and its human does not sign again.
 */
export function signedOnce<T>(
  context: Context,
  signer: Signer,
  act: (signer: Signer) => Promise<T>,
): Promise<T> {
  const once = signingOnce(signer, context.clock());
  return untilFresh(() => act(once));
}

/**
 * Another process was issued one for the same proposer meanwhile, or the policies changed: decided again, until there is no more
 * time. Each round that one process loses, another one has won. How long a human takes to sign is no part of that time.
 */
export async function untilFresh<T>(act: () => Promise<T>): Promise<T> {
  let until_ms: number | null = null;
  for (let pause_ms = 1; ; pause_ms = Math.min(2 * pause_ms, journeyLimits.grant_pause_ms)) {
    try {
      return await act();
    } catch (error) {
      until_ms ??= performance.now() + limits.grant_decision_ms;
      const is_stale = error instanceof Refusal && error.code === 'DECISION_STALE';
      if (!is_stale || performance.now() >= until_ms) throw error;
    }
    // Two that lost together must not meet again.
    await setTimeout(Math.random() * pause_ms);
  }
}
