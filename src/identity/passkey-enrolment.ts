import { sha256 } from '../canonical/digest.ts';
import { type SpkiAlgorithm, spkiAlgorithm } from '../canonical/spki.ts';
import { describeIssue } from '../event/event.ts';
import { passkey } from '../event/shape.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import {
  AUTHENTICATOR_HEADER_BYTES,
  bytesOf,
  type Passkey,
  readAuthenticatorData,
  readClientData,
  requireVerified,
} from './passkey.ts';

/** What `navigator.credentials.create` answered: raw bytes as base64url, but the key, which is SPKI as base64. */
export interface Registration {
  readonly credential_id: string;
  /** `getPublicKey()` and `getPublicKeyAlgorithm()`. */
  readonly public_key: string;
  readonly algorithm: number;
  /** `getAuthenticatorData()`. */
  readonly authenticator_data: string;
  readonly client_data: string;
}

/** What the service asked for. None of it is taken from the answer. */
export interface Enrolment {
  /** As base64url. */
  readonly challenge: string;
  readonly rp_id: string;
  readonly origins: readonly string[];
  readonly label: string;
}

const COSE: Readonly<Record<SpkiAlgorithm, number>> = { ES256: -7, EdDSA: -8, RS256: -257 };

/** Attested credential data: the AAGUID, the length of the credential id, the credential id, then the key in CBOR. */
const AAGUID_AT = AUTHENTICATOR_HEADER_BYTES;
const ID_LENGTH_AT = AAGUID_AT + 16;
const ID_AT = ID_LENGTH_AT + 2;

/**
 * The passkey of a browser's answer. Nothing here is signed (`fmt: none`): that the passkey has this key is shown only when it signs
 * its own enrolment, with a second touch.
 */
export function verifyEnrolment(answer: Registration, asked: Enrolment): Passkey {
  const client = readClientData(bytesOf(answer.client_data));
  if (client.type !== 'webauthn.create') refuse('PASSKEY_INVALID', 'This is not an answer to an enrolment.');
  if (client.challenge !== asked.challenge) refuse('PASSKEY_INVALID', 'This answers another enrolment.');
  if (client.framed) refuse('PASSKEY_ORIGIN', 'The passkey was made inside a frame of another page.');
  if (!asked.origins.includes(client.origin))
    refuse('PASSKEY_ORIGIN', 'The passkey was made on a page that is not one of the accepted ones.');
  return passkeyOf(answer, asked);
}

function passkeyOf(answer: Registration, { rp_id, origins, label }: Enrolment): Passkey {
  const bytes = bytesOf(answer.authenticator_data);
  const data = readAuthenticatorData(bytes);
  if (data.rp_id_hash !== sha256(rp_id)) refuse('PASSKEY_ORIGIN', `The passkey was not made for "${rp_id}".`);
  requireVerified(data);
  if (!data.has_credential || bytes.length <= ID_AT || bytes.length > limits.enrolment_data_bytes)
    refuse('PASSKEY_INVALID', 'The authenticator data holds no credential.');
  const id = bytes.subarray(ID_AT, ID_AT + bytes.readUInt16BE(ID_LENGTH_AT));
  if (id.toString('base64url') !== answer.credential_id)
    refuse('PASSKEY_INVALID', 'The authenticator made a credential with another id.');
  const algorithm = spkiAlgorithm(answer.public_key);
  if (algorithm === null || COSE[algorithm] !== answer.algorithm)
    refuse('PASSKEY_INVALID', 'The key is not one for ES256, EdDSA or RS256.');
  const made = passkey.safeParse({
    credential_id: answer.credential_id,
    public_key: answer.public_key,
    rp_id,
    origins,
    can_sync: data.backup_eligible,
    aaguid: uuidOf(bytes.subarray(AAGUID_AT, ID_LENGTH_AT)),
    label,
  });
  return made.success ? made.data : refuse('PASSKEY_INVALID', describeIssue(made.error));
}

function uuidOf(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
