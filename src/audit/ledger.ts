import { parseEvent } from '../event/event.ts';
import type { NeededDecision } from '../fold/decided.ts';
import type { IssuedToken } from '../fold/issued.ts';
import { FoldedLedger, type Keeps } from '../fold/ledger.ts';
import type { Authorities } from '../identity/delegation.ts';
import type { Entry, SealedEntry } from '../ledger/entry.ts';
import { type Contents, type VerifiedExport, verifyExport } from '../ledger/export.ts';
import { type Head, keyFingerprint } from '../ledger/head.ts';
import type { TreeRoot } from '../ledger/merkle.ts';
import { requireJudged } from '../ledger/segment.ts';
import { LedgerVerifier, type VerifiedLedger } from '../ledger/verify.ts';
import { refuse } from '../refusal.ts';
import { requireContents } from '../story/contents.ts';
import { withDecisions } from './decided.ts';
import { readAgain, type Source } from './source.ts';

/** The first human of a ledger, on whose key every other one rests. */
export interface Founder {
  readonly name: string;
  readonly key: string;
}

export interface AuditOptions {
  /** The fingerprint of the ledger key, or its verifier key, from the owner of the ledger. Without it a file vouches for itself. */
  readonly key?: string;
  /** The key of the first human, from the owner of the ledger. */
  readonly founder?: string;
  /** The texts of heads that were kept: the ledger must go through each of them. */
  readonly kept?: readonly string[];
  /** Also the canonical form, every signature, and whether a commit could have written each entry. True unless told. */
  readonly deep?: boolean;
}

export interface AuditedExport extends VerifiedExport {
  /** Null where the verification was not deep. */
  readonly founder: Founder | null;
}

/** The same, with who may sign after its last entry; null where the verification was not deep. */
export interface JudgedExport {
  readonly verified: AuditedExport;
  readonly authorities: Authorities | null;
}

/**
 * Verifies an export from its bytes, such as a file or the body of an answer: chain, Merkle root, head, objects, every signature, and
 * that a commit could have written each entry after those before it.
 */
export async function auditExport(
  source: Source<Uint8Array>,
  options: AuditOptions = {},
): Promise<AuditedExport> {
  const { verified } = await readAgain(source, (chunks, keeps) =>
    auditContents(chunks, options, requireContents(), keeps),
  );
  return verified;
}

/** One reading of it, with `contents` shown every entry and every object. */
export async function auditContents(
  chunks: AsyncIterable<Uint8Array>,
  { founder: expected, deep = true, ...options }: AuditOptions,
  contents: Contents,
  keeps: Keeps | null,
): Promise<JudgedExport> {
  const decisions = withDecisions(contents);
  const look = new DeepLook(keeps, decisions.needs);
  const verified = await verifyExport(chunks, {
    ...options,
    deep,
    inspect: look.take,
    contents: decisions,
  });
  requireJudged(verified.unjudged);
  if (!deep) return { verified: { ...verified, founder: null }, authorities: null };
  requireGenesis(look.folded, verified);
  const { authorities } = look.folded;
  const founder = requireFounder(look.founder, expected);
  return { verified: { ...verified, founder }, authorities };
}

/** Where a verification has the objects, it looks at the decisions that entries rest on, and at the tokens that they issue. */
export interface Decisions {
  needs(needed: NeededDecision, seq: number): void;
  issues(token: IssuedToken, seq: number): void;
  /** Looks at what the last batch needs. */
  look(): Promise<void>;
}

export interface AuditEntriesOptions {
  readonly tenant?: string;
  readonly kept?: readonly TreeRoot[];
  readonly deep?: boolean;
  /** Asked for once for each reading. */
  readonly decisions?: () => Decisions;
}

/** The same for entries that no export and no head encloses, in batches from the first one on. */
export function auditEntries(
  source: Source<readonly SealedEntry[]>,
  options: AuditEntriesOptions = {},
): Promise<VerifiedLedger> {
  return readAgain(source, (batches, keeps) => auditBatches(batches, options, keeps));
}

async function auditBatches(
  batches: AsyncIterable<readonly SealedEntry[]>,
  { decisions: make, deep = true, ...options }: AuditEntriesOptions,
  keeps: Keeps | null,
): Promise<VerifiedLedger> {
  const decisions = make?.();
  const { take } = new DeepLook(
    keeps,
    decisions && ((needed, seq) => decisions.needs(needed, seq)),
    decisions && ((token, seq) => decisions.issues(token, seq)),
  );
  const verifier = new LedgerVerifier({ ...options, deep, inspect: take });
  for await (const batch of batches) {
    verifier.feed(batch);
    await decisions?.look();
  }
  return verifier.finish();
}

/** What a deep verification asks of each entry: the fold, over the whole ledger. */
export class DeepLook {
  readonly folded: FoldedLedger;
  founder: Founder | null = null;

  constructor(keeps: Keeps | null, decided?: Decisions['needs'], issued?: Decisions['issues']) {
    this.folded = new FoldedLedger({
      is_whole: true,
      ...(keeps && { keeps }),
      ...(decided && { decided }),
      ...(issued && { issued }),
    });
  }

  readonly take = (entry: Entry): void => {
    this.folded.take(entry);
    if (entry.seq === 1) this.founder = founderIn(entry);
  };
}

/** The second entry enrols the first human: the fold takes no other one. */
export function founderIn(entry: Entry): Founder | null {
  const { kind, subject, body } = parseEvent(entry);
  return kind === 'key.enrolled' && body.credential
    ? { name: subject, key: body.credential.public_key }
    : null;
}

export function requireFounder(founder: Founder | null, expected: string | undefined): Founder | null {
  if (expected !== undefined && founder?.key !== expected)
    refuse('LEDGER_FOREIGN', 'The first human of this ledger has another key.', { key: founder?.key ?? '' });
  return founder;
}

/** The first entry names the ledger and the key of its heads: both must be those of the head that was verified. */
export function requireGenesis(
  { system }: FoldedLedger,
  { head, fingerprint: key }: { head: Head; fingerprint: string },
): void {
  if (head.origin !== system.origin) refuse('LEDGER_FORKED', 'The head belongs to another ledger.');
  if (keyFingerprint(system.ledger_key) !== key)
    refuse('HEAD_SIGNATURE_INVALID', 'The head is signed by another key.');
}
