import { sign } from '../../src/canonical/ed25519.ts';
import { type Body, type Event, isControlled, type SignedKind } from '../../src/event/event.ts';
import { type Proof, signerOf, statementOf } from '../../src/identity/act.ts';
import { keyCredential, type NewCredential } from '../../src/identity/credential.ts';
import type { Wish } from '../identity/authenticator.ts';
import { type SoftPasskey, touch } from '../support/passkey.ts';
import { act, decided, keyOf, ORIGIN, seedOf } from './facts.ts';

/** Facts about credentials. A key is named by what its seed follows from, such as `ada-phone`. */

export interface Held {
  readonly credential: NewCredential;
  readonly prove: (statement: Uint8Array) => Proof;
}

export function heldKey(seed: string, label = seed): Held {
  const { key } = signerOf(seed, keyOf(seed), seedOf(seed));
  return {
    credential: keyCredential(keyOf(seed), label),
    prove: (statement) => sign(statement, key),
  };
}

export function heldPasskey(passkey: SoftPasskey, wish: Wish = {}): Held {
  return {
    credential: passkey.credential,
    prove: (statement) => touch(passkey, [statement], wish)[0]!,
  };
}

/** `signs` names the key of `by` that signs. `own` proves it with another key. */
export function added(
  name: string,
  { credential, prove }: Held,
  by = name,
  { signs, own = prove }: { signs?: string; own?: Held['prove'] } = {},
): Event<'credential.added'> {
  return owned(act('credential.added', name, { credential, reason: 'a second one' }, by, { signs }), own);
}

/** A human with this as the first credential. */
export function enrolledWith(name: string, { credential, prove }: Held, by: string): Event<'key.enrolled'> {
  const facts = { principal: 'human', credential, roles: [] };
  return owned(act('key.enrolled', name, facts, by), prove);
}

/** With the proof of the new key, over what the act says. */
export function owned<K extends 'credential.added' | 'key.enrolled'>(
  event: Event<K>,
  prove: Held['prove'],
): Event<K> {
  const { kind, subject, body } = event;
  return { ...event, body: { ...body, own: prove(statementOf(ORIGIN, kind, subject, body)) } };
}

export function lost(
  name: string,
  public_key: string,
  by = name,
  signs?: string,
): Event<'credential.revoked'> {
  return act('credential.revoked', name, { public_key, reason: 'lost' }, by, { signs });
}

/** The same act, signed by another credential of the one who signed it, or of another human. */
export function signedWith<K extends SignedKind>(
  { kind, subject, body }: Event<K>,
  { credential, prove }: Held,
  by: string = body.by,
): Event<K> {
  const { signature: _, ...facts } = body as Body<SignedKind>;
  const said = { ...facts, by, key: credential.public_key };
  const proven = { ...said, signature: prove(statementOf(ORIGIN, kind, subject, said)) };
  const acted = { kind, subject, body: proven } as unknown as Event<K>;
  return (isControlled(acted) ? decided([acted as never])[0] : acted) as Event<K>;
}
