import type { Digest } from '../canonical/digest.ts';
import type { Body } from '../event/event.ts';

/**
 * The state of one intent, as the ledger tells it.
 *
 * `claimed` without a result is *in doubt*: the effect may have happened. `partial` (killed half way) blocks like in
 * doubt. `happened` is a run that a human settled as done.
 */
export type IntentStatus =
  | 'proposed'
  | 'rejected'
  | 'approved'
  | 'claimed'
  | 'succeeded'
  | 'failed'
  | 'partial'
  | 'happened';

export interface Approval {
  readonly by: string;
  readonly key: string;
  readonly signed_at: string;
  readonly expires_at: string;
}

export interface Run {
  readonly execution_id: string;
  readonly attempt: number;
  readonly claimed_at: string;
  readonly executor: Body<'execution.claimed'>['executor'];
  readonly finished_at: string | null;
  readonly result: 'success' | 'failure' | 'partial' | null;
  readonly exit_code: number | null;
}

export interface IntentState {
  readonly intent_id: string;
  readonly status: IntentStatus;
  readonly hash: Digest;
  readonly effect_digest: Digest;
  readonly registry_digest: Digest;
  readonly tool: string;
  readonly proposer: string;
  readonly proposer_kind: 'human' | 'agent';
  readonly proposed_at: string;
  readonly expires_at: string;
  readonly approvals: readonly Approval[];
  /** The attempt that may run next, or that runs now. */
  readonly attempt: number;
  readonly runs: readonly Run[];
}
