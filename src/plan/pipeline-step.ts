import { type Digest, sha256 } from '../canonical/digest.ts';
import { canonicalBytes } from '../canonical/json.ts';
import type { Effect } from '../tool/effect.ts';

/** One step of a pipeline: a call of a tool whose arguments are fixed in the registry, or a file of SQL. */
export type PipelineStep = Effect | SqlStep;

export interface SqlStep {
  readonly kind: 'sql';
  readonly file: string;
  readonly sha256: Digest;
  readonly database: string;
}

export function stepDigest(step: PipelineStep): Digest {
  return sha256(canonicalBytes({ ...step }));
}
