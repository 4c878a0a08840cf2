import { showEffect } from '../display/effect.ts';
import { derived, type Shown } from '../display/shown.ts';
import { alarm } from '../display/tool.ts';
import type { IntentState } from '../gate/state.ts';
import type { Envelope } from '../intent/envelope.ts';
import { Refusal } from '../refusal.ts';
import { type Context, requireIntent } from './context.ts';
import type { Effect } from './derived.ts';
import { openAsked } from './effect.ts';
import { openEffect } from './sealed-effect.ts';

/** Everything a human sees before turning the key, read from the bytes that the hash covers. */
export interface Review {
  readonly state: IntentState;
  readonly envelope: Envelope;
  readonly effect: Effect;
  /** The effect as lines; for a plan that has not run, with every change as a diff. */
  readonly shown: Shown;
  /** What a human may turn to when a run fails: a yes covers it, too. */
  readonly alternates: readonly Shown[];
}

export async function review(context: Context, intent_id: string): Promise<Review> {
  const state = await requireIntent(context, intent_id);
  // The store checks content against digest, so what is shown is what was hashed.
  const { envelope, effect } = await openAsked(context, state);
  const waiting = state.status === 'proposed' || state.status === 'approved';
  const shown = waiting ? await shownNow(context, envelope, effect) : showEffect(effect);
  const alternates: Shown[] = [];
  for (const { effect_digest } of state.choices.slice(1))
    alternates.push(showEffect(openEffect(await context.store.object(effect_digest))));
  return { state, envelope, effect, shown, alternates };
}

/** The diffs are made from the files as they are, and shown only if those are still the files that the hash covers. */
async function shownNow(context: Context, envelope: Envelope, effect: Effect): Promise<Shown> {
  if (envelope.effect.kind !== 'plan' || effect.kind !== 'plan') return showEffect(effect);
  const { previewSamePlan } = await import('./plan.ts');
  try {
    return await previewSamePlan(context, envelope.effect, effect);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const shown = showEffect(effect);
    const why = alarm('unseen', 'THE CHANGES CANNOT BE SHOWN', [derived(`${error.message} (${error.code})`)]);
    return { ...shown, alarms: [why, ...shown.alarms] };
  }
}
