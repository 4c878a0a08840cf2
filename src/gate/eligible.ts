import { limits } from '../limits.ts';
import type { ReasonCode } from '../refusal.ts';
import { BLOCKS } from './next.ts';
import type { Approval, IntentState } from './state.ts';

export type Verdict =
  | { readonly eligible: true; readonly state: IntentState }
  | { readonly eligible: false; readonly code: ReasonCode; readonly executed_at: string | null };

/**
 * May this intent run now? Approval first, then history, as 000 section 4 orders it. `ledger_at` is the time of the
 * newest entry: a clock behind it cannot judge an expiry. `isLive` tells whether the key that signed is still good.
 */
export function eligible(
  state: IntentState | null,
  hash: string,
  now: Date,
  ledger_at: string | null,
  isLive: (approval: Approval) => boolean,
): Verdict {
  if (state === null) return denied('INTENT_NOT_FOUND');
  if (state.hash !== hash) return denied('HASH_MISMATCH');
  const block = BLOCKS[state.status];
  if (block !== null) return denied(block, state.runs.at(-1)?.claimed_at ?? null);
  if (ledger_at !== null && now.getTime() < Date.parse(ledger_at) - limits.clock_skew_ms)
    return denied('CLOCK_BEHIND');
  if (Date.parse(state.expires_at) <= now.getTime()) return denied('INTENT_EXPIRED');
  const valid = state.approvals.filter((approval) => Date.parse(approval.expires_at) > now.getTime());
  if (signers(valid) < state.approvals_needed) return denied('APPROVAL_EXPIRED');
  if (signers(valid.filter(isLive)) < state.approvals_needed) return denied('APPROVER_REVOKED');
  return { eligible: true, state };
}

/** One who signs twice counts once. */
function signers(approvals: readonly Approval[]): number {
  return new Set(approvals.map(({ by }) => by)).size;
}

function denied(code: ReasonCode, executed_at: string | null = null): Verdict {
  return { eligible: false, code, executed_at };
}
