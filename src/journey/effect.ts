import { callOf, requireTold } from '../gate/asked.ts';
import type { IntentState } from '../gate/state.ts';
import { type Draft, openEnvelope } from '../intent/envelope.ts';
import type { PlanSpec } from '../plan/spec.ts';
import { refuse } from '../refusal.ts';
import type { Asked, Context } from './context.ts';
import type { Derived } from './derived.ts';
import { openEffect } from './sealed-effect.ts';
import { deriveToolCall } from './tool.ts';

/** What is asked for, as the world is now. The first time, contents are looked at as well as hashed. */
export function derive(context: Context, asked: Draft['effect'], intent_id: string | null): Promise<Derived> {
  return asked.kind === 'tool' ? deriveToolCall(context, asked, intent_id) : derivePlan(context, asked, true);
}

/**
 * Derives the effect again from the world as it is now (registry, arguments, executable bytes, files) and refuses any
 * difference from what the hash covers. Checks 2 to 5 of 001, in their order.
 */
export async function requireSameEffect(
  context: Context,
  state: IntentState,
  { envelope, effect }: Asked,
  earlier?: { readonly state: IntentState; readonly derived: Derived },
): Promise<Derived> {
  // The effect that was compared then is still the approved one, and would be derived again.
  if (earlier?.state.effect_digest === state.effect_digest && earlier.derived.isStillTrue?.())
    return earlier.derived;
  const call = callOf(envelope, state);
  const derived =
    call.kind === 'tool'
      ? await deriveToolCall(context, call, state.intent_id)
      : await derivePlan(context, call, false);
  derived.requireSame(effect);
  if (derived.approvals_needed > state.approvals_needed)
    refuse('EFFECT_CHANGED', 'It needs more approvals than the ledger says.');
  return derived;
}

export async function openAsked({ store, memory }: Context, state: IntentState): Promise<Asked> {
  const { hash, effect_digest } = state;
  const { last } = await store.tip();
  const known = memory.asked;
  // An erasure is an entry: while the ledger ends as it did, what was there is there.
  if (known?.last === last && known.hash === hash && known.effect_digest === effect_digest)
    return known.value;
  const envelope = openEnvelope(await store.object(hash));
  requireTold(envelope, state);
  const value = { envelope, effect: openEffect(await store.object(effect_digest)) };
  memory.asked = { last, hash, effect_digest, value };
  return value;
}

/** The plan executor is large: a tool call does not load it. */
async function derivePlan(context: Context, spec: PlanSpec, look: boolean): Promise<Derived> {
  const { derivePlanRun } = await import('./plan.ts');
  return derivePlanRun(context, spec, look);
}
