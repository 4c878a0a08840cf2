import { createHash, createPrivateKey } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { generateKeyPair, sign } from '../../src/canonical/ed25519.ts';
import { type OpenKey, signerOf } from '../../src/identity/act.ts';
import { type HumanKey, makeKey } from '../../src/keyturn.ts';

export const PASSPHRASE = 'correct horse battery';

const ROOT = resolve(import.meta.dirname, '..', '..');

/**
 * A key with a file that PASSPHRASE opens. Each takes as long to make as any other, so it is made once and kept for all test files,
 * open beside sealed: it is no secret. `which` tells several keys of one name apart.
 */
export async function humanKey(name: string, which = 0): Promise<HumanKey> {
  const path = join(cacheFolder(), `${name}-${which}.json`);
  return kept(path, name) ?? keep(path, await makeKey(name, '/', PASSPHRASE));
}

/** A key without a file, for tests where no passphrase is typed. */
export function freshSigner(name: string): OpenKey {
  const { public_key, seed } = generateKeyPair();
  return signerOf(name, public_key, seed);
}

/** Another one whenever the form of a key file changes. */
function cacheFolder(): string {
  const source = readFileSync(join(ROOT, 'src/identity/keyfile.ts'));
  const folder = createHash('sha256').update(source).digest('hex').slice(0, 16);
  return join(ROOT, 'node_modules/.cache/keyturn-keys', folder);
}

interface Kept {
  readonly file: string;
  readonly public_key: string;
  readonly pkcs8: string;
}

function kept(path: string, name: string): HumanKey | null {
  try {
    const { file, public_key, pkcs8 }: Kept = JSON.parse(readFileSync(path, 'utf8'));
    const key = createPrivateKey(pkcs8);
    const signer = {
      name,
      public_key,
      key,
      sign: async (all: readonly Uint8Array[]) => all.map((one) => sign(one, key)),
    };
    return { file, signer };
  } catch {
    return null; // not made yet
  }
}

function keep(path: string, made: HumanKey): HumanKey {
  const { public_key, key } = made.signer;
  const pkcs8 = key.export({ format: 'pem', type: 'pkcs8' }) as string;
  mkdirSync(resolve(path, '..'), { recursive: true });
  const own = `${path}.${process.pid}`;
  writeFileSync(own, JSON.stringify({ file: made.file, public_key, pkcs8 } satisfies Kept));
  renameSync(own, path);
  return made;
}
