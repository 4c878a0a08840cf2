import type { KeyOf } from '../canonical/ed25519.ts';
import { type Event, isSigned } from '../event/event.ts';
import { verifyAct, verifyProposal, verifyWithdrawal } from './act.ts';
import { verifyFact } from './fact.ts';

declare const verified: unique symbol;

/** An event whose signatures are those of the keys that it names, if it has any. Whose keys those are, the fold asks. */
export type Verified = Event & { readonly [verified]: true };

/** Refuses a signature that is not that of the key it names, in the ledger of this origin. */
export function verifySignatures(origin: string, event: Event, keyOf: KeyOf): Verified {
  if (isSigned(event)) verifyAct(origin, event, keyOf);
  verifyFact(origin, event, keyOf);
  if (event.kind === 'intent.proposed') {
    const { hash, proposer_signature, proposer_key } = event.body;
    if (proposer_signature !== null && proposer_key !== null)
      verifyProposal(origin, hash, proposer_signature, proposer_key, keyOf);
  }
  if (event.kind === 'intent.withdrawn') {
    const { hash, reason, proposer_signature, proposer_key } = event.body;
    const withdrawal = { origin, intent_id: event.subject, hash, reason };
    if (proposer_signature !== null && proposer_key !== null)
      verifyWithdrawal(withdrawal, proposer_signature, proposer_key);
  }
  return event as Verified;
}

/** For an event whose very bytes were verified before. */
export function verifiedBefore(event: Event): Verified {
  return event as Verified;
}
