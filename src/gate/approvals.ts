import { isLiveAct } from '../identity/authority.ts';
import type { Authorities } from '../identity/delegation.ts';
import { isMadeLater } from '../identity/made.ts';
import type { Lacking } from '../policy/lacking.ts';
import type { ReasonCode } from '../refusal.ts';
import { isOwnRequest, missingOf, signersOf } from './signers.ts';
import type { Approval, IntentState } from './state.ts';
import { hasExpired, isDue, type StatusWord, statusWordOf } from './status-word.ts';
import type { ControlKey } from './system.ts';

/** What the approvals of an intent amount to at one moment: all of its standing that rests only on the clock and on who may sign. */
export interface ApprovalsNow {
  readonly counted: readonly Approval[];
  readonly lapsed: readonly Lapsed[];
  /** The humans behind the approvals that count, each once. */
  readonly approvers: readonly string[];
  /** How many more humans must approve it, for what it is and by the policies; 0 where it waits for no approval. */
  readonly missing: number;
  /** Whose approval brings it forward, of those who could give it; null where that of each of them does. */
  readonly wanted: readonly string[] | null;
  readonly status_word: StatusWord;
}

/** An approval that does not count now, and why. */
export interface Lapsed {
  readonly approval: Approval;
  readonly code: 'APPROVAL_EXPIRED' | 'MADE_IN_FUTURE' | 'APPROVER_REVOKED';
}

export interface ApprovalsMoment {
  readonly now: Date;
  /** Null where only the entries of the intent are at hand: each key that signed one of them counts then. */
  readonly authorities: Authorities | null;
  /** The keys that issue; left out where they are not at hand, or nothing was issued. */
  readonly control_keys?: readonly ControlKey[];
  /** Whether something still works on its last run, which the ledger cannot know; left out for no. */
  readonly is_running?: boolean;
  /** The approvals without which the policies grant no capability; left out for none. */
  readonly lacking?: Lacking | null;
}

export function approvalsNow(state: IntentState, moment: ApprovalsMoment): ApprovalsNow {
  const { now, is_running, lacking = null } = moment;
  const judged = state.approvals.map((approval) => ({ approval, code: lapseOf(approval, moment) }));
  const counted = judged.filter(({ code }) => code === null).map(({ approval }) => approval);
  const lapsed = judged.filter((one): one is Lapsed => one.code !== null);
  const approvers = signersOf(counted);
  const waits = isDue(state) && !hasExpired(state, now);
  const by_number = waits ? missingOf(state, approvers) : 0;
  const by_policies = waits && lacking ? lacking.missing : 0;
  const missing = Math.max(by_number, by_policies);
  const has_lapsed = lapsed.some(({ approval }) => !approvers.includes(approval.by));
  const status_word = statusWordOf(state, { now, missing, has_lapsed, is_running });
  // One that is missing besides may be any human's, and what too few have approved is hidden from none.
  const is_anyones = by_number > by_policies || (by_number > 0 && lacking?.people?.length === 0);
  const wanted = by_policies === 0 || is_anyones ? null : lacking!.people;
  return { counted, lapsed, approvers, missing, wanted, status_word };
}

/** Whether this human could add an approval. The only human of a project approves what they asked for themselves. */
export function couldAdd(
  state: IntentState,
  { approvers }: Pick<ApprovalsNow, 'approvers'>,
  { name, is_alone }: { readonly name: string; readonly is_alone: boolean },
): boolean {
  return (is_alone || !isOwnRequest(state, name)) && !approvers.includes(name);
}

/** Why an approval does not count; null where it does. It dies with the key that made it, and with its delegation. */
function lapseOf(approval: Approval, { now, authorities }: ApprovalsMoment): Lapsed['code'] | null {
  const at = now.toISOString();
  if (isMadeLater(approval.signed_at, at)) return 'MADE_IN_FUTURE';
  if (Date.parse(approval.expires_at) <= now.getTime()) return 'APPROVAL_EXPIRED';
  return authorities === null || isLiveAct(authorities, approval, at) ? null : 'APPROVER_REVOKED';
}

const REASONS = ['MADE_IN_FUTURE', 'APPROVER_REVOKED', 'APPROVAL_EXPIRED'] as const;

/** One reason of several: a revoked key says more than the time that passed. */
export function whyLapsed(lapsed: readonly Lapsed[]): ReasonCode {
  return REASONS.find((code) => lapsed.some((one) => one.code === code)) ?? 'APPROVAL_MISSING';
}
