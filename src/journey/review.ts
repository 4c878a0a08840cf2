import type { IntentState } from '../gate/state.ts';
import { type Envelope, openEnvelope } from '../intent/envelope.ts';
import { refuse } from '../refusal.ts';
import { type Effect, openEffect } from '../tool/effect.ts';
import { type Context, requireIntent } from './context.ts';

/** Everything a human sees before turning the key, read from the bytes that the hash covers. */
export interface Review {
  readonly state: IntentState;
  readonly envelope: Envelope;
  readonly effect: Effect;
}

export async function review(context: Context, intent_id: string): Promise<Review> {
  const state = await requireIntent(context, intent_id);
  // The store checks content against digest, so what is shown is what was hashed.
  const envelope = openEnvelope(await context.store.object(state.hash));
  const effect = openEffect(await context.store.object(state.effect_digest));
  if (envelope.effect.digest !== state.effect_digest) refuse('EFFECT_CHANGED');
  return { state, envelope, effect };
}
