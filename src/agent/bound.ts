import type { Json } from '../canonical/json.ts';
import { PLAN_ROLLBACK, placeholdersIn, type Simulation } from '../finder/simulation.ts';
import { notActive, type Simulation as Registered } from '../gate/simulation.ts';
import {
  type Bound,
  type BoundPart,
  differences,
  type EffectBound,
  effectDiffers,
  openBound,
  type SealedBound,
  sealBound,
} from '../journey/bound.ts';
import { boundEffect } from '../journey/bound-effect.ts';
import type { Effect } from '../journey/derived.ts';
import { didYouMean, type ReasonCode, Refusal, refuse } from '../refusal.ts';
import type { Tool } from '../tool/registry.ts';
import { toolNamed } from '../tool/select.ts';
import type { AgentContext } from './context.ts';
import type { Definition } from './plan.ts';
import { definitionOf } from './snapshot.ts';

/**
 * What an activation binds, from the registry, the files and the ledger as they are now, or the reason why this cannot be
 * activated. Activation, its screen and every dispatch ask here and nowhere else, so a dispatch demands what an activation
 * demanded. An undo is not held up by what would undo the undo.
 */
export async function boundOf(
  context: AgentContext,
  { simulation, digest }: Definition,
  is_undo = false,
  undo_is: readonly Registered['status'][] = ['Draft', 'Active'],
): Promise<SealedBound> {
  const { id, version, effect } = simulation;
  const effects = effectsOnce(context);
  return sealBound({
    format: 'keyturn-bound/1',
    simulation: id,
    version,
    definition: digest,
    effect: effect === undefined ? null : await effects({ simulation, digest }),
    steps: await boundSteps(context, effects, simulation),
    undone_by: is_undo ? null : await boundUndo(context, effects, simulation, undo_is),
  });
}

type Effects = (of: Definition) => Promise<EffectBound>;

/** Of one look: a simulation that is its own undo, or twice a step, is derived once. */
function effectsOnce(context: AgentContext): Effects {
  const derived = new Map<string, Promise<EffectBound>>();
  return ({ simulation, digest }) => {
    const known = derived.get(digest) ?? effectBound(context, simulation);
    derived.set(digest, known);
    return known;
  };
}

/** A tool call names a tool of the locked registry, parameters that it has, and all that it cannot do without. */
async function effectBound(context: AgentContext, simulation: Simulation): Promise<EffectBound> {
  const { effect, id } = simulation;
  if (effect === undefined) return refuse('SIMULATION_INVALID', `The simulation "${id}" has no effect.`);
  const [fault] = effectFaults(context, simulation);
  if (fault) throw fault;
  return boundEffect(
    context.journey,
    effect as Parameters<typeof boundEffect>[1],
    context.journey.registry(),
  );
}

/** Everything that is wrong with what a simulation runs, as far as the registry and its own text tell. */
export function effectFaults({ journey }: AgentContext, simulation: Simulation): Refusal[] {
  const { effect, id } = simulation;
  if (effect === undefined) return [];
  if ('tool' in effect) {
    const registry = journey.registry();
    const tool = registry.tools.get(effect.tool);
    return tool === undefined
      ? tried(() => void toolNamed(registry, effect.tool))
      : callFaults(simulation, tool, effect.arguments);
  }
  return [
    ...tried(() => requireTruth(simulation, 'a plan changes files')),
    ...tried(() => requireFixed(id, effect.plan)),
  ];
}

function tried(check: () => void): Refusal[] {
  try {
    check();
    return [];
  } catch (error) {
    if (error instanceof Refusal) return [error];
    throw error;
  }
}

function callFaults(simulation: Simulation, tool: Tool, given: Readonly<Record<string, Json>>): Refusal[] {
  const { name, parameters } = tool;
  const out = reachesOut(tool)
    ? tried(() => requireTruth(simulation, `the tool "${name}" can change what is outside its sandbox`))
    : [];
  const unknown = Object.keys(given).filter((one) => !Object.hasOwn(parameters, one));
  const missing = Object.entries(parameters).filter(
    ([one, { required, default: fallback }]) =>
      required && fallback === undefined && !Object.hasOwn(given, one),
  );
  return [
    ...out,
    ...unknown.map((one) => {
      const meant = didYouMean(one, Object.keys(parameters));
      return new Refusal('ARGUMENT_UNKNOWN', `The tool "${name}" has no parameter "${one}".${meant}`);
    }),
    ...missing.map(
      ([one]) => new Refusal('ARGUMENT_MISSING', `The simulation does not give "${one}" to "${name}".`),
    ),
  ];
}

function reachesOut({ sandbox }: Tool): boolean {
  return sandbox === 'none' || sandbox.network || sandbox.write.length > 0;
}

/** The attacker is an author who calls an effect harmless, so that no human is asked before it happens. */
function requireTruth({ id, side_effecting }: Simulation, why: string): void {
  if (!side_effecting)
    refuse('SIMULATION_INVALID', `"${id}" says that it is not side_effecting, and ${why}.`, {
      simulation: id,
    });
}

/**
 * A value of a user must not choose which program runs: then the human who activates could not see it. Text in a query is a
 * program, too, and so is what the plan writes before a file of SQL is read; values go into the parameters of a query.
 */
function requireFixed(id: string, plan: Readonly<Record<string, Json>>): void {
  const actions = (Array.isArray(plan.action_plan) ? plan.action_plan : []).filter(isObject);
  const isRead = actions.some((action) =>
    operationsOf(action).some(({ query_file }) => query_file !== undefined),
  );
  const fixed = actions.map((action) =>
    isRead && action.action_type !== 'SQL_EXECUTE' ? action : programNames(action),
  );
  if (placeholdersIn(fixed).length > 0)
    refuse('SIMULATION_INVALID', `"${id}" lets a field choose an action, a pipeline or SQL.`, {
      simulation: id,
    });
}

type Fields = Readonly<Record<string, Json>>;

function isObject(value: Json | undefined): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What an action is told may stand under `details`. */
function operationsOf({ operation }: Fields): Fields[] {
  return isObject(operation) ? [operation, operation.details].filter(isObject) : [];
}

function programNames(action: Fields): (Json | undefined)[] {
  const { action_type, target } = action;
  const runs = action_type === 'PIPELINE_RUN' ? [target] : [];
  const sql = operationsOf(action).flatMap(({ query, query_file }) => [query, query_file]);
  return [action_type, ...runs, ...sql];
}

/** A chain is made of links that hold: each step can be dispatched by itself. */
async function boundSteps(
  context: AgentContext,
  effects: Effects,
  { steps = [] }: Simulation,
): Promise<BoundPart[]> {
  const parts: BoundPart[] = [];
  for (const step of steps) parts.push((await partOf(context, effects, step.simulation, ['Active'])).part);
  return parts;
}

/**
 * What undoes it is registered, and gets all of its values from what it undoes. Two that undo each other are activated one after the other;
 * when one of them runs, the other could run as well.
 */
async function boundUndo(
  context: AgentContext,
  effects: Effects,
  simulation: Simulation,
  undo_is: readonly Registered['status'][],
): Promise<Bound['undone_by']> {
  const { rollback_plan_ref: ref, id, fields, steps } = simulation;
  if (ref === undefined) return null;
  if (ref === PLAN_ROLLBACK) return PLAN_ROLLBACK;
  const { part, simulation: undo } = await partOf(context, effects, ref, undo_is);
  const unknown = Object.entries(undo.fields).find(
    ([name, { type }]) => steps === undefined && fields[name]?.type !== type,
  );
  if (unknown)
    refuse('SIMULATION_INVALID', `"${ref}" needs the field "${unknown[0]}", which "${id}" has not.`);
  return part;
}

/** Another simulation as it was registered, not as its file says. */
async function partOf(
  context: AgentContext,
  effects: Effects,
  id: string,
  statuses: readonly Registered['status'][],
) {
  const known =
    (await context.journey.store.find('simulation', id)) ??
    refuse('SIMULATION_NOT_REGISTERED', undefined, { simulation: id });
  const code = notActive(known, {}, context.journey.clock().toISOString());
  // Where a draft will do, an activation that has expired does, too.
  const will_do = statuses.includes('Draft') && statuses.includes(known.status);
  if (code !== null && !(code === 'SIMULATION_NOT_ACTIVE' && will_do))
    refuse(code, code === 'SIMULATION_NOT_ACTIVE' ? inactive(known) : undefined, { simulation: id });
  const simulation = await definitionOf(context, known.definition);
  if (simulation.steps !== undefined)
    refuse('SIMULATION_INVALID', `"${id}" has steps, and neither a step nor an undo has any.`);
  const { version, definition } = known;
  const effect = await effects({ simulation, digest: definition });
  const part = { simulation: id, version, definition, effect };
  return { part, simulation };
}

function inactive({ simulation, status }: Registered): string {
  return status === 'Active'
    ? `The activation of "${simulation}" has expired.`
    : `"${simulation}" is ${status}.`;
}

/** A simulation beside its activation. */
export interface Held {
  readonly activated: string | null;
  /** Null when nothing could be derived: what activation demands is not so any more. */
  readonly found: string | null;
  /** In what they differ. Empty when what would run is what was activated. */
  readonly differs: readonly string[];
  /** What was found where it is not what was activated, so that the difference can be named later. */
  readonly bytes: Uint8Array | null;
}

export async function heldBy(
  context: AgentContext,
  activated: string | null,
  definition: Definition,
  is_undo: boolean,
): Promise<Held> {
  if (activated === null) return { activated, found: null, differs: ['nothing was activated'], bytes: null };
  try {
    const { digest, bytes } = await boundOf(context, definition, is_undo, ['Active']);
    if (digest === activated) return { activated, found: digest, differs: [], bytes: null };
    const differs = await differsFrom(context, activated, bytes, is_undo);
    return { activated, found: digest, differs, bytes };
  } catch (error) {
    if (!(error instanceof Refusal) || CANNOT_TELL.has(error.code)) throw error;
    return { activated, found: null, differs: [error.message], bytes: null };
  }
}

/** The store failed, which says nothing about the simulation. */
const CANNOT_TELL: ReadonlySet<ReasonCode> = new Set<ReasonCode>([
  'STORE_CORRUPT',
  'STORE_BUSY',
  'STORE_UNREACHABLE',
  'STORE_DENIED',
  'STORE_TLS',
]);

/** Pure but for the store: both values are objects, so that a replay names the same difference. */
export async function differsFrom(
  { journey }: AgentContext,
  activated: string,
  found: Uint8Array,
  is_undo: boolean,
): Promise<string[]> {
  const meant = openBound(await journey.store.object(activated));
  return differences(is_undo ? { ...meant, undone_by: null } : meant, openBound(found));
}

/**
 * The effect of the intent is that of what was activated. The attacker changes the tool after it was weighed and before the
 * intent is made. From here on the effect is fixed by the hash of the intent: what is claimed is compared with that.
 */
export async function requireActivated({ journey }: AgentContext, id: string, effect: Effect): Promise<void> {
  const activated = (await journey.store.find('simulation', id))?.bound ?? refuse('SIMULATION_NOT_ACTIVE');
  const bound = openBound(await journey.store.object(activated));
  const differs = bound.effect === null ? ['effect'] : effectDiffers(bound.effect, effect);
  if (differs.length > 0)
    refuse('ACTIVATION_DIFFERS', undefined, { differs: differs.map((one) => `effect.${one}`).join(', ') });
}
