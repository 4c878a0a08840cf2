import { canonicalText } from '../canonical/json.ts';
import type { IntentState } from '../gate/state.ts';
import type { EnvelopeDraft } from '../intent/envelope.ts';
import { type ReasonCode, Refusal, refuse } from '../refusal.ts';
import { type UndoCall, undoCall } from '../tool/undo.ts';
import type { Context } from './context.ts';
import { openAsked } from './effect.ts';

/** The declared undo of what an intent did. Refuses where it did nothing, or declared none. */
export async function undoOf(context: Context, state: IntentState): Promise<UndoCall> {
  if (!HAS_RUN.has(state.status))
    refuse('UNDO_NOT_DUE', `It is ${state.status}: only what succeeded can be undone by another call.`);
  const { effect } = await openAsked(context, state);
  if (effect.kind === 'plan') return refuse('UNDO_UNDECLARED', 'A plan is undone with `keyturn rollback`.');
  if (effect.kind === 'mcp') return refuse('UNDO_UNDECLARED', 'An MCP server declares no undo.');
  return undoCall(effect) ?? refuse('UNDO_UNDECLARED');
}

/** The same, where a person is told of it: null where there is nothing to undo, or what was asked for was erased. */
export async function undoIfAny(context: Context, state: IntentState): Promise<UndoCall | null> {
  if (!HAS_RUN.has(state.status) || state.effect !== 'tool') return null;
  return undoOf(context, state).catch((error) => {
    if (error instanceof Refusal && NONE.has(error.code)) return null;
    throw error;
  });
}

const NONE: ReadonlySet<ReasonCode> = new Set<ReasonCode>([
  'UNDO_UNDECLARED',
  'OBJECT_MISSING',
  'OBJECT_CORRUPT',
]);

const HAS_RUN: ReadonlySet<IntentState['status']> = new Set<IntentState['status']>(['succeeded', 'happened']);

/** An intent that says it undoes another one must ask for exactly the declared call: approvers read it as a fact. */
export async function requireDeclaredUndo(
  context: Context,
  { undoes, effect }: EnvelopeDraft,
): Promise<void> {
  if (undoes === null) return;
  const state =
    (await context.store.find('intent', undoes)) ??
    refuse('INTENT_NOT_FOUND', 'There is no intent that it could undo.');
  const { tool, arguments: values } = await undoOf(context, state);
  const is_declared =
    effect.kind === 'tool' &&
    effect.tool === tool &&
    canonicalText(effect.arguments) === canonicalText(values);
  if (!is_declared)
    refuse('UNDO_UNDECLARED', 'It asks for another call than the one that is declared to undo it.');
}
