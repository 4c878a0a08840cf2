import { FoldedLedger } from '../fold/ledger.ts';
import type { Authorities } from '../identity/delegation.ts';
import { type VerifiedBundle, verifyBundle } from '../ledger/prove.ts';
import { requireContents } from '../story/contents.ts';
import { withDecisions } from './decided.ts';
import { founderIn, requireFounder, requireGenesis } from './ledger.ts';

export interface AuditProofOptions {
  readonly key: string;
  /** The key of the first human, from the owner of the ledger. */
  readonly founder?: string;
  /** The text of a head that was kept. */
  readonly kept?: string;
}

export interface AuditedProof extends VerifiedBundle {
  /** Who may sign after the last of its entries. */
  readonly authorities: Authorities;
}

/** Verifies a bundle offline: head, inclusion, the signature of every human in the story, and the objects. */
export function auditProof(bytes: Uint8Array, { founder, ...options }: AuditProofOptions): AuditedProof {
  const bundle = verifyBundle(bytes, options);
  const contents = withDecisions(requireContents(bundle.subject));
  const folded = new FoldedLedger({ is_whole: false, decided: contents.needs });
  for (const entry of bundle.entries) {
    folded.take(entry);
    contents.entry(entry);
  }
  requireGenesis(folded, bundle);
  const second = bundle.entries.find(({ seq }) => seq === 1);
  requireFounder(second ? founderIn(second) : null, founder);
  const audited = { ...bundle, authorities: folded.authorities };
  if (bundle.objects === null) return audited;
  for (const [digest, found] of bundle.objects) contents.object({ digest, bytes: found });
  contents.finish();
  return audited;
}
