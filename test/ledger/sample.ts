import type { Digest } from '../../src/canonical/digest.ts';
import { keyPairFromSeed } from '../../src/canonical/ed25519.ts';
import { type Entry, GENESIS, type SealedEntry, sealEntry } from '../../src/ledger/entry.ts';
import { writeExport } from '../../src/ledger/export.ts';
import { keyFingerprint, signHead } from '../../src/ledger/head.ts';
import { append, EMPTY_TREE, rootOf } from '../../src/ledger/merkle.ts';
import { verifierKey } from '../../src/ledger/note.ts';

/** A ledger of the size and shape that the gate writes, with a fixed key, so that a failure can be looked at again. */

export const ORIGIN = 'keyturn.example/ledger/main';
export const SEED = Buffer.alloc(32, 7);
export const KEY = verifierKey(ORIGIN, keyPairFromSeed(SEED).public_key);
export const FINGERPRINT = keyFingerprint(KEY.public_key);
export const OTHER_SEED = Buffer.alloc(32, 8);

export function entryAt(seq: number, prev: Digest, change: Partial<Entry> = {}): Entry {
  return {
    seq,
    tenant: 'main',
    at: new Date(Date.UTC(2026, 0, 15) + seq * 1000).toISOString(),
    kind: 'execution.claimed',
    subject: `b2831d73-2708-4f50-944b-${String(seq).padStart(12, '0')}`,
    claims: [`execution:${seq}:1`],
    body: { hash: 'a'.repeat(64), tool: 'größe', attempt: 1, note: 'l1\nl2 "q"' },
    prev,
    ...change,
  };
}

/** The first `size` entries, each sealed over the one before. `change` may alter an entry before it is sealed. */
export function sampleLedger(size: number, change?: (entry: Entry) => Entry): SealedEntry[] {
  const ledger: SealedEntry[] = [];
  for (let seq = 0; seq < size; seq++) {
    const entry = entryAt(seq, ledger.at(-1)?.hash ?? GENESIS);
    ledger.push(sealEntry(change ? change(entry) : entry));
  }
  return ledger;
}

export function treeOf(ledger: readonly SealedEntry[]) {
  return ledger.reduce((tree, { hash }) => append(tree, hash), EMPTY_TREE);
}

export function headOf(ledger: readonly SealedEntry[]) {
  return { origin: ORIGIN, size: ledger.length, root: rootOf(treeOf(ledger)) };
}

export function signedHead(ledger: readonly SealedEntry[], seed: Uint8Array = SEED): string {
  return signHead(headOf(ledger), seed);
}

export async function* inBatches<T>(items: readonly T[], batch = 7): AsyncGenerator<T[]> {
  for (let i = 0; i < items.length; i += batch) yield items.slice(i, i + batch);
}

export async function exportOf(ledger: readonly SealedEntry[], head = signedHead(ledger)): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of writeExport({ tenant: 'main', key: KEY, head, entries: inBatches(ledger) }))
    parts.push(part);
  return Buffer.concat(parts);
}

export async function* chunksOf(bytes: Uint8Array, chunk = bytes.length): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < bytes.length; i += chunk) yield bytes.subarray(i, i + chunk);
}
