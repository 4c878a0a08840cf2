import { type Digest, sha256 } from '../canonical/digest.ts';
import { canonicalBytesOfParsed, type Json } from '../canonical/json.ts';
import type { Body } from '../event/event.ts';
import { IDEMPOTENCY_RECIPE_REF } from '../finder/packet.ts';
import { needsConfirmation, type Risk, type Simulation } from '../finder/simulation.ts';
import type { AgentExecutionPlan, AgentStep } from './contracts.ts';
import { checkedValues, filled, fingerprintOf, listOf, type Values } from './fields.ts';

/** A simulation as it was registered. */
export interface Definition {
  readonly simulation: Simulation;
  readonly digest: Digest;
}

/** One simulation to dispatch, with its values. */
export interface Part {
  readonly definition: Definition;
  readonly values: Values;
  /** The name of its step, where that does not follow from its place: see `undoStepId`. */
  readonly step_id?: Digest;
}

export interface AgentPlanInputs {
  readonly correlation_id: string;
  /** What the finder named. */
  readonly named: Definition;
  readonly parts: readonly Part[];
  readonly rolls_back: Digest | null;
  readonly finder_packet_ref: Digest;
  /** What the packet asks for on top of the definitions. A packet can ask for more care, never for less. */
  readonly packet: { readonly confirm_required: boolean; readonly risk_tier: Risk } | null;
  readonly policy_snapshot_ref: Digest;
  readonly catalog_snapshot_ref: Digest;
  readonly artifact_fingerprint_bundle_ref: Digest;
  readonly now: Date;
}

/** The simulation itself, or one part for each step of a template. `definitionOf` knows what the steps name. */
export function partsOf(
  named: Definition,
  values: Values,
  definitionOf: (id: string) => Definition,
): readonly Part[] {
  const { steps } = named.simulation;
  if (steps === undefined) return [{ definition: named, values }];
  return steps.map(({ simulation, fields }) => {
    const definition = definitionOf(simulation);
    return { definition, values: checkedValues(definition.simulation, filled(fields, values) as Values) };
  });
}

/** Pure and deterministic: of the same inputs the same plan, but for the time. */
export function agentPlanOf(inputs: AgentPlanInputs): AgentExecutionPlan {
  const { named, parts, packet } = inputs;
  const ordered_steps = parts.map((part, place) => stepOf(inputs, part, place));
  const unnamed = {
    format: 'keyturn-agent-plan/1' as const,
    correlation_id: inputs.correlation_id,
    simulation_id: named.simulation.id,
    simulation_version: named.simulation.version,
    definition: named.digest,
    rolls_back: inputs.rolls_back,
    finder_packet_ref: inputs.finder_packet_ref,
    ordered_steps,
    required_confirmations: ordered_steps
      .filter((step) => step.confirmation_required)
      .map(({ step_id }) => step_id),
    risk_level: highest([
      packet?.risk_tier ?? 'LOW',
      named.simulation.risk,
      ...parts.map(({ definition }) => definition.simulation.risk),
    ]),
    access_actions_required: accessActionsOf(inputs, ordered_steps),
    policy_snapshot_ref: inputs.policy_snapshot_ref,
    catalog_snapshot_ref: inputs.catalog_snapshot_ref,
    artifact_fingerprint_bundle_ref: inputs.artifact_fingerprint_bundle_ref,
  };
  return { plan_id: digestOf(unnamed), created_at: inputs.now.toISOString(), ...unnamed };
}

/** That of what was asked for, and those of what runs. */
function accessActionsOf({ named, rolls_back }: AgentPlanInputs, steps: readonly AgentStep[]): string[] {
  const asked = rolls_back === null ? [named.simulation.access_action] : [];
  return [...new Set([...asked, ...steps.map(({ access_action }) => access_action)])];
}

/**
 * The step that undoes a step. Each attempt has a name of its own, because the idempotency key of a step is spent once:
 * after a no or a failure a human may try again, and one attempt cannot be mistaken for another.
 */
export function undoStepId(undone: {
  readonly correlation_id: string;
  readonly plan_id: Digest;
  readonly step_id: Digest;
  /** How many plans to undo it came before. */
  readonly attempt: number;
}): Digest {
  const { correlation_id, plan_id, step_id, attempt } = undone;
  return digestOf({ format: 'keyturn-agent-undo-step/1', correlation_id, plan_id, step_id, attempt });
}

function stepOf(inputs: AgentPlanInputs, part: Part, place: number): AgentStep {
  const { definition, values } = part;
  const { simulation, digest } = definition;
  const placed = () =>
    digestOf({
      format: 'keyturn-agent-step/1',
      correlation_id: inputs.correlation_id,
      named: inputs.named.simulation.id,
      rolls_back: inputs.rolls_back,
      place,
      simulation_id: simulation.id,
    });
  return {
    step_id: part.step_id ?? placed(),
    simulation_id: simulation.id,
    simulation_version: simulation.version,
    definition: digest,
    required_fields: listOf(values),
    required_fields_fingerprint: fingerprintOf(values),
    policy_snapshot_version: inputs.policy_snapshot_ref,
    artifact_fingerprint_bundle_ref: inputs.artifact_fingerprint_bundle_ref,
    confirmation_required: needsConfirmation(simulation) || (place === 0 && asksForCare(inputs)),
    impactful: simulation.impactful,
    access_action: simulation.access_action,
    idempotency_key_recipe: IDEMPOTENCY_RECIPE_REF,
    retry_policy: 'human',
    rollback_plan_ref: simulation.rollback_plan_ref ?? null,
  };
}

/** The finder can ask for a yes, and so can a template whose steps would need none: it is asked for before the first. */
function asksForCare({ packet, named, rolls_back }: AgentPlanInputs): boolean {
  return (packet?.confirm_required ?? false) || (rolls_back === null && needsConfirmation(named.simulation));
}

const RISKS: readonly Risk[] = ['LOW', 'MEDIUM', 'HIGH'];

function highest(risks: readonly Risk[]): Risk {
  return RISKS[Math.max(...risks.map((risk) => RISKS.indexOf(risk)))]!;
}

/** The recipe of 003 section 9, and nothing else. */
export function idempotencyKey(correlation_id: string, step: AgentStep): Digest {
  const { step_id, simulation_id, required_fields_fingerprint, policy_snapshot_version } = step;
  return digestOf([
    correlation_id,
    step_id,
    simulation_id,
    required_fields_fingerprint,
    policy_snapshot_version,
  ]);
}

export function digestOf(value: Json): Digest {
  return sha256(canonicalBytesOfParsed(value));
}

export type Refs = Body<'agent.moved'>['refs'];

/** What every move of a plan names, before there is a decision or an answer. */
export function refsOf(plan: AgentExecutionPlan, step: AgentStep | null): Refs {
  return {
    finder_packet_ref: plan.finder_packet_ref,
    policy_snapshot_ref: plan.policy_snapshot_ref,
    catalog_snapshot_ref: plan.catalog_snapshot_ref,
    artifact_fingerprint_bundle_ref: plan.artifact_fingerprint_bundle_ref,
    access_decision_ref: null,
    confirmation_parse_proof_ref: null,
    rollback_plan_ref: step?.rollback_plan_ref ?? null,
  };
}
