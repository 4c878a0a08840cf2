import { type ApprovalsMoment, type ApprovalsNow, approvalsNow } from '../gate/approvals.ts';
import { orderedUntil } from '../gate/standing.ts';
import type { IntentState } from '../gate/state.ts';
import { isDue } from '../gate/status-word.ts';
import { authoritiesFor, type Context, type LookedUp, namedIn } from './context.ts';
import { lackingOf } from './lacking.ts';
import { isRunning } from './life.ts';

/**
 * What the approvals of an intent amount to now, as every list, screen and answer tells it. Of what was decided or has run only the word is
 * asked: no approval of it is counted, and none is looked up.
 */
export async function approvalsOf(
  context: Context,
  state: IntentState,
  known?: LookedUp,
): Promise<ApprovalsAndOrder> {
  const is_running = await isRunning(context, state);
  const due = onlyDue(state);
  const authorities = await authoritiesFor(context, namedIn(due), known);
  const lacking = await lackingOf(context, due, authorities);
  const now = context.clock();
  return withOrder(due, { now, authorities, is_running, lacking, ...(await issuersOf(context, due)) });
}

/** The keys that issue, where something was issued for it and not spent. */
export async function issuersOf(
  { store }: Context,
  { capabilities }: Pick<IntentState, 'capabilities'>,
): Promise<Pick<ApprovalsMoment, 'control_keys'>> {
  if (!capabilities.some(({ status }) => status === 'issued')) return {};
  return { control_keys: (await store.system()).control_keys };
}

export interface ApprovalsAndOrder extends ApprovalsNow {
  /** Until when what was ordered can be used; null where nothing is ordered that can be used. */
  readonly ordered_until: string | null;
}

function onlyDue(state: IntentState): IntentState {
  return isDue(state) ? state : { ...state, approvals: [], capabilities: [] };
}

export function withOrder(given: IntentState, moment: ApprovalsMoment): ApprovalsAndOrder {
  const state = onlyDue(given);
  const approvals = approvalsNow(state, moment);
  return { ...approvals, ordered_until: orderedUntil(state, approvals, moment) };
}

/** What is told of them beside the state of the intent. */
export type ToldApprovals = Pick<
  ApprovalsAndOrder,
  'status_word' | 'approvers' | 'missing' | 'ordered_until'
>;

export function toldOf({ status_word, approvers, missing, ordered_until }: ToldApprovals): ToldApprovals {
  return { status_word, approvers, missing, ordered_until };
}
