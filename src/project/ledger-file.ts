import * as z from 'zod';
import { FINGERPRINT_FORM } from '../canonical/form.ts';
import { canonicalText, parseJson } from '../canonical/json.ts';
import { readRegularFile } from '../durable/beneath.ts';
import { replaceDurably } from '../durable/file.ts';
import { public_key } from '../event/shape.ts';
import type { LedgerIdentity } from '../journey/audit.ts';
import { keyFingerprint } from '../ledger/head.ts';
import { fieldLimits, limits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import type { StorePlace } from '../store/open.ts';
import type { Layout } from './layout.ts';

/**
 * `.keyturn/ledger.json`: which ledger belongs to this project, and in which store it is. Without it, an attacker who puts another store in its place, or
 * another server into keyturn.yaml, would bring humans and policies of their own.
 */
export interface PinnedLedger {
  readonly origin: string;
  readonly founder: { readonly name: string; readonly key: string };
  /** The fingerprint of the key that signs the heads. */
  readonly ledger_key: string;
}

/** `store` is where the ledger was when a human founded, joined or restored it: no other host is connected to. */
export interface LedgerFile extends PinnedLedger {
  readonly store: string;
}

const FORMAT = 'keyturn-ledger/1';

const fileSchema = z.strictObject({
  format: z.literal(FORMAT),
  origin: z.string().min(1).max(fieldLimits.host_chars),
  founder: z.strictObject({ name: z.string().min(1).max(limits.name_chars), key: public_key }),
  ledger_key: z.string().regex(FINGERPRINT_FORM),
  store: z.string().min(1).max(limits.yaml_bytes),
});

/** That of 0.1, which did not keep where the store is. */
const olderSchema = fileSchema.omit({ store: true });

export function pinnedOf({ origin, founder, ledger_key }: LedgerIdentity): PinnedLedger {
  return { origin, founder, ledger_key: keyFingerprint(ledger_key) };
}

export function writeLedgerFile({ ledger_file }: Layout, pinned: PinnedLedger, store: StorePlace): void {
  const { origin, founder, ledger_key } = pinned;
  const text = textOf({ origin, founder, ledger_key, store: store.where });
  replaceDurably(ledger_file, Buffer.from(text), 0o444);
}

function textOf(pinned: LedgerFile): string {
  return `${canonicalText({ format: FORMAT, ...pinned })}\n`;
}

export function readLedgerFile({ ledger_file }: Layout): LedgerFile {
  try {
    return parse(readRegularFile(ledger_file, limits.entry_bytes).bytes);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code === 'STORE_OLDER') throw error;
    const problem = error.code === 'FILE_NOT_FOUND' ? 'is missing' : `cannot be used: ${error.message}`;
    return refuse('LEDGER_UNPINNED', `${ledger_file} ${problem}`.replace(/\.*$/, '.'), { found: error.code });
  }
}

/** One text for one ledger: a file that was cut off or edited by hand is not in its one form. */
function parse(bytes: Uint8Array): LedgerFile {
  const value = parseJson(bytes, limits.entry_bytes);
  if (olderSchema.safeParse(value).success) refuse('STORE_OLDER');
  const parsed = fileSchema.safeParse(value);
  if (!parsed.success) refuse('SHAPE_INVALID', 'it is not the identity of a ledger');
  const { format: _, ...pinned } = parsed.data;
  if (textOf(pinned) !== Buffer.from(bytes).toString('utf8'))
    refuse('SHAPE_INVALID', 'it is not in its one form');
  return pinned;
}

/** Refuses any other ledger than the pinned one, and says what was expected and what was found. */
export function requirePinned({ store, ...expected }: LedgerFile, found: PinnedLedger): void {
  if (textOf({ ...expected, store }) === textOf({ ...found, store })) return;
  const facts = { expected: wordsOf(expected), found: wordsOf(found) };
  refuse(
    'LEDGER_FOREIGN',
    `The store holds another ledger. Expected ${facts.expected}; found ${facts.found}.`,
    facts,
  );
}

/** Asked before anything is connected to: an edited keyturn.yaml may name the host of an attacker. */
export function requirePinnedStore({ store: expected }: LedgerFile, { where: found }: StorePlace): void {
  if (expected === found) return;
  refuse(
    'STORE_ELSEWHERE',
    `The ledger of this project is in the store ${expected}; keyturn.yaml names ${found}.`,
    {
      expected,
      found,
    },
  );
}

function wordsOf({ origin, founder, ledger_key }: PinnedLedger): string {
  return `${origin}, founded by ${founder.name} (${keyFingerprint(founder.key)}), ledger key ${ledger_key}`;
}
