import { type ApprovalsNow, approvalsNow } from '../gate/approvals.ts';
import type { IntentState } from '../gate/state.ts';
import { isDue } from '../gate/status-word.ts';
import { authoritiesFor, type Context, type LookedUp } from './context.ts';
import { isRunning } from './life.ts';

/**
 * What the approvals of an intent amount to now, as every list, screen and answer tells it. Of what was decided or has run only the word is
 * asked: no approval of it is counted, and none is looked up.
 */
export async function approvalsOf(
  context: Context,
  state: IntentState,
  known?: LookedUp,
): Promise<ApprovalsNow> {
  const is_running = await isRunning(context, state);
  const approvals = isDue(state) ? state.approvals : [];
  const people = approvals.map(({ by }) => by);
  const delegations = approvals.map(({ delegation }) => delegation);
  const authorities = await authoritiesFor(context, { people, delegations }, known);
  return approvalsNow({ ...state, approvals }, { now: context.clock(), authorities, is_running });
}

/** What is told of them beside the state of the intent. */
export type ToldApprovals = Pick<ApprovalsNow, 'status_word' | 'approvers' | 'missing'>;

export function toldOf({ status_word, approvers, missing }: ApprovalsNow): ToldApprovals {
  return { status_word, approvers, missing };
}
