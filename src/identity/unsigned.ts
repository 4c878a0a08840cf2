import { sha256 } from '../canonical/digest.ts';
import type { ActSignature } from '../event/shape.ts';
import type { Passkey } from './passkey.ts';

/** Has the shape of a proof of a key file, or of this passkey: made where it was enrolled, by its kind of authenticator. It verifies nothing. */
export function unsigned(passkey: Passkey | null): ActSignature['signature'] {
  if (passkey === null) return Buffer.alloc(64).toString('base64');
  const authenticator_data = Buffer.alloc(37);
  authenticator_data.write(sha256(passkey.rp_id), 'hex');
  authenticator_data[32] = passkey.can_sync ? 0x08 : 0;
  const client_data = JSON.stringify({ type: '', challenge: '', origin: passkey.origins[0] });
  return {
    authenticator_data: authenticator_data.toString('base64url'),
    client_data: Buffer.from(client_data).toString('base64url'),
    signature: Buffer.alloc(64).toString('base64url'),
    touch: null,
  };
}
