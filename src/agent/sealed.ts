import { type Digest, sha256 } from '../canonical/digest.ts';
import { canonicalBytes } from '../canonical/json.ts';
import type { Line } from '../display/shown.ts';
import type { Simulation } from '../finder/simulation.ts';
import { type Bound, sealBound } from '../journey/bound.ts';
import { type BoundSection, showBound } from '../journey/bound-shown.ts';
import { refuse } from '../refusal.ts';
import {
  approvesByDelegation,
  consentLines,
  definitionLines,
  delegatedActions,
  effectSections,
} from './shown.ts';

/** What a human signs about a simulation, made again where they look. What is drawn is what the digests cover. */

export interface SealedSimulation {
  readonly digest: Digest;
  readonly lines: readonly Line[];
  readonly sections: readonly BoundSection[];
}

export function sealedSimulation(definition: object, status: string): SealedSimulation {
  const simulation = definition as Simulation;
  return {
    digest: sha256(canonicalBytes(definition)),
    lines: definitionLines(simulation, status),
    sections: effectSections(simulation),
  };
}

export interface SealedActivation {
  readonly bound: Digest;
  /** What it delegates to the agent core, and whether that runs on the yes of a user. */
  readonly actions: readonly string[];
  readonly approves: boolean;
  readonly consent: readonly Line[];
  readonly sections: readonly BoundSection[];
}

/** Refused where what is bound is not this definition. */
export function sealedActivation(definition: object, value: Bound): SealedActivation {
  const simulation = definition as Simulation;
  const { id, version } = simulation;
  const { digest } = sealedSimulation(definition, '');
  if (value.simulation !== id || value.version !== version || value.definition !== digest)
    refuse('ACT_OTHER', 'The service binds another simulation than it shows.');
  return {
    bound: sealBound(value).digest,
    actions: delegatedActions(value),
    approves: approvesByDelegation(simulation),
    consent: consentLines(simulation, value),
    sections: showBound(value),
  };
}
