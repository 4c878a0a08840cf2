import { canonicalText, parseJson } from '../canonical/json.ts';
import type { Event } from '../event/event.ts';
import type { AgentState } from '../gate/agent-state.ts';
import type { Entry } from '../ledger/entry.ts';
import { refuse } from '../refusal.ts';
import type { AgentContext } from './context.ts';
import { type AgentExecutionPlan, plans } from './contracts.ts';
import { valuesOf } from './fields.ts';
import { plannedEvent } from './match.ts';
import { type FinderPacket, parsePacket, type SimulationMatchPacket } from './packet.ts';
import { type Definition, digestOf, partsOf, planOf } from './plan.ts';
import { differs } from './replay-facts.ts';
import { needsConfirmation } from './simulation.ts';
import { definitionOf } from './snapshot.ts';

export async function packetIn({ journey }: AgentContext, digest: string): Promise<FinderPacket> {
  const bytes = await journey.store.object(digest);
  return parsePacket(parseJson(bytes, bytes.length));
}

/**
 * The plan is what its inputs make of it: its name is the hash of everything in it but the time, the entry says what it
 * says, and from the packet and the definitions the same one comes out again. The attacker plans a step with less care.
 */
export async function requireSamePlan(
  context: AgentContext,
  { body }: Event<'agent.planned'>,
  { seq }: Entry,
  state: AgentState,
): Promise<void> {
  const plan = plans.open(await context.journey.store.object(body.plan));
  const { plan_id, created_at: _, ...rest } = plan;
  if (digestOf(rest) !== plan_id || plan_id !== body.plan_id) differs(seq, 'The plan hash is another one.');
  if (plan.correlation_id !== state.correlation_id) differs(seq, 'The plan is of another correlation.');
  if (canonicalText(plannedEvent(plan, body.plan).body) !== canonicalText(body))
    differs(seq, 'The entry says something else than the plan.');
  const packet = await packetIn(context, plan.finder_packet_ref);
  if (packet.kind !== 'SIMULATION_MATCH' || packet.simulation_id !== plan.simulation_id)
    return differs(seq, 'The plan is not made from what the finder named.');
  await context.journey.store.object(plan.catalog_snapshot_ref);
  if (plan.rolls_back !== null) return requireCare(context, plan, seq);
  if ((await plannedAgain(context, plan, packet)) !== plan_id)
    differs(seq, 'From the packet and the definitions another plan comes out.');
}

/** What undoes a step follows from what was done; that nobody is asked less than the definitions say, from them. */
async function requireCare(
  context: AgentContext,
  { ordered_steps }: AgentExecutionPlan,
  seq: number,
): Promise<void> {
  for (const step of ordered_steps) {
    const simulation = await definitionOf(context, step.definition);
    const { id, version, access_action, impactful, rollback_plan_ref = null } = simulation;
    const planned = [step.simulation_id, step.simulation_version, step.access_action, step.impactful];
    const same =
      canonicalText([...planned, step.rollback_plan_ref]) ===
      canonicalText([id, version, access_action, impactful, rollback_plan_ref]);
    if (!same || (needsConfirmation(simulation) && !step.confirmation_required))
      differs(seq, 'A step is not what its definition says.');
  }
}

async function plannedAgain(
  context: AgentContext,
  plan: AgentExecutionPlan,
  packet: SimulationMatchPacket,
): Promise<string> {
  const { policy_snapshot_ref, catalog_snapshot_ref, artifact_fingerprint_bundle_ref } = plan;
  const read = async (digest: string): Promise<Definition> => ({
    simulation: await definitionOf(context, digest),
    digest,
  });
  const named = await read(plan.definition);
  const steps = new Map<string, Definition>();
  for (const { simulation_id, definition } of plan.ordered_steps)
    steps.set(simulation_id, await read(definition));
  const again = planOf({
    correlation_id: plan.correlation_id,
    named,
    parts: partsOf(
      named,
      valuesOf(packet, named.simulation),
      (id) => steps.get(id) ?? refuse('SIMULATION_NOT_REGISTERED'),
    ),
    rolls_back: null,
    finder_packet_ref: plan.finder_packet_ref,
    packet,
    policy_snapshot_ref,
    catalog_snapshot_ref,
    artifact_fingerprint_bundle_ref,
    now: new Date(plan.created_at),
  });
  return again.plan_id;
}
