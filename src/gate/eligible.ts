import { isMadeLater } from '../identity/made.ts';
import { limits } from '../limits.ts';
import { type ReasonCode, Refusal } from '../refusal.ts';
import { currentCapability } from './capability.ts';
import { type Freeze, freezeWords, frozenFor } from './freeze.ts';
import { BLOCKS } from './next.ts';
import { signersOf } from './signers.ts';
import type { Approval, Capability, IntentState } from './state.ts';

export type Verdict =
  | { readonly eligible: true; readonly state: IntentState; readonly capability: Capability }
  | Denial;

export interface Denial {
  readonly eligible: false;
  readonly code: ReasonCode;
  readonly executed_at: string | null;
  /** More than the code says, such as who froze it. */
  readonly words?: string;
}

/** What a verdict rests on besides the intent itself. */
export interface Facts {
  readonly now: Date;
  /** The time of the newest entry: a clock behind it cannot judge an expiry. */
  readonly ledger_at: string | null;
  readonly tenant: string;
  readonly freezes: readonly Freeze[];
  /** Whether what an approval or a capability rests on is still good: the key, and the delegation if it is under one. */
  readonly isLive: (act: Pick<Approval, 'by' | 'key' | 'delegation'>) => boolean;
}

/** May this intent run now? Approval first, then history, as 000 section 4 orders it; then freeze and capability. */
export function eligible(state: IntentState | null, hash: string, facts: Facts): Verdict {
  const answer = approvedNow(state, hash, facts);
  if ('eligible' in answer) return answer;
  try {
    const capability = currentCapability(answer, facts.now);
    return facts.isLive(capability)
      ? { eligible: true, state: answer, capability }
      : denied('CAPABILITY_REVOKED');
  } catch (error) {
    if (error instanceof Refusal) return denied(error.code);
    throw error;
  }
}

/** The same question without the capability: may one be issued for it? */
export function approvedNow(state: IntentState | null, hash: string, facts: Facts): IntentState | Denial {
  const { now, ledger_at, isLive } = facts;
  if (state === null) return denied('INTENT_NOT_FOUND');
  if (state.hash !== hash) return denied('HASH_MISMATCH');
  const block = BLOCKS[state.status];
  if (block !== null) return denied(block, state.runs.at(-1)?.claimed_at ?? null);
  if (ledger_at !== null && now.getTime() < Date.parse(ledger_at) - limits.clock_skew_ms)
    return denied('CLOCK_BEHIND');
  if (Date.parse(state.expires_at) <= now.getTime()) return denied('INTENT_EXPIRED');
  const at = now.toISOString();
  if (isMadeLater(state.proposed_at, at)) return denied('MADE_IN_FUTURE');
  const valid = validApprovals(state, now);
  if (signersOf(valid).length < state.approvals_needed)
    return denied(
      state.approvals.some((one) => isMadeLater(one.signed_at, at)) ? 'MADE_IN_FUTURE' : 'APPROVAL_EXPIRED',
    );
  if (signersOf(valid.filter(isLive)).length < state.approvals_needed) return denied('APPROVER_REVOKED');
  const isLiveKey = (by: string, key: string) => isLive({ by, key, delegation: null });
  const freeze = frozenFor(state, { ...facts, at, isLiveKey });
  return freeze ? { ...denied('FROZEN'), words: freezeWords(freeze) } : state;
}

export function validApprovals({ approvals }: IntentState, now: Date): Approval[] {
  return approvals.filter(
    ({ signed_at, expires_at }) =>
      Date.parse(expires_at) > now.getTime() && !isMadeLater(signed_at, now.toISOString()),
  );
}

function denied(code: ReasonCode, executed_at: string | null = null): Denial {
  return { eligible: false, code, executed_at };
}
