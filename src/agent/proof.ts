import { type Digest, sha256 } from '../canonical/digest.ts';
import { canonicalBytes } from '../canonical/json.ts';
import type { CatalogEntry } from '../finder/catalog.ts';
import { PLAN_ROLLBACK } from '../finder/simulation.ts';
import type { Bound } from '../journey/bound.ts';
import type { AgentContext } from './context.ts';
import { effectAction } from './intent.ts';
import { checkSamples } from './samples.ts';
import type { Snapshot } from './snapshot.ts';

/** What was looked at before a status changed, as an object that the signed act names. */
export interface ActivationProof {
  readonly bytes: Uint8Array;
  readonly digest: Digest;
}

export function proofOf(
  context: AgentContext,
  { catalog, policy, bundle }: Snapshot,
  { simulation, digest }: CatalogEntry,
  checked: Readonly<Record<string, string>>,
): ActivationProof {
  const bytes = canonicalBytes({
    format: 'keyturn-simulation-proof/1',
    simulation: simulation.id,
    version: simulation.version,
    definition: digest,
    catalog: catalog.digest,
    policies: policy,
    artifacts: bundle,
    registry: context.journey.registry().digest,
    checked,
  });
  return { bytes, digest: sha256(bytes) };
}

/** What was looked at, in words for the reader of the proof. */
export function checkedOf(
  context: AgentContext,
  { simulation }: CatalogEntry,
  { effect, steps, undone_by }: Bound,
): Record<string, string> {
  const does =
    effect === null
      ? { steps: steps.map((step) => step.simulation).join(', ') }
      : {
          effect: effect.kind === 'tool' ? `the tool ${effect.tool}` : 'a plan',
          action: effectAction(context.journey, simulation),
        };
  return {
    ...does,
    rollback: undoWords(undone_by),
    questions: `${Object.keys(simulation.fields).length} fields, each with a question and its formats`,
    ...checkSamples(simulation),
  };
}

function undoWords(undone_by: Bound['undone_by']): string {
  if (undone_by === null || undone_by === PLAN_ROLLBACK) return undone_by ?? 'none';
  return `${undone_by.simulation}@${undone_by.version}`;
}
