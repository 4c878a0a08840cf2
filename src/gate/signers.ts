import { type Account, mayBeSameAccount } from '../identity/account.ts';
import type { Approval, IntentState } from './state.ts';

/**
 * Who counts as having approved. One who signs twice counts once. What was approved by delegation stands for one person and
 * only where there is no signature: otherwise one person could approve once in their own name and once in that of another.
 */
export function signersOf(approvals: readonly Approval[]): string[] {
  const own = approvals.filter(({ delegation }) => delegation === null);
  const counted = own.length > 0 ? own : approvals.slice(0, 1);
  return [...new Set(counted.map(({ by }) => by))].sort();
}

/** How many more humans must approve it, where these have. */
export function missingOf(
  { approvals_needed }: Pick<IntentState, 'approvals_needed'>,
  people: Iterable<string>,
): number {
  return Math.max(0, approvals_needed - new Set(people).size);
}

type Asked = Pick<IntentState, 'proposer' | 'on_behalf_of'>;

/**
 * Whether a signature of this human on the intent would approve what they asked for: in their own name, or by way of the
 * agent core, which proposes for them.
 */
export function isOwnRequest({ proposer, on_behalf_of }: Asked, human: string): boolean {
  return human === proposer || human === on_behalf_of;
}

/**
 * The same for a delegation that stands for an approval. A proposer that submits under what was delegated to it is asked
 * by many, and the human who delegated it is only one of them; with another delegate, the approval counts as
 * one of the human who delegated.
 */
export function isOwnDelegated(asked: Asked, root: string, delegate: string): boolean {
  return delegate === asked.proposer ? root === asked.proposer : isOwnRequest(asked, root);
}

type Source = Pick<IntentState, 'proposer_verified' | 'on_behalf_of' | 'account'>;

/**
 * Whether the person at this account may be the one who asked, under another name. Only a key proves that the proposer is another
 * person; the name of a user of the agent core is not proven by the core's own key.
 */
export function mayBeOwn(
  { proposer_verified, on_behalf_of, account }: Source,
  acting: Account | null,
): boolean {
  const proven = proposer_verified && on_behalf_of === null;
  return !proven && mayBeSameAccount(account, acting);
}
