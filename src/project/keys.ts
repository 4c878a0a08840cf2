import { createHmac, randomUUID } from 'node:crypto';
import { existsSync, linkSync, readdirSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sha256 } from '../canonical/digest.ts';
import { generateKeyPair, type KeyPair, keyPairFromSeed } from '../canonical/ed25519.ts';
import { canonicalText } from '../canonical/json.ts';
import { readRegularFile } from '../durable/beneath.ts';
import { createDurably, syncFolder } from '../durable/file.ts';
import { rememberedFile } from '../effect/file-key.ts';
import { type OpenKey, type Signer, signerOf } from '../identity/act.ts';
import { type HumanKey, openKey, readHumanKey } from '../identity/keyfile.ts';
import { forgetting, type Passphrase } from '../identity/passphrase.ts';
import { hasKey, type Principal, requireHuman } from '../identity/principal.ts';
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
  keepControlKey(layout, pair);
  return pair;
}

/** The last of these that this host has; null where it has none. */
export function newestControlKey(layout: Layout, public_keys: readonly string[]): string | null {
  return public_keys.findLast((one) => existsSync(controlKeyPath(layout, one))) ?? null;
}

export function keepControlKey(layout: Layout, pair: KeyPair): void {
  writeSeed(controlKeyPath(layout, pair.public_key), pair);
}

export function readControlKey(layout: Layout, public_key: string): KeyPair {
  const pair = readSeed(controlKeyPath(layout, public_key), 'control key');
  if (pair.public_key !== public_key) refuse('KEY_FILE_INVALID', 'The control key is another one.');
  return pair;
}

function controlKeyPath(layout: Layout, public_key: string): string {
  return join(layout.keys, `control-${sha256(public_key).slice(0, 16)}.seed`);
}

/** The key with which this host states what it runs. Made once; a human adds it to the ledger. */
export function ownExecutorKey(layout: Layout): KeyPair {
  if (!existsSync(layout.executor_key)) writeSeed(layout.executor_key, generateKeyPair());
  return readExecutorKey(layout);
}

/** Its public half; null where this host has none. */
export function executorKeyIn(layout: Layout): string | null {
  return existsSync(layout.executor_key) ? readExecutorKey(layout).public_key : null;
}

export function readExecutorKey({ executor_key }: Layout): KeyPair {
  return readSeed(executor_key, 'executor key');
}

/**
 * Makes the receipts of unsigned proposals on this host, from the id of the intent and a secret. So a proposer whom the gate knows by name can
 * withdraw in another request, and after a restart; without the secret a receipt cannot be worked out from what was proposed.
 */
export function receiptsOf({ receipt_key }: Layout, origin: string): (intent_id: string) => string {
  let secret: Uint8Array | null = null;
  return (intent_id) => {
    secret ??= ownSecret(receipt_key);
    return createHmac('sha256', secret)
      .update(canonicalText({ format: 'keyturn-own-receipt/1', origin, intent_id }))
      .digest('base64url');
  };
}

/** Of two processes that make it at once, both go by the one that is there first. */
function ownSecret(path: string): Uint8Array {
  if (!existsSync(path)) {
    const made = `${path}.${randomUUID()}`;
    writeSeed(made, generateKeyPair());
    try {
      linkSync(made, path);
      syncFolder(dirname(path));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    } finally {
      unlinkSync(made);
    }
  }
  return readSeed(path, 'receipt key').seed;
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

interface KeyRead {
  readonly content: string;
  readonly signer: OpenKey;
}

/**
 * Looks at the file every time, for a key may be taken away or replaced; reads it again when it was changed, and imports it only when it
 * is another key, for that takes longest.
 */
export function openKeyIn(path: string, name: string): () => OpenKey | null {
  const read = rememberedFile(path, (known: KeyRead | null | undefined): KeyRead | null => {
    if (!existsSync(path)) return null;
    const content = Buffer.from(readKeyFile(path)).toString('utf8');
    if (known?.content === content) return known;
    const { public_key, seed } = seedIn(content, `key of ${name}`);
    return { content, signer: signerOf(name, public_key, seed) };
  });
  return () => read()?.signer ?? null;
}

/** Keeps the key of a human, sealed as it is. */
export function keepHumanKey(layout: Layout, key: HumanKey): Signer {
  return keepKeyFile(newKeyPath(layout, key.signer), key);
}

export function keepKeyFile(path: string, { signer, file }: HumanKey): Signer {
  const bytes = Buffer.from(file);
  if (readHumanKey(signer.name, bytes).public_key !== signer.public_key)
    refuse('KEY_FILE_INVALID', 'The key file holds another key than the one that signs.');
  createDurably(path, bytes, 0o600);
  return signer;
}

/** NAME.json, and for each further key of the same person NAME~KEY.json: no name has a tilde. */
function newKeyPath(layout: Layout, { name, public_key }: Signer): string {
  const first = join(layout.keys, `${name}.json`);
  return existsSync(first) ? join(layout.keys, `${name}~${sha256(public_key).slice(0, 16)}.json`) : first;
}

/** The names that have a key file here, and the files of each. */
export function humanKeyFiles({ keys }: Layout): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const file of readdirSync(keys)
    .filter((one) => one.endsWith('.json'))
    .sort()) {
    const name = file.slice(0, -'.json'.length).replace(/~[0-9a-f]{16}$/, '');
    found.set(name, [...(found.get(name) ?? []), join(keys, file)]);
  }
  return found;
}

/** The public keys in the files of this name. */
export function humanKeysHere(layout: Layout, name: string): string[] {
  const files = humanKeyFiles(layout).get(name) ?? [];
  return files.map((path) => readHumanKey(name, readKeyFile(path)).public_key);
}

/** Opens the key of this person that is enrolled. Of several files, the one that the passphrase opens. */
export async function openHumanKey(
  name: string,
  paths: readonly string[],
  passphrase: Passphrase,
  person: Principal | null,
): Promise<Signer> {
  const files = paths.map((path) => readKeyFile(path));
  const [first] = files;
  if (first === undefined) refuse('KEY_FILE_INVALID', 'There is no key file.');
  const enrolled = files.filter((file) => hasKey(person, readHumanKey(name, file).public_key));
  // Refuses with the reason why the key that is here does not count.
  if (enrolled.length === 0) requireHuman(person, readHumanKey(name, first).public_key);
  for (const [i, file] of enrolled.entries()) {
    try {
      return await openKey(name, file, passphrase);
    } catch (error) {
      const is_other = error instanceof Refusal && error.code === 'PASSPHRASE_WRONG';
      if (!is_other || i === enrolled.length - 1) throw error;
    }
  }
  return refuse('KEY_FILE_INVALID');
}

/** Refuses what is no key file of this name. It needs no passphrase, so it is asked before one is typed. */
export function requireKeyFile(name: string, path: string): void {
  const bytes = readKeyFile(path);
  try {
    readHumanKey(name, bytes);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    refuse('KEY_FILE_INVALID', `${path} is no key file of ${name}: ${error.message}`);
  }
}

/** Opens a key file wherever it is; bytes of a passphrase are cleared. Whether its key is enrolled, a service asks. */
export function openKeyFile(name: string, path: string, passphrase: Passphrase): Promise<OpenKey> {
  return forgetting(passphrase, () => openKey(name, readKeyFile(path), passphrase));
}

function readKeyFile(path: string): Uint8Array {
  try {
    return readRegularFile(path, limits.json_bytes).bytes;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'FILE_NOT_FOUND')
      refuse('KEY_FILE_INVALID', `There is no key file ${path}.`);
    throw error;
  }
}
