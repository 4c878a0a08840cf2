import type { Event } from '../event/event.ts';
import { type ReasonCode, refuse } from '../refusal.ts';
import type { IntentState, IntentStatus, Run } from './state.ts';

/** A rollback of the last run in one of these would change files. One that is stuck is kept as in use. */
const UNDOABLE: ReadonlySet<IntentStatus> = new Set<IntentStatus>(['succeeded', 'failed', 'partial']);

/** Whether a rollback of this run would still be begun. */
export function canBeUndone({ status, runs }: IntentState, run: Run): boolean {
  return run === runs.at(-1) && run.manifest !== null && run.expired_at === null && UNDOABLE.has(status);
}

/**
 * Nothing gives up the backups of a run that may be at work, or of a rollback that has not restored everything: the intent would be
 * blocked for good.
 */
const IN_USE: { readonly [S in IntentStatus]?: ReasonCode } = {
  claimed: 'RUN_IN_DOUBT',
  rolling_back: 'ROLLBACK_UNFINISHED',
  stuck: 'ROLLBACK_STUCK',
};

/** Why the backups of this run are needed now; `null` where they are not. */
export function backupsInUse({ status, runs }: IntentState, run: Run): ReasonCode | null {
  return run === runs.at(-1) ? (IN_USE[status] ?? null) : null;
}

/**
 * The backups of a run are given up. A rollback and this one decide here which came first: after `rollback.claimed` this is
 * refused until the rollback has ended, after this the rollback is refused.
 */
export function expired(state: IntentState, { body }: Event<'backups.expired'>, at: string): IntentState {
  const run =
    state.runs.find(({ execution_id }) => execution_id === body.execution_id) ??
    refuse('EXECUTION_NOT_FOUND');
  if (run.reports === null) refuse('TRANSITION_ILLEGAL', 'A tool call has no backups.');
  if (run.expired_at !== null) refuse('BACKUPS_EXPIRED');
  const in_use = backupsInUse(state, run);
  if (in_use !== null) refuse(in_use, undefined, { execution_id: run.execution_id });
  const undoable = canBeUndone(state, run);
  if (undoable && !body.gives_up_undo)
    refuse('MANIFEST_STILL_ACTIVE', undefined, { execution_id: run.execution_id });
  if (!undoable && body.gives_up_undo)
    refuse('TRANSITION_ILLEGAL', 'There is no undo that could be given up.');
  const runs = state.runs.map((one) => (one === run ? { ...run, expired_at: at } : one));
  return { ...state, runs };
}
