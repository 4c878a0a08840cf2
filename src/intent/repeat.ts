import { sha256 } from '../canonical/digest.ts';
import { canonicalBytes, canonicalText } from '../canonical/json.ts';
import { idOfDigest } from '../canonical/made-id.ts';
import type { Envelope, EnvelopeDraft } from './envelope.ts';

/** Whose key it is: the same text says nothing in another ledger, or from another proposer. */
export interface ProposalKey {
  readonly origin: string;
  readonly proposer: string;
  readonly key: string;
}

/** The id of an intent that was proposed under a key. One key leads to one intent, in every process. */
export function intentIdOfKey(key: ProposalKey): string {
  return idOfDigest(sha256(canonicalBytes({ format: 'keyturn-proposal-id/1', ...key })));
}

/** The receipt of a proposal under a key: who was never told it, because the connection broke, gets it by asking again. */
export function receiptOf(key: ProposalKey): string {
  const digest = sha256(canonicalBytes({ format: 'keyturn-receipt/1', ...key }));
  return Buffer.from(digest, 'hex').toString('base64url');
}

/** Whether a draft asks for what this envelope froze. What was left out of the draft may be anything. */
export function asksForTheSame(draft: EnvelopeDraft, envelope: Envelope): boolean {
  if (draft.expiry !== undefined && draft.expiry !== envelope.expiry) return false;
  if (
    draft.requested_actions &&
    canonicalText(draft.requested_actions) !== canonicalText(envelope.requested_actions)
  )
    return false;
  return canonicalText(askedBy(draft)) === canonicalText(askedBy(envelope));
}

function askedBy({
  declared_goal,
  constraints,
  effect,
  alternates,
  replaces,
  undoes,
}: EnvelopeDraft | Envelope) {
  const calls = [effect, ...alternates].map(({ digest: _, ...call }) => call);
  return { declared_goal, constraints, calls, replaces, undoes };
}
