import { type Digest, isDigest } from '../canonical/digest.ts';
import { canonicalText, type JsonObject } from '../canonical/json.ts';
import { refuse } from '../refusal.ts';
import { GENESIS } from './entry.ts';
import { openHead } from './head.ts';
import { rootOf, type Tree, type TreeRoot, verifyConsistency } from './merkle.ts';
import type { VerifierKey } from './note.ts';
import { readCanonical } from './strict.ts';

/**
 * A part of a ledger, in the form of an export: where it begins and ends stands in its first line. Its last line shows that its entries
 * are the ones beneath a signed head, which was made when the part was written and may know more entries.
 */
export const SEGMENT_FORMAT = 'keyturn-segment/1';

/** The tree of the entries before a part, and the hash of the last of them. */
export interface SegmentBeginning extends Tree {
  readonly last: Digest;
}

export const WHOLE: SegmentBeginning = { size: 0, frontier: [], last: GENESIS };

/** The entries from the beginning up to `to`, without it. */
export interface SegmentPart {
  readonly begin: SegmentBeginning;
  readonly to: number;
}

export const PART_FIELDS = ['from', 'frontier', 'prev', 'to'] as const;

export function partFields({ begin, to }: SegmentPart): JsonObject {
  return { from: begin.size, frontier: [...begin.frontier], prev: begin.last, to };
}

/** That the frontier is right, the head tells in the end: no other one leads to its root. */
export function partOf({ from, frontier, prev, to }: JsonObject): SegmentPart {
  if (!isCount(from) || !isCount(to) || to <= from) malformed('The first line names no range of entries.');
  if (!isHash(prev) || !Array.isArray(frontier) || !frontier.every(isHash))
    malformed('The first line does not say what the segment follows.');
  if (frontier.length !== peaksOf(from) || (from === 0 && prev !== GENESIS))
    malformed('What the segment follows does not have the size that it says.');
  return { begin: { size: from, frontier, last: prev }, to };
}

function isHash(value: unknown): value is Digest {
  return typeof value === 'string' && isDigest(value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function peaksOf(size: number): number {
  return [...size.toString(2)].filter((bit) => bit === '1').length;
}

const END = '{"consistency":';

export function endLine(consistency: readonly Digest[], head: string): string {
  return canonicalText({ consistency: [...consistency], head });
}

export function isEndLine(text: Buffer): boolean {
  return text.toString('latin1', 0, END.length) === END;
}

export interface SegmentEnd {
  readonly head: ReturnType<typeof openHead>;
  readonly consistency: readonly Digest[];
}

export function segmentEnd(text: Buffer, key: VerifierKey): SegmentEnd {
  const { consistency, head } = readCanonical(text, ['consistency', 'head'], 'EXPORT_MALFORMED');
  if (typeof head !== 'string' || !Array.isArray(consistency) || !consistency.every(isHash))
    malformed('The last line is not a head with a proof.');
  return { head: openHead(head, key), consistency };
}

/** Refuses entries that are not all of those that the first line names, or not those beneath the head. */
export function requireBeneath(tree: Tree, to: number, { head, consistency }: SegmentEnd): void {
  if (tree.size < to) refuse('LEDGER_TRUNCATED', 'Entries of the segment are missing.', { to });
  if (tree.size > to) malformed('There are more entries than the first line says.');
  if (!verifyConsistency({ size: to, root: rootOf(tree) }, head, consistency))
    refuse('LEDGER_FORKED', 'The entries are not those beneath the head.');
}

/** Of two files that follow each other, the second begins where the first ended. */
export function requireFollows(before: SegmentBeginning, { begin }: SegmentPart): void {
  if (begin.size < before.size)
    refuse('SEGMENT_ORDER', `Entries from ${begin.size} on come after entry ${before.size - 1}.`);
  if (begin.size > before.size)
    refuse('SEGMENT_MISSING', `Entries ${before.size} to ${begin.size - 1} are missing.`);
  if (begin.last !== before.last || rootOf(begin) !== rootOf(before))
    refuse('LEDGER_FORKED', 'The segment follows other entries.');
}

/** A kept head that a part says nothing about cannot be passed over: the caller who named it would believe that it was compared. */
export function requireJudged(kept: readonly TreeRoot[]): void {
  const [first] = kept;
  if (first)
    refuse('SEGMENT_MISSING', `The kept head of ${first.size} entries lies outside of what is here.`, {
      size: first.size,
    });
}

function malformed(message: string): never {
  return refuse('EXPORT_MALFORMED', message);
}
