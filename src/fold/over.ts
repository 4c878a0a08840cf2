import type { IntentState, IntentStatus } from '../gate/state.ts';
import type { Row, RowName } from './row.ts';

/** The rows that can be over. */
const CAN_BE_OVER: ReadonlySet<RowName> = new Set<RowName>([
  'intent',
  'execution',
  'capability',
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

/** The rows that are over with an intent: its runs and orders. */
export function overWith({ runs, capabilities }: IntentState): string[] {
  return [
    ...runs.map(({ execution_id }) => `execution ${execution_id}`),
    ...capabilities.map(({ capability_id }) => `capability ${capability_id}`),
  ];
}

const GIVEN_UP: ReadonlySet<IntentStatus> = new Set<IntentStatus>(['rejected', 'withdrawn', 'replaced']);

/** A failure can be retried and a plan rolled back, however late. What is outstanding can be revoked. A dispatch ends as its run did. */
function isIntentOver({ effect, status, capabilities }: IntentState): boolean {
  const is_given_up = GIVEN_UP.has(status);
  if (!is_given_up && (effect === 'plan' || (status !== 'succeeded' && status !== 'happened'))) return false;
  return !capabilities.some((one) => one.status === 'ordered' || one.status === 'issued');
}
