import { type AgentPlan, type AgentState, isOver } from '../gate/agent-state.ts';
import { refuse } from '../refusal.ts';
import { advance } from './advance.ts';
import type { AgentAnswer } from './answer.ts';
import { type AgentContext, requireCorrelation } from './context.ts';
import { type AgentExecutionPlan, type AgentStep, plans } from './contracts.ts';
import { checkedValues, valuesIn } from './fields.ts';
import { openPlan } from './match.ts';
import { type Part, planOf } from './plan.ts';
import { PLAN_ROLLBACK } from './simulation.ts';
import { definitionOf, snapshotNow } from './snapshot.ts';

export interface UndoRequest {
  readonly correlation_id: string;
  readonly user_id: string;
  /** The newest plan that left something behind unless told. */
  readonly plan_id?: string;
}

/**
 * Undoes what the steps of a plan did, the last one first, each through the simulation that it named when it was
 * planned. It is a plan like any other: it is confirmed, judged and recorded in the same way, one step a turn.
 */
export async function undo(context: AgentContext, request: UndoRequest): Promise<AgentAnswer> {
  const { correlation_id, user_id } = request;
  const state = await requireCorrelation(context, correlation_id, user_id);
  const undone = planToUndo(state, request.plan_id);
  const made = plans.open(await context.journey.store.object(undone.plan));
  const snapshot = await snapshotNow(context);
  const named = { simulation: await definitionOf(context, made.definition), digest: made.definition };
  const plan = planOf({
    correlation_id,
    named,
    parts: await partsToUndo(context, undone, made),
    rolls_back: made.plan_id,
    finder_packet_ref: made.finder_packet_ref,
    packet: null,
    policy_snapshot_ref: snapshot.policy,
    catalog_snapshot_ref: snapshot.catalog.digest,
    artifact_fingerprint_bundle_ref: snapshot.bundle,
    now: snapshot.now,
  });
  const { events, objects } = await openPlan(context, plans.seal(plan), user_id, snapshot.now);
  await context.journey.store.commit({ events, objects: [...snapshot.objects, ...objects] });
  return advance(context, correlation_id, user_id);
}

function planToUndo({ plans: all }: AgentState, plan_id: string | undefined): AgentPlan {
  const left = all.filter(
    (plan) =>
      isOver(plan) && plan.rolls_back === null && plan.steps.some(({ state }) => state === 'SUCCEEDED'),
  );
  const found = plan_id === undefined ? left.at(-1) : left.find((plan) => plan.plan_id === plan_id);
  return found ?? refuse('ROLLBACK_NOT_DUE', 'There is no such plan that left anything behind.');
}

async function partsToUndo(
  context: AgentContext,
  undone: AgentPlan,
  { ordered_steps }: AgentExecutionPlan,
): Promise<Part[]> {
  const parts: Part[] = [];
  for (const { step_id, state, intent_id, execution_id } of undone.steps.toReversed()) {
    if (state !== 'SUCCEEDED') continue;
    // A human took it back already.
    if ((await context.journey.store.intent(intent_id!))?.status === 'undone') continue;
    const step = ordered_steps.find((one) => one.step_id === step_id)!;
    // What changes nothing leaves nothing to undo.
    if (step.rollback_plan_ref === null && !step.impactful) continue;
    parts.push(await undoingPart(context, step, execution_id!));
  }
  return parts.length > 0 ? parts : refuse('ROLLBACK_NOT_DUE', 'Everything was taken back already.');
}

async function undoingPart(context: AgentContext, step: AgentStep, execution_id: string): Promise<Part> {
  const { rollback_plan_ref: ref, simulation_id } = step;
  if (ref === null) return refuse('ROLLBACK_NOT_DUE', `Nothing undoes "${simulation_id}".`);
  if (ref === PLAN_ROLLBACK)
    return refuse('ROLLBACK_NOT_DUE', `A human undoes it with \`keyturn rollback ${execution_id}\`.`, {
      execution_id,
    });
  const known =
    (await context.journey.store.simulation(ref)) ??
    refuse('SIMULATION_NOT_REGISTERED', undefined, { simulation: ref });
  const simulation = await definitionOf(context, known.definition);
  const given = valuesIn(step.required_fields);
  const values = Object.fromEntries(
    Object.keys(simulation.fields).flatMap((name) => (name in given ? [[name, given[name]!]] : [])),
  );
  return {
    definition: { simulation, digest: known.definition },
    values: checkedValues(simulation, values),
  };
}
