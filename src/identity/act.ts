import type { KeyObject } from 'node:crypto';
import { privateKeyOf, publicKeyOf, sign, verify } from '../canonical/ed25519.ts';
import { canonicalBytes } from '../canonical/json.ts';
import type { Body, Event, SignedKind } from '../event/event.ts';
import { refuse } from '../refusal.ts';

/** An unlocked human key. It lives for one command. */
export interface Signer {
  readonly name: string;
  readonly public_key: string;
  readonly key: KeyObject;
}

export function signerOf(name: string, public_key: string, seed: Uint8Array): Signer {
  return { name, public_key, key: privateKeyOf(seed) };
}

/** The name of a ledger. Every signature covers it, and its heads are signed under it. */
export function originOf(project_id: string, tenant: string): string {
  return `keyturn/${project_id}/${tenant}`;
}

type Unsigned<K extends SignedKind> = Omit<Body<K>, 'by' | 'key' | 'signed_at' | 'signature'>;

/**
 * An act of a human: the event itself, signed whole. `origin` names the project and tenant, so that a signature made
 * in one project says nothing in another.
 */
export function signAct<K extends SignedKind>(
  origin: string,
  kind: K,
  subject: string,
  facts: Unsigned<K>,
  signer: Signer,
  now: Date,
): Event<K> {
  const body = { ...facts, by: signer.name, key: signer.public_key, signed_at: now.toISOString() };
  const signature = sign(statement(origin, kind, subject, body), signer.key);
  return { kind, subject, body: { ...body, signature } } as unknown as Event<K>;
}

/** Refuses an act whose signature is not that of the key it names. Whose key that is, the store knows. */
export function verifyAct(origin: string, event: Event<SignedKind>): void {
  const { signature, ...body } = event.body;
  if (!verify(statement(origin, event.kind, event.subject, body), signature, publicKeyOf(body.key))) {
    refuse('SIGNATURE_INVALID', `The signature of ${body.by} on ${event.kind} does not verify.`);
  }
}

function statement(origin: string, kind: string, subject: string, body: object): Uint8Array {
  return canonicalBytes({ format: 'keyturn-act/1', origin, kind, subject, body });
}

/** A proposer's own signature over the hash of what they propose. It says who asks, and allows nothing. */
export function signProposal(origin: string, hash: string, { key }: Pick<Signer, 'key'>): string {
  return sign(proposal(origin, hash), key);
}

export function verifyProposal(origin: string, hash: string, signature: string, public_key: string): void {
  if (!verify(proposal(origin, hash), signature, publicKeyOf(public_key)))
    refuse('SIGNATURE_INVALID', 'The signature of the proposer does not verify.');
}

function proposal(origin: string, hash: string): Uint8Array {
  return canonicalBytes({ format: 'keyturn-proposal/1', origin, hash });
}
