import type { Event } from '../event/event.ts';
import { type AgentState, isOver } from '../gate/agent-state.ts';
import type { IntentState, IntentStatus } from '../gate/state.ts';
import { limits } from '../limits.ts';
import type { Row, RowName } from './row.ts';

/** The rows that can be over. */
const CAN_BE_OVER: ReadonlySet<RowName> = new Set<RowName>([
  'intent',
  'execution',
  'capability',
  'agent',
  'dispatch',
  'dispatched',
]);

export function canBeOver(name: RowName): boolean {
  return CAN_BE_OVER.has(name);
}

/**
 * Whether no commit looks at this row again, but to refuse: so a verification may forget it. What is found here to be over and is not
 * costs another reading of the ledger, and never an answer. `is_dispatched` says whether a dispatch of the intent is not over.
 */
export function isRowOver(row: Row, is_dispatched: (intent_id: string) => boolean): boolean {
  switch (row.name) {
    case 'dispatch':
      return (row as Row<'dispatch'>).state.outcome !== null;
    case 'dispatched':
      return (row as Row<'dispatched'>).state.is_over;
    case 'intent':
      return isIntentOver((row as Row<'intent'>).state) && !is_dispatched(row.key);
    default:
      return false;
  }
}

/**
 * From when on the clock makes the row over, unless it changes before; null where no clock does. A clock that a human sets back, and one who
 * retries what has expired, make it go on: that is another reading.
 */
export function overFrom({ name, state }: Row): number | null {
  if (name === 'intent') return intentOverFrom(state as IntentState);
  return name === 'agent' ? conversationOverFrom(state as AgentState) : null;
}

/** The rows that are over with an intent: its runs and orders. */
export function overWith({ runs, capabilities }: IntentState): string[] {
  return [
    ...runs.map(({ execution_id }) => `execution ${execution_id}`),
    ...capabilities.map(({ capability_id }) => `capability ${capability_id}`),
  ];
}

const GIVEN_UP: ReadonlySet<IntentStatus> = new Set<IntentStatus>(['rejected', 'withdrawn', 'replaced']);
const ENDED: ReadonlySet<IntentStatus> = new Set<IntentStatus>(['succeeded', 'happened', 'undone']);
/** It can be approved, ordered or retried until it expires. */
const UNTIL_EXPIRED: ReadonlySet<IntentStatus> = new Set<IntentStatus>([
  'proposed',
  'approved',
  'failed',
  'rolled_back',
]);

/** A plan can be rolled back as long as there are backups. What is outstanding can be revoked. A dispatch ends as its run did. */
function isIntentOver(state: IntentState): boolean {
  const { status, capabilities } = state;
  if (!GIVEN_UP.has(status) && (!ENDED.has(status) || hasBackups(state))) return false;
  return !capabilities.some((one) => one.status === 'ordered' || one.status === 'issued');
}

/** No order and no capability outlives its intent. Most plans are not rolled back after that, and backups are given up later: see `isEarly`. */
function intentOverFrom({ status, expires_at }: IntentState): number | null {
  const ends = GIVEN_UP.has(status) || UNTIL_EXPIRED.has(status) || ENDED.has(status);
  return ends ? Date.parse(expires_at) : null;
}

/** Whether a good ledger may well go on with it after it was over: its plan has backups, which can be used, and are given up one day. */
export function isEarly({ name, state }: Row): boolean {
  return name === 'intent' && hasBackups(state as IntentState);
}

/** Of a rollback, or of the end of backups. */
export function usesBackups({ kind }: Event): boolean {
  return kind === 'rollback.claimed' || kind === 'rollback.finished' || kind === 'backups.expired';
}

function hasBackups({ effect, runs }: IntentState): boolean {
  return effect === 'plan' && runs.some(({ expired_at }) => expired_at === null);
}

/** Once none of its plans goes on, and nothing was said for a while. */
function conversationOverFrom({ plans, turn }: AgentState): number | null {
  if (!plans.every(isOver)) return null;
  const times = [turn.at, ...plans.map(({ changed_at }) => changed_at)].map((time) => Date.parse(time));
  return Math.max(...times) + limits.conversation_rests_s * 1000;
}
