import { hash } from 'node:crypto';
import * as z from 'zod';
import type { PublicKey } from '../canonical/ed25519.ts';
import { malformed } from './jws.ts';

/**
 * A key's name: its RFC 7638 thumbprint, as RFC 8037 defines it for Ed25519. It finds the key; it proves nothing.
 */
export function kidOf(public_key: PublicKey): string {
  const x = Buffer.from(public_key, 'base64').toString('base64url');
  return hash('sha256', `{"crv":"Ed25519","kty":"OKP","x":"${x}"}`, 'base64url');
}

/**
 * The points of small order (and the one other way to write zero and one). Under such a "key" a signature over any text
 * can be made without a secret, so a capability bound to it would be bound to no holder. The last bit is a sign and is looked at without it.
 */
const SMALL_ORDER: readonly string[] = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
];

function isHolderKey(raw: Buffer): boolean {
  const unsigned = Buffer.from(raw);
  unsigned[31]! &= 0x7f;
  return raw.length === 32 && !SMALL_ORDER.includes(unsigned.toString('hex'));
}

/** RFC 7800: the key that the presenter of the capability has to prove. One spelling of the key only. */
export const cnfSchema = z.strictObject({
  jwk: z.strictObject({
    kty: z.literal('OKP'),
    crv: z.literal('Ed25519'),
    x: z.string().refine((x) => {
      const raw = Buffer.from(x, 'base64url');
      return raw.toString('base64url') === x && isHolderKey(raw);
    }, 'is not a key that one holder can have'),
  }),
});

type Confirmation = z.infer<typeof cnfSchema>;

export function cnfOf(holder: PublicKey): Confirmation {
  const raw = Buffer.from(holder, 'base64');
  if (raw.toString('base64') !== holder) malformed('its holder is not a public key');
  return { jwk: { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') } };
}

export function holderOf(cnf: Confirmation): PublicKey {
  return Buffer.from(cnf.jwk.x, 'base64url').toString('base64');
}
