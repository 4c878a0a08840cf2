import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { totalmem } from 'node:os';
import * as z from 'zod';
import { generateKeyPair, privateKeyOf, publicPartOf } from '../canonical/ed25519.ts';
import { canonicalText, parseJson } from '../canonical/json.ts';
import { limits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import { type OpenKey, openKeyOf, signerOf } from './act.ts';
import { type Chooser, type Passphrase, requirePassphrase, withBytes } from './passphrase.ts';

/** OWASP's advice for scrypt: 128 MiB and some 0.4 s of one core for each guess. */
const COST = { N: 2 ** 17, r: 8, p: 1 } as const;
const DERIVATION_BYTES = 128 * COST.N * COST.r;

/** A human's key at rest: scrypt and AES-256-GCM. Node's own PKCS#8 encryption uses a weak derivation. */
const keyFile = z.strictObject({
  format: z.literal('keyturn-key/1'),
  name: z.string().max(limits.name_chars),
  public_key: z.base64().length(44),
  scrypt: z.strictObject({
    N: z.int(),
    r: z.int(),
    p: z.int(),
    salt: z.base64().length(24),
  }),
  nonce: z.base64().length(16),
  sealed_seed: z.base64().length(64),
});

type KeyFile = z.infer<typeof keyFile>;

/** A new key of a human: open, and as the text of the file that its passphrase opens. */
export interface HumanKey {
  readonly signer: OpenKey;
  readonly file: string;
}

/** Makes a key. The public key and the name are authenticated with the secret. */
export async function makeHumanKey(chooser: Chooser, passphrase: Passphrase): Promise<HumanKey> {
  await requirePassphrase(passphrase, chooser);
  const { name } = chooser;
  const { public_key, seed } = generateKeyPair();
  const salt = randomBytes(16);
  const nonce = randomBytes(12);
  try {
    const sealed = await withSecret(passphrase, salt, (secret) => {
      const cipher = createCipheriv('aes-256-gcm', secret, nonce).setAAD(associated(name, public_key));
      return Buffer.concat([cipher.update(seed), cipher.final(), cipher.getAuthTag()]);
    });
    const file = `${canonicalText({
      format: 'keyturn-key/1',
      name,
      public_key,
      scrypt: { ...COST, salt: salt.toString('base64') },
      nonce: nonce.toString('base64'),
      sealed_seed: sealed.toString('base64'),
    })}\n`;
    return { signer: signerOf(name, public_key, seed), file };
  } finally {
    seed.fill(0);
  }
}

/** Opens a key file with its passphrase. */
export async function openKey(name: string, text: Uint8Array, passphrase: Passphrase): Promise<OpenKey> {
  const file = readHumanKey(name, text);
  const sealed = Buffer.from(file.sealed_seed, 'base64');
  const nonce = Buffer.from(file.nonce, 'base64');
  return withSecret(passphrase, Buffer.from(file.scrypt.salt, 'base64'), (secret) => {
    const cipher = createDecipheriv('aes-256-gcm', secret, nonce, { authTagLength: 16 })
      .setAAD(associated(name, file.public_key))
      .setAuthTag(sealed.subarray(32));
    const seed = cipher.update(sealed.subarray(0, 32));
    try {
      finish(cipher);
      const key = privateKeyOf(seed);
      if (publicPartOf(key) !== file.public_key) refuse('KEY_FILE_INVALID');
      return openKeyOf(name, file.public_key, key);
    } finally {
      seed.fill(0);
    }
  });
}

function finish(cipher: { final(): unknown }): void {
  try {
    cipher.final();
  } catch {
    refuse('PASSPHRASE_WRONG');
  }
}

/** Refuses a file that is not of this name, and one whose derivation a planted header made cheap to guess or too large to run. */
export function readHumanKey(name: string, text: Uint8Array): KeyFile {
  const file = keyFile.safeParse(parseJson(text));
  if (!file.success || file.data.name !== name)
    refuse('KEY_FILE_INVALID', 'The key file is damaged or of another name.');
  const { N, r, p } = file.data.scrypt;
  if (N !== COST.N || r !== COST.r || p !== COST.p)
    refuse(
      'KEY_FILE_INVALID',
      `The key file names another scrypt cost than N=${COST.N}, r=${COST.r}, p=${COST.p}.`,
    );
  return file.data;
}

/** The key under the key. It and the copy of the passphrase are cleared when the act ends. */
function withSecret<T>(passphrase: Passphrase, salt: Uint8Array, act: (secret: Uint8Array) => T): Promise<T> {
  return withBytes(passphrase, async (bytes) => {
    const secret = await derive(bytes, salt);
    try {
      return act(secret);
    } finally {
      secret.fill(0);
    }
  });
}

/** In a thread of its own, so that other work goes on. The parameters are fixed, so that only a lack of memory can fail. */
function derive(bytes: Uint8Array, salt: Uint8Array): Promise<Uint8Array> {
  requireMemory();
  return new Promise((resolve, reject) => {
    scrypt(bytes, salt, 32, { ...COST, maxmem: 2 * DERIVATION_BYTES }, (error, secret) =>
      error ? reject(new Refusal('KEY_MEMORY')) : resolve(secret),
    );
  });
}

/** Below such a limit the kernel would end the process in the middle of the derivation, without a word. */
function requireMemory(): void {
  // 0, undefined or a number beyond all memory where there is no limit, depending on the version of Node.
  const most = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  if (most < DERIVATION_BYTES + limits.unlock_memory_bytes) refuse('KEY_MEMORY');
}

function associated(name: string, public_key: string): Uint8Array {
  return Buffer.from(`keyturn-key/1\n${name}\n${public_key}`);
}
