import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../canonical/digest.ts';
import { generateKeyPair, type KeyPair, keyPairFromSeed } from '../canonical/ed25519.ts';
import { readRegularFile } from '../durable/beneath.ts';
import { createDurably } from '../durable/file.ts';
import { type Signer, signerOf } from '../identity/act.ts';
import { type HumanKey, openKey, readHumanKey } from '../identity/keyfile.ts';
import type { Passphrase } from '../identity/passphrase.ts';
import { limits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import type { Layout } from './layout.ts';

/** The key that signs heads of the ledger. It proves which machine kept the log; it holds no authority over intents. */
export function createLedgerKey(layout: Layout): KeyPair {
  const pair = generateKeyPair();
  writeSeed(layout.ledger_key, pair);
  return pair;
}

export function readLedgerKey(layout: Layout): KeyPair {
  return readSeed(layout.ledger_key, 'ledger key');
}

function readSeed(path: string, what: string): KeyPair {
  return seedIn(Buffer.from(readKeyFile(path)).toString('utf8'), what);
}

function seedIn(content: string, what: string): KeyPair {
  const text = content.trimEnd();
  const seed = Buffer.from(text, 'base64');
  if (seed.length !== 32 || seed.toString('base64') !== text)
    refuse('KEY_FILE_INVALID', `The ${what} is damaged.`);
  return keyPairFromSeed(seed);
}

function writeSeed(path: string, { seed }: KeyPair): void {
  createDurably(path, Buffer.from(`${Buffer.from(seed).toString('base64')}\n`), 0o600);
}

/** The key that signs capabilities. Each has a file of its own, so that a rotation never replaces one. */
export function createControlKey(layout: Layout): KeyPair {
  const pair = generateKeyPair();
  writeSeed(controlKeyPath(layout, pair.public_key), pair);
  return pair;
}

export function readControlKey(layout: Layout, public_key: string): KeyPair {
  const pair = readSeed(controlKeyPath(layout, public_key), 'control key');
  if (pair.public_key !== public_key) refuse('KEY_FILE_INVALID', 'The control key is another one.');
  return pair;
}

function controlKeyPath(layout: Layout, public_key: string): string {
  return join(layout.keys, `control-${sha256(public_key).slice(0, 16)}.seed`);
}

/** The key of an agent. The agent's own program reads it, unattended, so no passphrase can protect it: its mode does. */
export function createAgentKey(path: string): KeyPair {
  const pair = generateKeyPair();
  writeSeed(path, pair);
  return pair;
}

export function readAgentKey(path: string): KeyPair {
  return readSeed(path, 'agent key');
}

/** Looks at the file every time, for a key may be taken away; imports it only when it changed, for that takes longer. */
export function agentSignerIn(path: string, name: string): () => Signer | null {
  let known: { readonly content: string; readonly signer: Signer } | null = null;
  return () => {
    if (!existsSync(path)) return null;
    const content = Buffer.from(readKeyFile(path)).toString('utf8');
    if (known?.content !== content) {
      const { public_key, seed } = seedIn(content, 'agent key');
      known = { content, signer: signerOf(name, public_key, seed) };
    }
    return known.signer;
  };
}

/** Keeps the key of a human, sealed as it is. */
export function keepHumanKey(layout: Layout, { signer, file }: HumanKey): Signer {
  const bytes = Buffer.from(file);
  if (readHumanKey(signer.name, bytes).public_key !== signer.public_key)
    refuse('KEY_FILE_INVALID', 'The key file holds another key than the one that signs.');
  createDurably(humanKeyPath(layout, signer.name), bytes, 0o600);
  return signer;
}

export async function openHumanKey(layout: Layout, name: string, passphrase: Passphrase): Promise<Signer> {
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
