import type { IntentState } from '../gate/state.ts';
import type { Envelope } from '../intent/envelope.ts';
import { Refusal } from '../refusal.ts';
import { type Context, requireIntent } from './context.ts';
import type { Effect } from './derived.ts';
import { openAsked } from './effect.ts';

/** Everything a human sees before turning the key, read from the bytes that the hash covers. */
export interface Review {
  readonly state: IntentState;
  readonly envelope: Envelope;
  readonly effect: Effect;
  /** For a plan that has not run: every change as a diff. */
  readonly preview: string | null;
}

export async function review(context: Context, intent_id: string, colour = false): Promise<Review> {
  const state = await requireIntent(context, intent_id);
  // The store checks content against digest, so what is shown is what was hashed.
  const { envelope, effect } = await openAsked(context, state);
  const waiting = state.status === 'proposed' || state.status === 'approved';
  const preview = waiting ? await previewOf(context, envelope, effect, colour) : null;
  return { state, envelope, effect, preview };
}

/** The diffs are made from the files as they are, and shown only if those are still the files that the hash covers. */
async function previewOf(
  context: Context,
  envelope: Envelope,
  effect: Effect,
  colour: boolean,
): Promise<string | null> {
  if (envelope.effect.kind !== 'plan' || effect.kind !== 'plan') return null;
  const { previewSamePlan } = await import('./plan.ts');
  try {
    return await previewSamePlan(context, envelope.effect, effect, colour);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return `The changes cannot be shown. ${error.message} (${error.code})\n`;
  }
}
