import { type Digest, sha256 } from '../canonical/digest.ts';
import { canonicalBytes } from '../canonical/json.ts';
import type { Simulation as Registered } from '../gate/simulation.ts';
import { refuse } from '../refusal.ts';
import type { Tool } from '../tool/registry.ts';
import { toolNamed } from '../tool/select.ts';
import { type CatalogEntry, entryOf } from './catalog.ts';
import type { AgentContext } from './context.ts';
import { effectAction } from './intent.ts';
import { checkSamples } from './samples.ts';
import { PLAN_ROLLBACK, type Simulation } from './simulation.ts';
import type { Snapshot } from './snapshot.ts';

/** What was looked at before a status changed, as an object that the signed act names. */
export interface Proof {
  readonly bytes: Uint8Array;
  readonly digest: Digest;
}

export function proofOf(
  context: AgentContext,
  { catalog, policy, bundle }: Snapshot,
  { simulation, digest }: CatalogEntry,
  checked: Readonly<Record<string, string>>,
): Proof {
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

/** Everything that can be known before a simulation runs for the first time. The first thing that is wrong refuses. */
export function checkActivation(
  context: AgentContext,
  snapshot: Snapshot,
  { simulation }: CatalogEntry,
): Record<string, string> {
  return {
    ...(simulation.steps === undefined
      ? checkEffect(context, simulation)
      : checkSteps(snapshot, simulation.steps)),
    rollback: checkRollback(snapshot, simulation),
    questions: `${Object.keys(simulation.fields).length} fields, each with a question and its formats`,
    ...checkSamples(simulation),
  };
}

/** A tool call names a tool of the locked registry, parameters that it has, and all that it cannot do without. */
function checkEffect({ journey }: AgentContext, simulation: Simulation): Record<string, string> {
  const action = effectAction(journey, simulation);
  const { effect } = simulation;
  if (!effect || 'plan' in effect) {
    requireTruth(simulation, 'a plan changes files');
    return { effect: 'a plan', action };
  }
  const tool = toolNamed(journey.registry(), effect.tool);
  const { name, parameters } = tool;
  if (reachesOut(tool)) requireTruth(simulation, `the tool "${name}" can change what is outside its sandbox`);
  const unknown = Object.keys(effect.arguments).find((one) => !Object.hasOwn(parameters, one));
  if (unknown !== undefined) refuse('ARGUMENT_UNKNOWN', `The tool "${name}" has no parameter "${unknown}".`);
  const missing = Object.entries(parameters).find(
    ([one, { required, default: given }]) =>
      required && given === undefined && !Object.hasOwn(effect.arguments, one),
  );
  if (missing) refuse('ARGUMENT_MISSING', `The simulation does not give "${missing[0]}" to "${name}".`);
  return { effect: `the tool ${name}`, action };
}

function reachesOut({ sandbox }: Tool): boolean {
  return sandbox === 'none' || sandbox.network || sandbox.write.length > 0;
}

/** The attacker is an author who calls an effect harmless, so that nobody is asked before it happens. */
function requireTruth({ id, side_effecting }: Simulation, why: string): void {
  if (!side_effecting)
    refuse('SIMULATION_INVALID', `"${id}" says that it is not side_effecting, and ${why}.`, {
      simulation: id,
    });
}

/** A chain is made of links that hold: each step can be dispatched by itself. */
function checkSteps(
  { registered }: Snapshot,
  steps: NonNullable<Simulation['steps']>,
): Record<string, string> {
  for (const { simulation } of steps) requireStatus(registered, simulation, ['Active']);
  return { steps: steps.map(({ simulation }) => simulation).join(', ') };
}

/** What undoes it is registered, and gets all of its values from what it undoes. */
function checkRollback({ catalog, registered }: Snapshot, simulation: Simulation): string {
  const ref = simulation.rollback_plan_ref;
  if (ref === undefined) return 'none';
  if (ref === PLAN_ROLLBACK) return PLAN_ROLLBACK;
  requireStatus(registered, ref, ['Draft', 'Active']);
  const undo =
    entryOf(catalog, ref)?.simulation ?? refuse('SIMULATION_NOT_REGISTERED', undefined, { simulation: ref });
  if (undo.steps !== undefined)
    refuse('SIMULATION_INVALID', `"${ref}" has steps, and one step is undone by one simulation.`);
  const unknown = Object.entries(undo.fields).find(
    ([name, { type }]) => simulation.steps === undefined && simulation.fields[name]?.type !== type,
  );
  if (unknown)
    refuse(
      'SIMULATION_INVALID',
      `"${ref}" needs the field "${unknown[0]}", which "${simulation.id}" has not.`,
    );
  return `${ref}@${undo.version}`;
}

function requireStatus(
  registered: ReadonlyMap<string, Registered>,
  id: string,
  statuses: readonly Registered['status'][],
): void {
  const known = registered.get(id) ?? refuse('SIMULATION_NOT_REGISTERED', undefined, { simulation: id });
  if (!statuses.includes(known.status))
    refuse('SIMULATION_NOT_ACTIVE', `"${id}" is ${known.status}.`, { simulation: id });
}
