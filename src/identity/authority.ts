import type { Event, SignedKind } from '../event/event.ts';
import { Refusal, refuse } from '../refusal.ts';
import { requireMadeBy } from './credential.ts';
import { type Authorities, requireHolds } from './delegation.ts';
import { isLive, requireCredential, requireHuman } from './principal.ts';

/**
 * Who may sign: an enrolled human with a credential that is good; or, where the event names a delegation, the delegate, while every
 * link up to a human holds. That the signature is the key's is verified beside this.
 */
export function requireAuthority(authorities: Authorities, event: Event<SignedKind>, at: string): void {
  const { by, key, signature } = event.body;
  const delegation_id = delegationOf(event);
  const principal = authorities.principal(by);
  if (delegation_id === null) requireHuman(principal, key);
  else {
    const { delegate, delegate_key } = requireHolds(authorities, delegation_id, at);
    if (delegate !== by || delegate_key !== key)
      refuse('DELEGATION_OUT_OF_SCOPE', `The delegation is to "${delegate}".`);
  }
  requireMadeBy(requireCredential(principal!, key), signature);
}

/** The delegation that an act rests on; null for an act of a human. */
export function delegationOf({ body }: Event<SignedKind>): string | null {
  return 'delegation' in body ? body.delegation : null;
}

/** Whether a signed act still counts: the key is good, and so is the delegation if it was under one. */
export function isLiveAct(
  authorities: Authorities,
  { by, key, delegation }: { readonly by: string; readonly key: string; readonly delegation: string | null },
  at: string,
): boolean {
  if (delegation === null) return isLive(authorities.principal(by), key);
  try {
    requireHolds(authorities, delegation, at);
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}
