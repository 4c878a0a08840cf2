import { canonicalText } from '../canonical/json.ts';
import type { IntentState } from '../gate/state.ts';
import { isUndoDone, requireNotUndone, type Undoer, undoerNow } from '../gate/undoing.ts';
import type { EnvelopeDraft } from '../intent/envelope.ts';
import { type ReasonCode, Refusal, refuse } from '../refusal.ts';
import { type UndoCall, undoCall } from '../tool/undo.ts';
import type { Context } from './context.ts';
import { openAsked } from './effect.ts';

/** The intent that undoes the run of this one, by any proposer; null where another may be proposed. */
export async function undoerOf({ store, clock }: Context, intent_id: string): Promise<Undoer | null> {
  return undoerNow(await store.find('undo', intent_id), clock());
}

/** The same, as a person is told of it. */
export interface UndoneBy {
  readonly intent_id: string;
  /** It ran. Otherwise it waits, runs, or is in doubt. */
  readonly is_done: boolean;
}

export function undoneByOf(undoer: Undoer | null): UndoneBy | null {
  return undoer && { intent_id: undoer.intent_id, is_done: isUndoDone(undoer) };
}

/** What undoes a run that nothing undoes yet. */
export async function undoDue(context: Context, state: IntentState): Promise<UndoCall> {
  const call = await undoOf(context, state);
  requireNotUndone(await undoerOf(context, state.intent_id));
  return call;
}

/** The declared undo of what an intent did. Refuses where it did nothing, or declared none. */
async function undoOf(context: Context, state: IntentState): Promise<UndoCall> {
  if (!HAS_RUN.has(state.status))
    refuse('UNDO_NOT_DUE', `It is ${state.status}: only what succeeded can be undone by another call.`);
  const { effect } = await openAsked(context, state);
  if (effect.kind === 'plan') return refuse('UNDO_UNDECLARED', 'A plan is undone with `keyturn rollback`.');
  if (effect.kind === 'mcp') return refuse('UNDO_UNDECLARED', 'An MCP server declares no undo.');
  return undoCall(effect) ?? refuse('UNDO_UNDECLARED');
}

/** The same, where a person is told of it: null where there is nothing to undo, where an intent undoes it already, or what was asked for was erased. */
export async function undoIfAny(context: Context, state: IntentState): Promise<UndoCall | null> {
  if (!HAS_RUN.has(state.status) || state.effect !== 'tool') return null;
  return undoDue(context, state).catch((error) => {
    if (error instanceof Refusal && NONE.has(error.code)) return null;
    throw error;
  });
}

const NONE: ReadonlySet<ReasonCode> = new Set<ReasonCode>([
  'UNDO_UNDECLARED',
  'UNDO_UNDER_WAY',
  'UNDONE_BEFORE',
  'OBJECT_MISSING',
  'OBJECT_CORRUPT',
]);

const HAS_RUN: ReadonlySet<IntentState['status']> = new Set<IntentState['status']>(['succeeded', 'happened']);

/** An intent that says it undoes another one must ask for exactly the declared call: approvers read it as a fact. */
export async function requireDeclaredUndo(
  context: Context,
  { undoes, replaces, effect }: EnvelopeDraft,
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
  // The commit judges it; this one refuses before anything is derived. An edit takes the place of what it changes.
  const undoer = await undoerOf(context, undoes);
  if (undoer?.intent_id !== replaces) requireNotUndone(undoer);
}
