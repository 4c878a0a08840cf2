import { isLiveAct } from '../identity/authority.ts';
import type { Authorities } from '../identity/delegation.ts';
import { isMadeLater } from '../identity/made.ts';
import type { ReasonCode } from '../refusal.ts';
import { missingOf, signersOf } from './signers.ts';
import type { Approval, IntentState } from './state.ts';
import { hasExpired, isDue, type StatusWord, statusWordOf } from './status-word.ts';

/** What the approvals of an intent amount to at one moment: all of its standing that rests only on the clock and on who may sign. */
export interface ApprovalsNow {
  readonly counted: readonly Approval[];
  readonly lapsed: readonly Lapsed[];
  /** The humans behind the approvals that count, each once. */
  readonly approvers: readonly string[];
  /** How many more humans must approve it; 0 where it waits for no approval. */
  readonly missing: number;
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
  /** Whether something still works on its last run, which the ledger cannot know; left out for no. */
  readonly is_running?: boolean;
}

export function approvalsNow(state: IntentState, moment: ApprovalsMoment): ApprovalsNow {
  const { now, is_running } = moment;
  const judged = state.approvals.map((approval) => ({ approval, code: lapseOf(approval, moment) }));
  const counted = judged.filter(({ code }) => code === null).map(({ approval }) => approval);
  const lapsed = judged.filter((one): one is Lapsed => one.code !== null);
  const approvers = signersOf(counted);
  const waits = isDue(state) && !hasExpired(state, now);
  const missing = waits ? missingOf(state, approvers) : 0;
  const status_word = statusWordOf(state, { now, missing, is_running });
  return { counted, lapsed, approvers, missing, status_word };
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
