import type { JsonObject } from '../canonical/json.ts';
import { intentIdOfKey } from '../intent/repeat.ts';
import { mcpLimits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { type Context, requireIntent } from './context.ts';
import { openAsked } from './effect.ts';

/** The call that a server answered with questions, so that another one can answer them. */
export interface QuestionedCall {
  readonly server: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  /** The intent that brings the answers; null while there is none. */
  readonly answered_by: string | null;
  /** What was answered while other questions are open. */
  readonly partial: JsonObject;
}

/** Null for what is no call to a server. */
export async function questionedCall(context: Context, intent_id: string): Promise<QuestionedCall | null> {
  const state = await requireIntent(context, intent_id);
  const { effect } = (await openAsked(context, state)).envelope;
  if (effect.kind !== 'mcp') return null;
  const found = await context.store.find('intent', answerIdOf(context, intent_id, state.proposer));
  // Its id can be computed, so another proposer may have taken it.
  const answer = found?.proposer === state.proposer ? found : null;
  const { server, tool } = effect;
  return {
    ...{ server, tool, arguments: effect.arguments as JsonObject },
    answered_by: answer?.intent_id ?? null,
    partial: answer === null ? await context.partial_answers.of(intent_id) : {},
  };
}

/** Keeps answers while others are missing, and says what is kept by now. What is too much is not kept: the client is asked again. */
export async function keepAnswers(
  context: Context,
  intent_id: string,
  answers: JsonObject,
): Promise<JsonObject> {
  const call =
    (await questionedCall(context, intent_id)) ??
    refuse('SHAPE_INVALID', 'The intent is no call to a server.');
  const all = { ...call.partial, ...answers };
  if (call.answered_by !== null || JSON.stringify(all).length > mcpLimits.answers_kept_chars)
    return call.partial;
  await context.partial_answers.add(intent_id, answers);
  return context.partial_answers.of(intent_id);
}

/** One call is answered by one intent, in every process and after every restart. */
export function answerIdOf({ origin }: Context, intent_id: string, proposer: string): string {
  return intentIdOfKey({ origin, proposer, key: `answer to ${intent_id}` });
}
