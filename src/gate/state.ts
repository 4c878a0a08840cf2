import type { Digest } from '../canonical/digest.ts';
import type { CapabilityStatus } from '../capability/verify.ts';
import type { Body } from '../event/event.ts';
import type { Account } from '../identity/account.ts';
import type { HumanAssurance } from '../identity/assurance.ts';

/**
 * The state of one intent, as the ledger tells it.
 *
 * `claimed` without a result is *in doubt*: the effect may have happened. `partial` (killed half way) blocks like in
 * doubt. `happened` is a run that a human settled as done. `rolled_back` is a run that left nothing behind, `undone` a
 * success that a human took back, `stuck` a rollback that could not restore everything.
 */
export type IntentStatus =
  | 'proposed'
  | 'rejected'
  | 'withdrawn'
  | 'replaced'
  | 'approved'
  | 'claimed'
  | 'succeeded'
  | 'failed'
  | 'partial'
  | 'happened'
  | 'rolled_back'
  | 'rolling_back'
  | 'undone'
  | 'stuck';

export interface Approval {
  readonly by: string;
  readonly key: string;
  readonly signed_at: string;
  readonly expires_at: string;
  /** How the human proved to be there. It follows from what signed. */
  readonly assurance: HumanAssurance | 'delegation';
  /** The account that signed it; null when it is not known, and for a delegation. */
  readonly account: Account | null;
  /** Under which delegation of theirs it stands; null when they signed it themselves. */
  readonly delegation: string | null;
}

/** A human whose approval a decision counted, with the roles that they had. */
export interface Approver {
  readonly name: string;
  readonly roles: readonly string[];
}

/** A capability as the ledger tells it: ordered by a human or a delegate, issued under policy, good for one run of one attempt. */
export interface Capability {
  /** That of its order. */
  readonly capability_id: string;
  readonly attempt: number;
  readonly action: string;
  readonly effect_digest: Digest;
  /** What the order lets it reach, and under which conditions; null for just what the effect needs, under none. */
  readonly bounds: Digest | null;
  readonly audience: string;
  readonly holder: string | null;
  /** Who ordered it, with which key, under which delegation: when that no longer holds, neither does the capability. */
  readonly by: string;
  readonly key: string;
  readonly delegation: string | null;
  readonly ordered_at: string;
  /** Whose approvals stand behind the order. When one of them no longer counts, it has to be ordered again. */
  readonly approvers: readonly Approver[];
  /** Until when it may be issued. */
  readonly lapses_at: string;
  readonly expires_at: string;
  /** What was issued; null while it is only ordered. */
  readonly issued: Issued | null;
  readonly status: CapabilityStatus;
}

export interface Issued {
  readonly at: string;
  readonly token: Digest;
  /** The key that issued it. */
  readonly control_key: string;
  readonly break_glass: boolean;
  /** Whom the decision to issue it counted. When one of them no longer counts, the capability cannot be used. */
  readonly approvers: readonly Approver[];
}

export interface Run {
  readonly execution_id: string;
  readonly capability_id: string;
  readonly tool: string;
  readonly attempt: number;
  readonly claimed_at: string;
  readonly executor: Body<'execution.claimed'>['executor'];
  /** The key of the executor: it alone states what became of the run. */
  readonly executor_key: string;
  readonly finished_at: string | null;
  readonly result: 'success' | 'failure' | 'partial' | 'rolled_back' | null;
  readonly exit_code: number | null;
  /** Where the backups and reports of a plan are; `null` for a tool. */
  readonly reports: string | null;
  /** The digest of the rollback manifest; `null` for a tool, and while nothing was changed. */
  readonly manifest: Digest | null;
  /**
   * The digest of the journal of a plan: up to what the run announced last, or all of it once it ended. `null` while it
   * announced nothing, and where nothing was changed.
   */
  readonly journal: Digest | null;
  /** When a human gave up its backups; `null` while they are kept. */
  readonly expired_at: string | null;
  /** The human who stopped it, and when; `null` while it was not stopped. */
  readonly stopped: { readonly by: string; readonly at: string } | null;
}

/** The latest rollback of the latest run. */
export interface Rollback {
  readonly round: number;
  /** The status that it undoes. */
  readonly from: IntentStatus;
  readonly by: string;
  readonly claimed_at: string;
  readonly executor: Run['executor'];
  readonly executor_key: string;
  readonly result: 'complete' | 'partial' | 'stuck' | null;
}

export interface EffectChoice {
  readonly tool: string;
  readonly effect_digest: Digest;
  /** What a freeze of a tool can name to stop it: all tools that would run, and a plan by its id. */
  readonly tools: readonly string[];
}

export interface IntentState {
  readonly intent_id: string;
  readonly status: IntentStatus;
  readonly hash: Digest;
  readonly effect_digest: Digest;
  readonly registry_digest: Digest;
  readonly effect: 'tool' | 'plan' | 'mcp';
  readonly tool: string;
  readonly approvals_needed: number;
  readonly proposer: string;
  readonly proposer_kind: 'human' | 'agent';
  /** The proposer signed the hash; otherwise the name is only a claim. */
  readonly proposer_verified: boolean;
  /** The account that proposed it, as its host said; null when it is not known. */
  readonly account: Account | null;
  /** The user for whom the agent core proposed it. They count as the proposer where self-approval is judged. */
  readonly on_behalf_of: string | null;
  readonly actions: readonly string[];
  /** What the intent names: first what it asks for, then what a human may turn to after a failure. */
  readonly choices: readonly EffectChoice[];
  readonly replaces: string | null;
  /** The intent whose run this one undoes, by the call that its tool declared. */
  readonly undoes: string | null;
  /** What a human proposed in its place, which ended it; null while it was not replaced. */
  readonly replaced_by: string | null;
  /** The digest of what its proposer can show to withdraw it. */
  readonly receipt: Digest;
  readonly proposed_at: string;
  readonly expires_at: string;
  readonly approvals: readonly Approval[];
  readonly capabilities: readonly Capability[];
  /** The humans who confirmed a break-glass for the present attempt. */
  readonly break_glass: readonly { readonly by: string; readonly key: string; readonly at: string }[];
  /** Who submitted it under a delegation. */
  readonly delegates: readonly string[];
  /** The attempt that may run next, or that runs now. */
  readonly attempt: number;
  readonly runs: readonly Run[];
  readonly rollback: Rollback | null;
}
