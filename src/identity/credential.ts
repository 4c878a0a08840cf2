import type { z } from 'zod';
import { type credential, passkey } from '../event/shape.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import type { Proof } from './act.ts';
import { factsOf, requireEnrolledAs } from './passkey.ts';

/** What a principal signs with, as it is enrolled. */
export type NewCredential = z.output<typeof credential>;

/** A credential has a life of its own: what it signed counts while it is active and its owner is. */
export type Credential = NewCredential & {
  readonly added_at: string;
  readonly added_by: string;
  readonly status: 'active' | 'revoked';
};

/** The key of a file, by the name that it has unless its owner gives it another. */
export function keyCredential(public_key: string, label = 'key file'): NewCredential {
  return { kind: 'key', public_key, label };
}

/** Refuses a label that could not be shown as it is. */
export function requireLabel(label: string): void {
  if (!passkey.shape.label.safeParse(label).success)
    refuse('NAME_MALFORMED', `A label has 1 to ${limits.name_chars} characters that can be seen.`);
}

/**
 * Refuses a proof by a passkey that was not made where, and by the kind of authenticator, that was enrolled. That the proof is the
 * key's is verified before.
 */
export function requireMadeBy(credential: NewCredential, proof: Proof): void {
  if (credential.kind === 'key') return;
  if (typeof proof === 'string') refuse('SIGNATURE_INVALID', 'A passkey gives no bare signature.');
  requireEnrolledAs(factsOf(proof), credential);
}
