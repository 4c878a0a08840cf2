import type { Client } from '../client/client.ts';
import { showTool } from '../display/tool.ts';
import type { Result } from '../keyturn.ts';

import { type Sealed, sealed } from './statement.ts';
import type { Effect } from './words.ts';

type Review = Result<'intents.review'>;
type Shown = Review['shown'];

/** One proposal as this page draws it. */
export interface Looked {
  readonly review: Review;
  readonly effect: Effect;
  readonly shown: Shown;
  /** Computed in the page, from what it draws. */
  readonly sealed: Sealed;
  /** Whether that is what the service says it is. If not, nothing is signed. */
  readonly honest: boolean;
  readonly at: number;
}

export async function lookAt(api: Client, intent_id: string): Promise<Looked> {
  return lookedAt(await api.intents.review({ intent_id }));
}

/** Asks ahead for what a person will likely look at next. */
export function askAhead(api: Client, ahead: Map<string, Promise<Looked>>, intent_id: string | null): void {
  if (intent_id === null || ahead.has(intent_id)) return;
  const asked = lookAt(api, intent_id);
  ahead.set(intent_id, asked);
  asked.catch(() => ahead.delete(intent_id));
}

async function lookedAt(review: Review): Promise<Looked> {
  const { intent, envelope, effect } = review;
  const own = sealed(envelope, effect);
  const honest =
    own.hash === intent.hash &&
    own.effect_digest === intent.effect_digest &&
    envelope.intent_id === intent.intent_id;
  return {
    review,
    effect,
    shown: await drawnFrom(effect, review.shown),
    sealed: own,
    honest,
    at: Date.now(),
  };
}

/**
 * What a person sees is made here, from the effect that the digest covers. Diffs need the files, which only the service has: their
 * blocks, and the alarms that were found in them, are taken from its answer.
 */
async function drawnFrom(effect: Effect, theirs: Shown): Promise<Shown> {
  if (effect.kind === 'tool') return showTool(effect);
  if (effect.kind === 'mcp') return (await import('../display/mcp.ts')).showMcp(effect);
  // Loaded with the first plan: it reads SQL, too.
  const { showPlan } = await import('../display/plan.ts');
  const own = showPlan(effect);
  const known = new Set(own.alarms.map(({ words }) => words));
  return {
    ...own,
    alarms: [...theirs.alarms.filter(({ words }) => !known.has(words)), ...own.alarms],
    parts: own.parts.map((part, i) => ({ ...part, blocks: theirs.parts[i]?.blocks ?? part.blocks })),
  };
}

/** Whether something that was drawn is another thing now. */
export function isStale(drawn: Looked, now: Looked): boolean {
  return (
    drawn.sealed.hash !== now.sealed.hash ||
    drawn.sealed.effect_digest !== now.sealed.effect_digest ||
    JSON.stringify(drawn.shown) !== JSON.stringify(now.shown)
  );
}
