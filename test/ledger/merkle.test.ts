import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Digest, sha256 } from '../../src/canonical/digest.ts';
import {
  append,
  consistencyRanges,
  EMPTY_ROOT,
  EMPTY_TREE,
  hashRanges,
  inclusionRanges,
  nodeHash,
  rootOf,
  verifyConsistency,
  verifyInclusion,
} from '../../src/ledger/merkle.ts';
import { expectRefusal } from '../support/refusal.ts';
import { LEAVES, PATHS, PROOFS, ROOTS } from './rfc6962.ts';
import { inBatches } from './sample.ts';

const treeOf = (leaves: readonly Digest[]) => leaves.reduce((tree, leaf) => append(tree, leaf), EMPTY_TREE);

const inclusionProof = (index: number, leaves: readonly Digest[], size = leaves.length) =>
  hashRanges(inclusionRanges(index, size), size, inBatches(leaves, 3));

const consistencyProof = (old_size: number, leaves: readonly Digest[], size = leaves.length) =>
  hashRanges(consistencyRanges(old_size, size), size, inBatches(leaves, 3));

/** MTH, PATH and PROOF, copied from the definitions of RFC 6962 section 2.1, with whole lists and no streaming. */
const largestPowerBelow = (n: number) => 2 ** (Math.ceil(Math.log2(n)) - 1);

function MTH(D: readonly Digest[]): Digest {
  if (D.length === 0) return sha256('');
  if (D.length === 1) return D[0]!;
  const k = largestPowerBelow(D.length);
  const pair = `01${MTH(D.slice(0, k))}${MTH(D.slice(k))}`;
  return sha256(Buffer.from(pair, 'hex'));
}

function PATH(m: number, D: readonly Digest[]): Digest[] {
  if (D.length === 1) return [];
  const k = largestPowerBelow(D.length);
  return m < k
    ? [...PATH(m, D.slice(0, k)), MTH(D.slice(k))]
    : [...PATH(m - k, D.slice(k)), MTH(D.slice(0, k))];
}

function SUBPROOF(m: number, D: readonly Digest[], b: boolean): Digest[] {
  if (m === D.length) return b ? [] : [MTH(D)];
  const k = largestPowerBelow(D.length);
  return m <= k
    ? [...SUBPROOF(m, D.slice(0, k), b), MTH(D.slice(k))]
    : [...SUBPROOF(m - k, D.slice(k), false), MTH(D.slice(0, k))];
}

const manyLeaves = (count: number) => Array.from({ length: count }, (_, i) => sha256(`leaf ${i}`));
const sizes = fc.integer({ min: 1, max: 130 });

describe('the published vectors of RFC 6962', () => {
  it('give the same roots for 0 to 8 leaves', () => {
    for (const [size, root] of ROOTS.entries()) expect(rootOf(treeOf(LEAVES.slice(0, size)))).toBe(root);
    expect(EMPTY_ROOT).toBe(ROOTS[0]);
  });

  it.each(PATHS)('prove the inclusion of leaf %i in %i', async (index, size, path) => {
    expect(await inclusionProof(index, LEAVES, size)).toEqual(path);
    expect(verifyInclusion(LEAVES[index]!, index, { size, root: ROOTS[size]! }, path)).toBe(true);
  });

  it.each(PROOFS)('prove that %i grew to %i', async (old_size, size, path) => {
    const old = { size: old_size, root: ROOTS[old_size]! };
    expect(await consistencyProof(old_size, LEAVES, size)).toEqual(path);
    expect(verifyConsistency(old, { size, root: ROOTS[size]! }, path)).toBe(true);
  });
});

describe('the tree', () => {
  it('has the root of the recursive definition, leaf after leaf', () => {
    let tree = EMPTY_TREE;
    const leaves = manyLeaves(130);
    for (const [i, leaf] of leaves.entries()) {
      tree = append(tree, leaf);
      expect(rootOf(tree)).toBe(MTH(leaves.slice(0, i + 1)));
    }
  });

  it('keeps one peak for each bit of its size', () => {
    fc.assert(
      fc.property(sizes, (size) => {
        const bits = size.toString(2).replaceAll('0', '').length;
        expect(treeOf(manyLeaves(size)).frontier).toHaveLength(bits);
      }),
    );
  });

  it('can be laid down and taken up again at any size', () => {
    const leaves = manyLeaves(67);
    for (let at = 0; at <= leaves.length; at++) {
      const kept = JSON.parse(JSON.stringify(treeOf(leaves.slice(0, at))));
      const grown = leaves.slice(at).reduce((tree, leaf) => append(tree, leaf), kept);
      expect(rootOf(grown)).toBe(MTH(leaves));
    }
  });

  it('refuses a frontier that does not fit its size', async () => {
    const { frontier } = treeOf(manyLeaves(7));
    for (const size of [0, 4, 5, 8, 15])
      await expectRefusal('LEDGER_BROKEN', () => rootOf({ size, frontier }));
    await expectRefusal('LEDGER_BROKEN', () =>
      append({ size: 3, frontier: frontier.slice(0, 1) }, LEAVES[0]!),
    );
  });

  it('counts beyond 32 bits', () => {
    const size = 2 ** 40 + 1;
    const [left, right, leaf] = manyLeaves(3) as [Digest, Digest, Digest];
    const tree = append({ size, frontier: [left, right] }, leaf);
    expect(tree).toEqual({ size: size + 1, frontier: [left, nodeHash(right, leaf)] });
    expect(inclusionRanges(2 ** 40, size)).toEqual([[0, 2 ** 40]]);
    expect(consistencyRanges(2 ** 40, size)).toEqual([[2 ** 40, size]]);
  });

  it('refuses to hash what is not a digest', async () => {
    await expectRefusal('HASH_MALFORMED', () => nodeHash(LEAVES[0]!, 'zz'.repeat(32)));
    await expectRefusal('HASH_MALFORMED', () => nodeHash(LEAVES[0]!, LEAVES[0]!.slice(2)));
  });
});

describe('proofs', () => {
  it('are those of the recursive definitions, for every leaf and every size', async () => {
    const leaves = manyLeaves(33);
    for (let size = 1; size <= leaves.length; size++) {
      const D = leaves.slice(0, size);
      for (let m = 0; m < size; m++) {
        expect(await inclusionProof(m, leaves, size)).toEqual(PATH(m, D));
        expect(await consistencyProof(m + 1, leaves, size)).toEqual(SUBPROOF(m + 1, D, true));
      }
    }
  });

  it('come out of one pass when many are wanted', async () => {
    const leaves = manyLeaves(100);
    const indexes = [0, 1, 50, 98, 99];
    const wanted = [...indexes.map((index) => inclusionRanges(index, 100)), consistencyRanges(77, 100)];
    const hashes = await hashRanges(wanted.flat(), 100, inBatches(leaves));
    expect(hashes).toEqual([...indexes.flatMap((m) => PATH(m, leaves)), ...SUBPROOF(77, leaves, true)]);
  });

  it('verify for the leaf they prove, and for no other leaf, index, size or root', async () => {
    await fc.assert(
      fc.asyncProperty(sizes, fc.nat(), fc.nat(), async (size, pick, other) => {
        const leaves = manyLeaves(size);
        const index = pick % size;
        const path = PATH(index, leaves);
        const root = MTH(leaves);
        const verified = (i: number, n: number) =>
          verifyInclusion(leaves[index]!, i, { size: n, root }, path);
        expect(verified(index, size)).toBe(true);
        expect(verifyInclusion(sha256('other'), index, { size, root }, path)).toBe(false);
        expect(verifyInclusion(leaves[index]!, index, { size, root: sha256('other') }, path)).toBe(false);
        if (other % size !== index) expect(verified(other % size, size)).toBe(false);
        for (const bad of [size, -1, index + 0.5, Number.NaN, 2 ** 53])
          expect(verified(bad, size)).toBe(false);
        for (const bad of [index, 0, -1, 0.5, Number.NaN, 2 ** 53]) expect(verified(index, bad)).toBe(false);
      }),
    );
  });

  it('verify for the two trees they connect, and for no others', () => {
    fc.assert(
      fc.property(sizes, sizes, fc.nat({ max: 130 }), (a, b, other) => {
        const leaves = manyLeaves(Math.max(a, b));
        const old = { size: Math.min(a, b), root: MTH(leaves.slice(0, Math.min(a, b))) };
        const now = { size: leaves.length, root: MTH(leaves) };
        const path = SUBPROOF(old.size, leaves, true);
        expect(verifyConsistency(old, now, path)).toBe(true);
        expect(verifyConsistency({ ...old, root: sha256('other') }, now, path)).toBe(false);
        expect(verifyConsistency(old, { ...now, root: sha256('other') }, path)).toBe(false);
        if (old.size < now.size) expect(verifyConsistency(now, old, path)).toBe(false);
        // A proof folds the same way for some other sizes. What must never pass is an old root with a wrong size
        // that a head could carry, so compare with the true root of that size.
        if (other !== old.size && other >= 1 && other < now.size)
          expect(verifyConsistency({ size: other, root: old.root }, now, SUBPROOF(other, leaves, true))).toBe(
            false,
          );
      }),
    );
  });

  it('are refused when a node is missing, added, changed, swapped or written in upper case', () => {
    fc.assert(
      fc.property(fc.integer({ min: 5, max: 130 }), fc.nat(), fc.nat(), (size, pick, at) => {
        const leaves = manyLeaves(size);
        const now = { size, root: MTH(leaves) };
        const index = pick % size;
        const old = { size: index + 1, root: MTH(leaves.slice(0, index + 1)) };
        for (const bad of damaged(PATH(index, leaves), at))
          expect(verifyInclusion(leaves[index]!, index, now, bad)).toBe(false);
        for (const bad of damaged(SUBPROOF(old.size, leaves, true), at))
          expect(verifyConsistency(old, now, bad)).toBe(false);
      }),
    );
  });

  it('of growth from the empty tree are empty, and hold only for its own root', () => {
    const now = { size: 3, root: MTH(manyLeaves(3)) };
    expect(verifyConsistency({ size: 0, root: EMPTY_ROOT }, now, [])).toBe(true);
    expect(verifyConsistency({ size: 0, root: now.root }, now, [])).toBe(false);
    expect(verifyConsistency({ size: 0, root: EMPTY_ROOT }, now, [EMPTY_ROOT])).toBe(false);
  });

  it('are refused for a leaf or a root that is no digest', () => {
    const leaves = manyLeaves(3);
    const now = { size: 3, root: MTH(leaves) };
    expect(verifyInclusion('', 0, now, PATH(0, leaves))).toBe(false);
    expect(verifyConsistency({ size: 2, root: '' }, now, SUBPROOF(2, leaves, true))).toBe(false);
  });

  it('are not made for entries or sizes that do not exist', async () => {
    await expectRefusal('PROOF_INVALID', () => inclusionRanges(3, 3));
    await expectRefusal('PROOF_INVALID', () => inclusionRanges(-1, 3));
    await expectRefusal('PROOF_INVALID', () => consistencyRanges(4, 3));
    await expectRefusal('LEDGER_TRUNCATED', () => inclusionProof(0, manyLeaves(3), 4));
  });
});

/** Every way to spoil a path that has at least one node, and one way to spoil an empty one. */
function damaged(path: Digest[], pick: number): Digest[][] {
  const longer = [...path, sha256('other')];
  if (path.length === 0) return [longer];
  const at = pick % path.length;
  const other = (at + 1) % path.length;
  const swapped = path.with(at, path[other]!).with(other, path[at]!);
  return [
    longer,
    [sha256('other'), ...path],
    path.slice(1),
    path.slice(0, -1),
    path.with(at, sha256('other')),
    path.with(at, path[at]!.toUpperCase()),
    path.with(at, `${path[at]}00`),
    path.with(at, ''),
    ...(path.length > 1 ? [swapped] : []),
  ];
}
