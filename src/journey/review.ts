import { type DiffRoom, slicesOfAll, visibleHunk } from '../display/diff.ts';
import type { DiffText } from '../display/diff-check.ts';
import { showEffect } from '../display/effect.ts';
import { derived, type Shown } from '../display/shown.ts';
import { alarm } from '../display/tool.ts';
import type { IntentState } from '../gate/state.ts';
import type { Envelope } from '../intent/envelope.ts';
import type { Collector } from '../plan/preview/collect.ts';
import type { Hunk } from '../plan/report/hunk.ts';
import { Refusal, refuse } from '../refusal.ts';
import { type Asked, type Context, requireIntent } from './context.ts';
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
  readonly alternate_effects: readonly Effect[];
}

/** With `diff_lines`, diffs that have more lines in all are shown without the lines of the rest: `hunksApart` reads those. */
export async function review(context: Context, intent_id: string, diff_lines?: number): Promise<Review> {
  const state = await requireIntent(context, intent_id);
  // The store checks content against digest, so what is shown is what was hashed.
  const { envelope, effect } = await openAsked(context, state);
  const waiting = state.status === 'proposed' || state.status === 'approved';
  const room = diff_lines === undefined ? undefined : { lines: diff_lines };
  const shown = waiting ? await shownNow(context, state, { envelope, effect }, room) : showEffect(effect);
  const alternate_effects: Effect[] = [];
  for (const { effect_digest } of state.choices.slice(1))
    alternate_effects.push(openEffect(await context.store.object(effect_digest)));
  const alternates = alternate_effects.map((one) => showEffect(one));
  return { state, envelope, effect, shown, alternates, alternate_effects };
}

/** The diffs are made from the files as they are, and shown only if those are still the files that the hash covers. */
async function shownNow(
  context: Context,
  state: IntentState,
  { envelope, effect }: Asked,
  room?: DiffRoom,
): Promise<Shown> {
  if (envelope.effect.kind !== 'plan' || effect.kind !== 'plan') return showEffect(effect);
  const { previewSamePlan } = await import('./plan.ts');
  try {
    const { shown, seen } = await previewSamePlan(context, envelope.effect, effect, room);
    if (room && room.lines <= 0) context.memory.previews.set(state.effect_digest, slicesIn(seen));
    return shown;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const shown = showEffect(effect);
    const why = alarm('unseen', 'THE CHANGES CANNOT BE SHOWN', [derived(`${error.message} (${error.code})`)]);
    return { ...shown, alarms: [why, ...shown.alarms] };
  }
}

/** One place in the diffs of a plan. */
interface HunksAsked {
  readonly intent_id: string;
  readonly hash: string;
  readonly action_id: string;
  readonly path: string;
  readonly from: number;
  readonly count: number;
}

/** Parts of one diff, by their place in it, as `review` counts them with `diff_lines`. */
export async function hunksApart(
  context: Context,
  { intent_id, hash, action_id, path, from, count }: HunksAsked,
): Promise<readonly Hunk[]> {
  const state = await requireIntent(context, intent_id);
  if (state.hash !== hash) refuse('HASH_MISMATCH', 'The proposal has another hash.');
  const { previews } = context.memory;
  if (previews.get(state.effect_digest) === undefined) await review(context, intent_id, 0);
  const slices = previews.get(state.effect_digest)?.(action_id, path) ?? null;
  if (slices === null) refuse('PLAN_DRIFT', 'There is no such diff now.', { path });
  return slices.slice(from, from + count).map(visibleHunk);
}

/** The contents behind the diffs of a plan that waits: who draws the diffs compares them with the digests of the effect. */
export async function diffTexts(
  context: Context,
  { intent_id, hash }: { readonly intent_id: string; readonly hash: string },
): Promise<readonly DiffText[]> {
  const state = await requireIntent(context, intent_id);
  if (state.hash !== hash) refuse('HASH_MISMATCH', 'The proposal has another hash.');
  const { envelope, effect } = await openAsked(context, state);
  if (envelope.effect.kind !== 'plan' || effect.kind !== 'plan') return [];
  const { textsOfPlan } = await import('./plan.ts');
  return textsOfPlan(context, envelope.effect, effect);
}

/** Each diff is divided when it is first looked at. */
function slicesIn(seen: Collector): (action_id: string, path: string) => readonly Hunk[] | null {
  const known = new Map<readonly Hunk[], readonly Hunk[]>();
  return (action_id, path) => {
    const diff = seen.changeOf(action_id, path)?.diff;
    const hunks = diff?.kind === 'text' ? diff.hunks : null;
    if (hunks === null) return null;
    const slices = known.get(hunks) ?? slicesOfAll(hunks);
    known.set(hunks, slices);
    return slices;
  };
}
