import { type Digest, isDigest, sha256 } from '../canonical/digest.ts';
import { refuse } from '../refusal.ts';

/**
 * The Merkle tree of RFC 6962 over leaf hashes.
 *
 * Proofs are written down as the RFC defines them, by recursion over ranges of leaves. A proof is the list of hashes of
 * certain ranges; the prover fills the list in one pass, and the verifier folds it. Both follow the same list of ranges,
 * so a proof that is too short, too long or for another size fits nothing.
 */

/** A tree that remembers only its peaks: the roots of its complete subtrees, the tallest and leftmost first. */
export interface Tree {
  readonly size: number;
  readonly frontier: readonly Digest[];
}

/** What a head says about a tree. */
export interface TreeRoot {
  readonly size: number;
  readonly root: Digest;
}

/** The leaves `from` to `to`, without `to`. */
type Range = readonly [from: number, to: number];

type Visit = (from: number, to: number, node: Digest) => void;

export const EMPTY_TREE: Tree = { size: 0, frontier: [] };
export const EMPTY_ROOT: Digest = sha256('');

export function nodeHash(left: Digest, right: Digest): Digest {
  const bytes = Buffer.from(`01${left}${right}`, 'hex');
  // Buffer.from stops in silence at the first character that is not hexadecimal.
  if (bytes.length !== 65) refuse('HASH_MALFORMED');
  return sha256(bytes);
}

/** The tree with one more leaf. `visit` sees every complete subtree that the leaf finishes. */
export function append(tree: Tree, leaf: Digest, visit?: Visit): Tree {
  const size = tree.size + 1;
  const frontier = tree.frontier.slice();
  let node = leaf;
  visit?.(tree.size, size, node);
  // While the last peak is as tall as the new node, the two become one.
  for (let width = 2; size % width === 0; width *= 2) {
    node = nodeHash(frontier.pop() ?? misfit(), node);
    visit?.(size - width, size, node);
  }
  frontier.push(node);
  return { size, frontier };
}

export function rootOf(tree: Tree): Digest {
  let root = EMPTY_ROOT;
  visitSuffixes(tree, (_from, _to, node) => {
    root = node;
  });
  return root;
}

/** Folds the peaks from the right: the hash of each range that begins at a peak and ends with the tree. */
function visitSuffixes({ size, frontier }: Tree, visit: Visit): void {
  let from = size;
  let suffix: Digest | null = null;
  for (const peak of frontier.toReversed()) {
    from -= lowestBit(from);
    suffix = suffix === null ? peak : nodeHash(peak, suffix);
    visit(from, size, suffix);
  }
  if (from !== 0) misfit();
}

function misfit(): never {
  return refuse('LEDGER_BROKEN', 'The Merkle frontier does not fit the size of the ledger.');
}

/** The width of the smallest peak of a tree of this size. */
function lowestBit(size: number): number {
  if (size === 0) misfit();
  let bit = 1;
  while (size % (bit * 2) === 0) bit *= 2;
  return bit;
}

/** PATH(index, D[size]) of RFC 6962 section 2.1.1: the siblings on the way from the leaf up to the root. */
export function inclusionRanges(index: number, size: number): Range[] {
  if (!isIndex(size) || !isIndex(index) || index >= size)
    refuse('PROOF_INVALID', `A ledger of ${size} entries has no entry ${index}.`);
  return pathRanges(index, 0, size);
}

function pathRanges(index: number, from: number, to: number): Range[] {
  if (to - from === 1) return [];
  const middle = from + split(to - from);
  return index < middle
    ? [...pathRanges(index, from, middle), [middle, to]]
    : [...pathRanges(index, middle, to), [from, middle]];
}

/** PROOF(old_size, D[size]) of RFC 6962 section 2.1.2. The empty tree and the tree itself need no proof. */
export function consistencyRanges(old_size: number, size: number): Range[] {
  if (!isIndex(size) || !isIndex(old_size) || old_size > size)
    refuse('PROOF_INVALID', `A ledger of ${size} entries never had ${old_size}.`);
  return old_size === 0 ? [] : subproofRanges(old_size, 0, size, true);
}

function subproofRanges(old_size: number, from: number, to: number, is_old_root: boolean): Range[] {
  if (old_size === to) return is_old_root ? [] : [[from, to]];
  const middle = from + split(to - from);
  return old_size <= middle
    ? [...subproofRanges(old_size, from, middle, is_old_root), [middle, to]]
    : [...subproofRanges(old_size, middle, to, false), [from, middle]];
}

/** The largest power of two that is smaller than n. */
function split(n: number): number {
  let k = 1;
  while (k * 2 < n) k *= 2;
  return k;
}

function isIndex(n: number): boolean {
  return Number.isSafeInteger(n) && n >= 0;
}

/**
 * The hashes of the ranges of a proof, or of many, in one pass over the leaves. Memory grows with the ranges and with
 * log(size). A range of a proof is a complete subtree or reaches to the end of the tree, and both are seen on the way.
 */
export async function hashRanges(
  ranges: readonly Range[],
  size: number,
  leaves: AsyncIterable<readonly Digest[]>,
): Promise<Digest[]> {
  const hashes = new Map<string, Digest | null>(ranges.map(([from, to]) => [`${from}-${to}`, null]));
  const visit: Visit = (from, to, node) => {
    const range = `${from}-${to}`;
    if (hashes.has(range)) hashes.set(range, node);
  };
  visitSuffixes(await grow(size, leaves, visit), visit);
  return ranges.map(([from, to]) => hashes.get(`${from}-${to}`) ?? refuse('INTERNAL', 'No such range.'));
}

async function grow(size: number, leaves: AsyncIterable<readonly Digest[]>, visit: Visit): Promise<Tree> {
  let tree = EMPTY_TREE;
  if (size === 0) return tree;
  for await (const batch of leaves) {
    for (const leaf of batch) {
      tree = append(tree, leaf, visit);
      if (tree.size === size) return tree;
    }
  }
  return refuse('LEDGER_TRUNCATED', `The ledger has ${tree.size} entries, and the head says ${size}.`);
}

/** Does this leaf stand at this index of the tree with this root? */
export function verifyInclusion(
  leaf: Digest,
  index: number,
  { size, root }: TreeRoot,
  path: readonly Digest[],
): boolean {
  if (!isIndex(size) || !isIndex(index) || index >= size || !isDigest(leaf)) return false;
  const ranges = inclusionRanges(index, size);
  if (!fits(path, ranges)) return false;
  let node = leaf;
  for (const [i, [from]] of ranges.entries()) {
    const sibling = path[i]!;
    node = from > index ? nodeHash(node, sibling) : nodeHash(sibling, node);
  }
  return node === root;
}

/** Is the old tree the beginning of the new one? */
export function verifyConsistency(old: TreeRoot, now: TreeRoot, path: readonly Digest[]): boolean {
  if (!isIndex(old.size) || !isIndex(now.size) || old.size > now.size || !isDigest(old.root)) return false;
  const ranges = consistencyRanges(old.size, now.size);
  if (!fits(path, ranges)) return false;
  if (old.size === now.size) return old.root === now.root;
  if (old.size === 0) return old.root === EMPTY_ROOT;
  // Both roots are built from the last peak of the old tree. When that peak is the old root, the proof leaves it out.
  let before = old.root;
  let after = old.root;
  for (const [i, [from, to]] of ranges.entries()) {
    const node = path[i]!;
    if (to === old.size) before = after = node;
    else if (from >= old.size) after = nodeHash(after, node);
    else [before, after] = [nodeHash(node, before), nodeHash(node, after)];
  }
  return before === old.root && after === now.root;
}

function fits(path: readonly Digest[], ranges: readonly Range[]): boolean {
  return path.length === ranges.length && path.every(isDigest);
}
