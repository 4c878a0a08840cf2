import { sha256 } from '../canonical/digest.ts';
import type { PublicKey, Seed } from '../canonical/ed25519.ts';
import { refuse } from '../refusal.ts';
import type { TreeRoot } from './merkle.ts';
import { formatVerifierKey, openNote, parseVerifierKey, signNote, type VerifierKey } from './note.ts';

/**
 * The signed state of a ledger, as a checkpoint of https://c2sp.org/tlog-checkpoint without extension lines. Who keeps
 * one can tell later whether anything before it was removed or rewritten.
 */
export interface Head extends TreeRoot {
  /** The name of the ledger, and of the key that signs for it. */
  readonly origin: string;
}

const TEXT = /^([^\n]+)\n(0|[1-9][0-9]{0,15})\n([A-Za-z0-9+/]{43}=)\n$/;

export function signHead(head: Head, seed: Seed): string {
  const text = formatHead(head);
  parseHead(text);
  return signNote(text, head.origin, seed);
}

export function openHead(note: string, key: VerifierKey): Head {
  const head = parseHead(openNote(note, key));
  if (head.origin !== key.name) refuse('HEAD_MALFORMED', 'The origin is not the name of the key.');
  return head;
}

/** The same for who knows the key by its fingerprint alone: the head comes with the key, as text. */
export function openHeadOf(note: string, verifier: string, fingerprint: string): Head {
  const key = parseVerifierKey(verifier);
  requireKey(key, fingerprint);
  return openHead(note, key);
}

function formatHead({ origin, size, root }: Head): string {
  return `${origin}\n${size}\n${Buffer.from(root, 'hex').toString('base64')}\n`;
}

function parseHead(text: string): Head {
  const [, origin, size, root] = TEXT.exec(text) ?? refuse('HEAD_MALFORMED');
  const head = {
    origin: origin!,
    size: Number(size),
    root: Buffer.from(root!, 'base64').toString('hex'),
  };
  if (!Number.isSafeInteger(head.size) || formatHead(head) !== text) refuse('HEAD_MALFORMED');
  return head;
}

/** What the owner of a ledger reads out and an auditor compares. */
export function keyFingerprint(public_key: PublicKey): string {
  return `sha256:${sha256(Buffer.from(public_key, 'base64'))}`;
}

/**
 * A file that names its own key proves nothing: a forger chooses the key. So the auditor says which key,
 * by its fingerprint or as a verifier key. Any other text fits no key.
 */
export function requireKey(key: VerifierKey, expected: string): void {
  const actual = keyFingerprint(key.public_key);
  if (expected !== actual && expected !== formatVerifierKey(key))
    refuse('HEAD_SIGNATURE_INVALID', `The ledger is signed by another key, ${actual}.`, { key: actual });
}
