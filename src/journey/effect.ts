import { type Digest, sha256 } from '../canonical/digest.ts';
import { canonicalBytes, parseJson } from '../canonical/json.ts';
import type { IntentState } from '../gate/state.ts';
import { type Draft, openEnvelope } from '../intent/envelope.ts';
import type { PlanSpec } from '../plan/spec.ts';
import type { Context } from './context.ts';
import type { Derived, Effect } from './derived.ts';
import { deriveToolCall } from './tool.ts';

/** What is asked for, as the world is now. The first time, contents are looked at as well as hashed. */
export function derive(context: Context, asked: Draft['effect'], intent_id: string | null): Promise<Derived> {
  return asked.kind === 'tool' ? deriveToolCall(context, asked, intent_id) : derivePlan(context, asked, true);
}

/**
 * Derives the effect again from the world as it is now (registry, arguments, executable bytes, files) and refuses any
 * difference from what the hash covers. Checks 2 to 5 of 001, in their order.
 */
export async function requireSameEffect(context: Context, state: IntentState): Promise<Derived> {
  const envelope = openEnvelope(await context.store.object(state.hash));
  const { effect } = envelope;
  const derived =
    effect.kind === 'tool'
      ? await deriveToolCall(context, effect, state.intent_id)
      : await derivePlan(context, effect, false);
  derived.requireSame(openEffect(await context.store.object(state.effect_digest)));
  return derived;
}

/**
 * The bytes of an effect and their digest. The nonce of the envelope is part of them: a guessable argument cannot be
 * guessed back from the digest in the ledger once the bytes are erased.
 */
export function sealEffect(effect: Effect, nonce: string): { bytes: Uint8Array; digest: Digest } {
  const bytes = canonicalBytes({ effect, nonce });
  return { bytes, digest: sha256(bytes) };
}

/** Reads an effect back. The store has checked the bytes against their digest, so they are what was sealed. */
export function openEffect(bytes: Uint8Array): Effect {
  return (parseJson(bytes, bytes.length) as unknown as { effect: Effect }).effect;
}

/** The plan executor is large: a tool call does not load it. */
async function derivePlan(context: Context, spec: PlanSpec, look: boolean): Promise<Derived> {
  const { derivePlanRun } = await import('./plan.ts');
  return derivePlanRun(context, spec, look);
}
