import { type VerifiedExport, verifyExport } from '../ledger/export.ts';
import type { Head } from '../ledger/head.ts';
import { requireJudged } from '../ledger/segment.ts';
import { refuse } from '../refusal.ts';
import { requireContents } from '../story/contents.ts';
import { withDecisions } from './decided.ts';
import { type AuditedExport, type AuditOptions, DeepLook, requireFounder, requireGenesis } from './ledger.ts';
import type { Source } from './source.ts';

/**
 * Verifies the segments of one ledger together, in their order: each alone, and that it begins where the one before it ended. A deep
 * verification begins with the first entry of the ledger.
 */
export async function auditSegments(
  sources: readonly Source<Uint8Array>[],
  { founder: expected, deep = true, ...options }: AuditOptions = {},
): Promise<AuditedExport> {
  let decisions = withDecisions(requireContents());
  const look = new DeepLook(null, (needed, seq) => decisions.needs(needed, seq));
  const verified: VerifiedExport[] = [];
  for (const source of sources) {
    decisions = withDecisions(requireContents());
    const after = verified.at(-1);
    verified.push(
      await verifyExport(typeof source === 'function' ? source() : source, {
        ...options,
        deep,
        inspect: look.take,
        contents: decisions,
        ...(after && { after }),
      }),
    );
  }
  const last = verified.at(-1) ?? refuse('EXPORT_MALFORMED', 'There is no segment.');
  requireJudged(last.unjudged.filter((head) => verified.every((one) => one.unjudged.some(isSame(head)))));
  const together = { ...last, from: verified[0]!.from, objects: objectsIn(verified), unjudged: [] };
  if (!deep) return { ...together, founder: null };
  requireGenesis(look.folded, last);
  return { ...together, founder: requireFounder(look.founder, expected) };
}

const isSame = (head: Head) => (other: Head) => other.size === head.size && other.root === head.root;

/** Null where one of the files was written without. */
function objectsIn(verified: readonly VerifiedExport[]): VerifiedExport['objects'] {
  let sum = { stored: 0, erased: 0 };
  for (const { objects } of verified) {
    if (objects === null) return null;
    sum = { stored: sum.stored + objects.stored, erased: sum.erased + objects.erased };
  }
  return sum;
}
