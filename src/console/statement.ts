import { type Digest, sha256 } from '../canonical/digest.ts';
import { canonicalBytes } from '../canonical/json.ts';
import {
  type ActSigning,
  type ExpectedAct,
  type ExpectedOfProposer,
  isDrawnNow,
  type RebuiltAct,
  rebuiltAct,
} from '../display/signed.ts';
import { refuse } from './refusal.ts';

/** The service drew up another act than the page shows. Nothing is signed. */
export function refuseOther(what: string): never {
  refuse('ACT_OTHER', `The service asks for a signature on something else than this page shows: ${what}.`);
}

/** The clock of a person's device may be an hour off. A service that lies can keep an act back for no longer. */
const CLOCK_OFF_S = 2 * 3600;

/** The statement, made again from what the page drew, now. Any difference ends the gesture. */
export function rebuilt(
  theirs: string,
  expected: ExpectedAct | ExpectedOfProposer,
  signing: ActSigning,
): RebuiltAct {
  if (!isDrawnNow(signing.at, Date.now(), CLOCK_OFF_S))
    refuse('CLOCKS_DIFFER', `It is ${signing.at} at the service, and another time here.`);
  const made = rebuiltAct(theirs, expected, signing);
  if ('differs' in made) refuseOther(made.differs);
  return made;
}

/** What a passkey is asked to sign for one act or several, as `challengeOf` of `identity/passkey.ts` has it. */
export function challengeFor(digests: readonly Digest[]): {
  readonly challenge: Uint8Array;
  readonly touch: readonly Digest[] | null;
} {
  const touch = digests.length === 1 ? null : digests;
  const digest =
    touch === null ? digests[0]! : sha256(canonicalBytes({ format: 'keyturn-touch/1', acts: touch }));
  return { challenge: Buffer.from(digest, 'hex'), touch };
}
