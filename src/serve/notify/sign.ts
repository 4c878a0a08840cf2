import { createHmac } from 'node:crypto';
import { privateKeyOf, sign } from '../../canonical/ed25519.ts';
import { refuse } from '../../refusal.ts';

/** Fewer bytes are guessed, and more than 64 are no key. */
const SYMMETRIC_BYTES = [24, 64] as const;
const SEED_BYTES = 32;

/** The signature of Standard Webhooks: `v1` is an HMAC with `whsec_…`, `v1a` is Ed25519 with `whsk_…`. Several keys, parted by a space, sign each. */
export function webhookSignature(secret: string, id: string, timestamp_s: number, body: string): string {
  const signed = Buffer.from(`${id}.${timestamp_s}.${body}`, 'utf8');
  return secret
    .trim()
    .split(/\s+/)
    .map((key) => oneOf(key, signed))
    .join(' ');
}

function oneOf(key: string, signed: Buffer): string {
  const [, kind, text = ''] = /^(whsec|whsk)_([A-Za-z0-9+/]+={0,2})$/.exec(key) ?? [];
  const bytes = Buffer.from(text, 'base64');
  if (kind === 'whsec' && bytes.length >= SYMMETRIC_BYTES[0] && bytes.length <= SYMMETRIC_BYTES[1])
    return `v1,${createHmac('sha256', bytes).update(signed).digest('base64')}`;
  // A secret key is its seed, or its seed with the public key behind it.
  if (kind === 'whsk' && (bytes.length === SEED_BYTES || bytes.length === 2 * SEED_BYTES))
    return `v1a,${sign(signed, privateKeyOf(bytes.subarray(0, SEED_BYTES)))}`;
  return refuse('SECRET_UNUSABLE', 'The secret of a webhook is whsec_ or whsk_ and its bytes in base64.');
}
