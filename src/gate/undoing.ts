import { refuse } from '../refusal.ts';
import type { IntentEvent } from './next.ts';
import type { IntentState, IntentStatus } from './state.ts';
import { hasExpired } from './status-word.ts';

/** The intent that undoes the run of another one, by the call that its tool declared. */
export type Undoer = Pick<IntentState, 'intent_id' | 'status' | 'expires_at'>;

/** What is known of the undo of one intent. A refund that is paid twice cannot be taken back, so one intent at a time holds it. */
export interface Undoing {
  /** Null where none holds it. */
  readonly by: Undoer | null;
}

/** It did nothing, and does nothing unless a human has it tried again. */
const GIVEN_UP: ReadonlySet<IntentStatus> = new Set<IntentStatus>([
  'rejected',
  'withdrawn',
  'replaced',
  'failed',
  'rolled_back',
  'undone',
]);

const DONE: ReadonlySet<IntentStatus> = new Set<IntentStatus>(['succeeded', 'happened']);

/** These begin something: of two intents that undo the same run, only the one that holds the undo does. */
const BEGINS: ReadonlySet<IntentEvent['kind']> = new Set<IntentEvent['kind']>([
  'intent.proposed',
  'approval.granted',
  'order.given',
  'retry.authorised',
  'execution.claimed',
]);

/**
 * Pure: the undo after an event of an intent that undoes the run; null where it stays as it is. Two intents that are proposed
 * at once, or one that is tried again beside another, do not both run.
 */
export function nextUndoing(
  before: Undoing | null,
  event: IntentEvent,
  { intent_id, status, expires_at }: IntentState,
  at: string,
): Undoing | null {
  const holder = before?.by ?? null;
  const is_holder = holder?.intent_id === intent_id;
  if (GIVEN_UP.has(status)) return is_holder ? { by: null } : null;
  if (!is_holder && !BEGINS.has(event.kind)) return null;
  if (!is_holder && !isChanged(holder, event)) requireNotUndone(undoerNow(before, new Date(at)));
  return { by: { intent_id, status, expires_at } };
}

/** An edit proposes first, and ends what it changes in the same commit. What was approved is not edited. */
function isChanged(holder: Undoer | null, event: IntentEvent): boolean {
  return (
    event.kind === 'intent.proposed' &&
    holder?.status === 'proposed' &&
    event.body.replaces === holder.intent_id
  );
}

/** The one judgement of it: which intent undoes the run, waits to, or may have done so; null where another may be proposed. */
export function undoerNow(undoing: Undoing | null, now: Date): Undoer | null {
  const by = undoing?.by ?? null;
  return by === null || hasExpired(by, now) ? null : by;
}

export function isUndoDone({ status }: Pick<Undoer, 'status'>): boolean {
  return DONE.has(status);
}

export function requireNotUndone(undoer: Undoer | null): void {
  if (undoer === null) return;
  const { intent_id: undone_by } = undoer;
  if (isUndoDone(undoer)) refuse('UNDONE_BEFORE', `The intent ${undone_by} undid it.`, { undone_by });
  refuse('UNDO_UNDER_WAY', `The intent ${undone_by} undoes it, and is not over.`, { undone_by });
}
