import { join } from 'node:path';
import { generateKeyPair, type KeyPair, keyPairFromSeed } from '../canonical/ed25519.ts';
import { readRegularFile } from '../durable/beneath.ts';
import { createDurably } from '../durable/file.ts';
import { type Signer, signerOf } from '../identity/act.ts';
import { openKey, sealKey } from '../identity/keyfile.ts';
import { limits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import type { Layout } from './layout.ts';

/** The key that signs heads of the ledger. It proves which machine kept the log; it holds no authority over intents. */
export function createLedgerKey(layout: Layout): KeyPair {
  const pair = generateKeyPair();
  createDurably(layout.ledger_key, Buffer.from(`${Buffer.from(pair.seed).toString('base64')}\n`), 0o600);
  return pair;
}

export function readLedgerKey(layout: Layout): KeyPair {
  const text = Buffer.from(readKeyFile(layout.ledger_key)).toString('utf8').trimEnd();
  const seed = Buffer.from(text, 'base64');
  if (seed.length !== 32 || seed.toString('base64') !== text)
    refuse('KEY_FILE_INVALID', 'The ledger key is damaged.');
  return keyPairFromSeed(seed);
}

/** A new human key, sealed with the passphrase. */
export function createHumanKey(layout: Layout, name: string, passphrase: string): Signer {
  const pair = generateKeyPair();
  const text = sealKey(name, pair.seed, passphrase);
  createDurably(humanKeyPath(layout, name), Buffer.from(text), 0o600);
  return signerOf(name, pair.public_key, pair.seed);
}

export function openHumanKey(layout: Layout, name: string, passphrase: string): Signer {
  return openKey(name, readKeyFile(humanKeyPath(layout, name)), passphrase);
}

export function humanKeyPath(layout: Layout, name: string): string {
  return join(layout.keys, `${name}.json`);
}

function readKeyFile(path: string): Uint8Array {
  try {
    return readRegularFile(path, limits.json_bytes).bytes;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'FILE_NOT_FOUND')
      refuse('KEY_FILE_INVALID', 'There is no key file.');
    throw error;
  }
}
