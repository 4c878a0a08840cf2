import type { z } from 'zod';
import { openPublicKey, type VerifyingKey, verifySignature } from '../canonical/authenticator-key.ts';
import { type Digest, sha256 } from '../canonical/digest.ts';
import { canonicalBytes, parseJson } from '../canonical/json.ts';
import type { assertion, passkey } from '../event/shape.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';

/** A passkey as it was enrolled. Nothing of it follows from a later assertion. */
export type Passkey = z.output<typeof passkey>;

/** What an authenticator gave for one touch: the raw bytes as they came. Written again they would not verify. */
export type Assertion = z.output<typeof assertion>;

/** What an assertion says besides that the act was signed. Whether the credential was enrolled so, the fold asks. */
export interface AssertionFacts {
  readonly origin: string;
  readonly rp_id_hash: Digest;
  /** The flags BE and BS: the key can be copied to other devices, and it is. */
  readonly backup_eligible: boolean;
  readonly backup_state: boolean;
  /** Recorded only. One that fell is no proof of a copy: synced passkeys count from zero on each device. */
  readonly counter: number;
}

export interface AuthenticatorData {
  readonly rp_id_hash: Digest;
  readonly user_present: boolean;
  readonly user_verified: boolean;
  readonly backup_eligible: boolean;
  readonly backup_state: boolean;
  readonly has_credential: boolean;
  readonly has_extensions: boolean;
  readonly counter: number;
}

export interface ClientData {
  readonly type: string;
  readonly challenge: string;
  readonly origin: string;
  readonly framed: boolean;
}

/** rpIdHash, flags, counter. What follows them is CBOR. */
export const AUTHENTICATOR_HEADER_BYTES = 37;

export const bytesOf = (text: string): Buffer => Buffer.from(text, 'base64url');

/**
 * What a browser is asked to have signed, as base64url. One touch for several acts signs the list of their digests, in the order
 * in which they were shown; the list stands in every entry, so each verifies alone.
 */
export function challengeOf(act: Digest, touch: readonly Digest[] | null): string {
  if (touch !== null && !touch.includes(act))
    refuse('SIGNATURE_INVALID', 'This act is not one of those that were signed.');
  const digest = touch === null ? act : sha256(canonicalBytes({ format: 'keyturn-touch/1', acts: touch }));
  return Buffer.from(digest, 'hex').toString('base64url');
}

/**
 * Refuses an assertion that is not one over this statement by this key, made in a page of its own by a person whom the
 * authenticator verified. It depends on the event alone, so it holds offline and years later.
 */
export function verifyAssertion(
  statement: Uint8Array,
  public_key: string,
  assertion: Assertion,
  open: (public_key: string) => VerifyingKey = openPublicKey,
): AssertionFacts {
  if (!verifySignature(open(public_key), signedBytes(assertion), bytesOf(assertion.signature)))
    refuse('SIGNATURE_INVALID', 'The signature of the passkey does not verify.');
  return readAssertion(statement, assertion);
}

/** What the authenticator signed. */
export function signedBytes({ authenticator_data, client_data }: Assertion): Uint8Array {
  return Buffer.concat([bytesOf(authenticator_data), Buffer.from(sha256(bytesOf(client_data)), 'hex')]);
}

/** Everything but the signature, which must have been verified. */
function readAssertion(statement: Uint8Array, assertion: Assertion): AssertionFacts {
  const { type, challenge, origin, framed } = readClientData(bytesOf(assertion.client_data));
  if (type !== 'webauthn.get') refuse('PASSKEY_INVALID', 'This is not an answer to a signing request.');
  if (challenge !== challengeOf(sha256(statement), assertion.touch))
    refuse('SIGNATURE_INVALID', 'The passkey signed another act.');
  if (framed) refuse('PASSKEY_ORIGIN', 'The passkey was used inside a frame of another page.');
  const data = bytesOf(assertion.authenticator_data);
  const { rp_id_hash, backup_eligible, backup_state, counter, ...flags } = readAuthenticatorData(data);
  requireVerified(flags);
  if (flags.has_credential || flags.has_extensions !== data.length > AUTHENTICATOR_HEADER_BYTES)
    refuse('PASSKEY_INVALID', 'The authenticator data is longer or shorter than its flags say.');
  return { origin, rp_id_hash, backup_eligible, backup_state, counter };
}

/** What an assertion says, of one that was verified before. */
export function factsOf(assertion: Assertion): AssertionFacts {
  const { rp_id_hash, backup_eligible, backup_state, counter } = readAuthenticatorData(
    bytesOf(assertion.authenticator_data),
  );
  const { origin } = readClientData(bytesOf(assertion.client_data));
  return { origin, rp_id_hash, backup_eligible, backup_state, counter };
}

/** Refuses an assertion that was not made where, and by the kind of passkey, that was enrolled. */
export function requireEnrolledAs(facts: AssertionFacts, enrolled: Passkey): void {
  // Another program on another port of localhost gets a valid assertion. Only the exact origin tells the two apart.
  if (!enrolled.origins.includes(facts.origin))
    refuse('PASSKEY_ORIGIN', 'The passkey was used on a page that it was not enrolled for.');
  if (facts.rp_id_hash !== sha256(enrolled.rp_id))
    refuse('PASSKEY_ORIGIN', `The passkey was not used for "${enrolled.rp_id}".`);
  if (facts.backup_eligible !== enrolled.can_sync)
    refuse('PASSKEY_INVALID', 'Whether the passkey can be synced is not as it was enrolled.');
}

/** Browsers add members, some of them at random: unknown ones are ignored. A name that stands twice is refused. */
export function readClientData(bytes: Uint8Array): ClientData {
  const client = parseJson(bytes, limits.client_data_bytes);
  if (client === null || typeof client !== 'object' || Array.isArray(client))
    refuse('PASSKEY_INVALID', 'The client data is not an object.');
  const { type, challenge, origin, crossOrigin } = client as Record<string, unknown>;
  if (typeof type !== 'string' || typeof challenge !== 'string' || typeof origin !== 'string')
    refuse('PASSKEY_INVALID', 'The client data has no type, no challenge or no origin.');
  // Anything but a plain false counts as a frame.
  const framed = (crossOrigin !== undefined && crossOrigin !== false) || 'topOrigin' in client;
  return { type, challenge, origin, framed };
}

export function readAuthenticatorData(bytes: Buffer): AuthenticatorData {
  if (bytes.length < AUTHENTICATOR_HEADER_BYTES)
    refuse('PASSKEY_INVALID', 'The authenticator data is too short.');
  const flags = bytes[32]!;
  if ((flags & 0x18) === 0x10) refuse('PASSKEY_INVALID', 'The passkey is synced and says that it cannot be.');
  return {
    rp_id_hash: bytes.toString('hex', 0, 32),
    user_present: (flags & 0x01) !== 0,
    user_verified: (flags & 0x04) !== 0,
    backup_eligible: (flags & 0x08) !== 0,
    backup_state: (flags & 0x10) !== 0,
    has_credential: (flags & 0x40) !== 0,
    has_extensions: (flags & 0x80) !== 0,
    counter: bytes.readUInt32BE(33),
  };
}

/** Presence alone proves a touch, by any person at the device. */
export function requireVerified(flags: Pick<AuthenticatorData, 'user_present' | 'user_verified'>): void {
  if (!flags.user_present) refuse('PASSKEY_UNVERIFIED', 'The authenticator was not touched.');
  if (!flags.user_verified) refuse('PASSKEY_UNVERIFIED');
}
