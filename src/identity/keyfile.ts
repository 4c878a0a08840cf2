import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto';
import { z } from 'zod';
import { keyPairFromSeed } from '../canonical/ed25519.ts';
import { canonicalText, parseJson } from '../canonical/json.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { type Signer, signerOf } from './act.ts';

/** A human's key at rest: scrypt and AES-256-GCM. Node's own PKCS#8 encryption uses a weak derivation. */
const keyFile = z.strictObject({
  format: z.literal('keyturn-key/1'),
  name: z.string().max(limits.name_chars),
  public_key: z.base64().length(44),
  // Bounded, so that a planted file can neither weaken the derivation nor exhaust the memory.
  scrypt: z.strictObject({
    N: z.literal(32768),
    r: z.literal(8),
    p: z.literal(1),
    salt: z.base64().length(24),
  }),
  nonce: z.base64().length(16),
  sealed_seed: z.base64().length(64),
});

const COST = { N: 32768, r: 8, p: 1, maxmem: 64 * 1024 * 1024 } as const;

export function requirePassphrase(passphrase: string): void {
  if (passphrase.length < limits.passphrase_chars_min) refuse('PASSPHRASE_WEAK');
  if (passphrase.length > limits.passphrase_chars) refuse('INPUT_TOO_LARGE', 'The passphrase is too long.');
}

/** The text of a key file. The public key and the name are authenticated with the secret. */
export function sealKey(name: string, seed: Uint8Array, passphrase: string): string {
  requirePassphrase(passphrase);
  const { public_key } = keyPairFromSeed(seed);
  const salt = randomBytes(16);
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', derive(passphrase, salt), nonce).setAAD(
    associated(name, public_key),
  );
  const sealed = Buffer.concat([cipher.update(seed), cipher.final(), cipher.getAuthTag()]);
  const { N, r, p } = COST;
  return `${canonicalText({
    format: 'keyturn-key/1',
    name,
    public_key,
    scrypt: { N, r, p, salt: salt.toString('base64') },
    nonce: nonce.toString('base64'),
    sealed_seed: sealed.toString('base64'),
  })}\n`;
}

/** Opens a key file with its passphrase. */
export function openKey(name: string, text: Uint8Array, passphrase: string): Signer {
  const file = keyFile.safeParse(parseJson(text));
  if (!file.success || file.data.name !== name)
    refuse('KEY_FILE_INVALID', 'The key file is damaged or of another name.');
  const { public_key, scrypt, nonce, sealed_seed } = file.data;
  const sealed = Buffer.from(sealed_seed, 'base64');
  const secret = derive(passphrase, Buffer.from(scrypt.salt, 'base64'));
  const cipher = createDecipheriv('aes-256-gcm', secret, Buffer.from(nonce, 'base64'), { authTagLength: 16 })
    .setAAD(associated(name, public_key))
    .setAuthTag(sealed.subarray(32));
  try {
    const seed = Buffer.concat([cipher.update(sealed.subarray(0, 32)), cipher.final()]);
    if (keyPairFromSeed(seed).public_key !== public_key) refuse('KEY_FILE_INVALID');
    return signerOf(name, public_key, seed);
  } catch (error) {
    if (error instanceof Error && error.name === 'Refusal') throw error;
    return refuse('PASSPHRASE_WRONG');
  }
}

function derive(passphrase: string, salt: Uint8Array): Uint8Array {
  return scryptSync(passphrase.normalize('NFC'), salt, 32, COST);
}

function associated(name: string, public_key: string): Uint8Array {
  return Buffer.from(`keyturn-key/1\n${name}\n${public_key}`);
}
