import type { Client } from '../client/client.ts';
import type { ComparedDiffs } from '../display/diff-check.ts';
import { isSealedAs, type SealedProposal, sealedProposal, withTheirDiffs } from '../display/signed.ts';
import { showTool } from '../display/tool.ts';
import type { PlanEffect } from '../plan/model.ts';
import type { ReviewTold, ShownEffect } from './types.ts';
import type { EffectToDraw } from './words.ts';

/** One proposal as this page draws it. */
export interface Looked {
  readonly review: ReviewTold;
  readonly effect: EffectToDraw;
  readonly shown: ShownEffect;
  /** Computed in the page, from what it draws. */
  readonly sealed: SealedProposal;
  /** Whether that is what the service says it is, and each diff that of its contents. If not, nothing is signed. */
  readonly honest: boolean;
  /** Of a plan: its diffs, with the digests of their contents. */
  readonly diffs: ComparedDiffs | null;
  readonly at: number;
}

/** What the service would say to the signature, before any gesture. */
export interface May {
  readonly turn: Answer;
  readonly approve: Answer;
}
type Answer = {
  readonly code: string | null;
  readonly words: string | null;
  readonly advice: string | null;
  readonly approves: boolean;
};

/** What was asked for before it is drawn. Each answer is taken once, and forgotten with the next entry that could change it. */
export interface Prefetched {
  looked: Promise<Looked> | null;
  may: Promise<May> | null;
  /** The hash and the person that `may` is about. */
  readonly about: string;
}

/** Lines of diffs that come with a proposal: a few screens. The others are read when they come near the screen. */
const DIFF_LINES = 1_000;

export async function lookAt(api: Client, intent_id: string): Promise<Looked> {
  const review = await api.intents.review({ intent_id, diff_lines: DIFF_LINES });
  const { intent, envelope, effect } = review;
  const own = sealedProposal(envelope, effect, review.alternate_effects);
  const shown = await drawnFrom(effect, review.shown);
  const diffs =
    effect.kind === 'plan' ? await diffsOf(api, effect, shown, { intent_id, hash: own.hash }) : null;
  const is_whole = effect.kind !== 'plan' || !WAITING.has(intent.status) || (await isWhole(effect, shown));
  const alternates = await Promise.all(
    review.alternate_effects.map((one, i) => drawnFrom(one, review.alternates[i]!)),
  );
  return {
    ...{ review: { ...review, alternates }, effect, shown, diffs },
    sealed: own,
    honest: isSealedAs(own, envelope, intent) && !diffs?.is_other && is_whole,
    at: Date.now(),
  };
}

/** What has diffs: of what has run, the files are others by now. */
const WAITING: ReadonlySet<string> = new Set(['proposed', 'approved']);

async function isWhole(effect: PlanEffect, shown: ShownEffect): Promise<boolean> {
  return (await import('../display/diff-check.ts')).areAllDrawn(effect, shown);
}

/** Where nothing is drawn of the files, nothing is compared. */
async function diffsOf(
  api: Client,
  effect: PlanEffect,
  shown: ShownEffect,
  about: { readonly intent_id: string; readonly hash: string },
): Promise<ComparedDiffs | null> {
  const { comparedDiffs, hasDiffs } = await import('../display/diff-check.ts');
  return hasDiffs(shown) ? comparedDiffs(effect, shown, (await api.intents.diffTexts(about)).texts) : null;
}

/** What a person sees is made here, from the effect that the digest covers. */
async function drawnFrom(effect: EffectToDraw, theirs: ShownEffect): Promise<ShownEffect> {
  if (effect.kind === 'tool') return showTool(effect);
  if (effect.kind === 'mcp') return (await import('../display/mcp.ts')).showMcp(effect);
  // Loaded with the first plan: it reads SQL, too.
  const { showPlan } = await import('../display/plan.ts');
  return withTheirDiffs(showPlan(effect), theirs);
}

/** Whether something that was drawn is another thing now. */
export function isStale(drawn: Looked, now: Looked): boolean {
  return (
    drawn.sealed.hash !== now.sealed.hash ||
    drawn.sealed.effect_digest !== now.sealed.effect_digest ||
    !isSame(drawn.shown, now.shown)
  );
}

/** Two values of JSON. No text is made of them: a diff can have 50 MB. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  const [ours, theirs] = [Object.entries(a), Object.entries(b)];
  return (
    ours.length === theirs.length &&
    ours.every(([key, value]) => isSame(value, (b as Readonly<Record<string, unknown>>)[key]))
  );
}
