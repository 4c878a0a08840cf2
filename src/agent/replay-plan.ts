import { canonicalText, parseJson } from '../canonical/json.ts';
import type { SimulationStatus } from '../event/agent.ts';
import type { Event } from '../event/event.ts';
import { catalogOf } from '../finder/catalog.ts';
import { type FinderPacket, parsePacket, type SimulationMatchPacket } from '../finder/packet.ts';
import { requireHeld } from '../finder/proposal.ts';
import { needsConfirmation } from '../finder/simulation.ts';
import { correlationOf } from '../gate/agent.ts';
import type { Entry } from '../ledger/entry.ts';
import { Refusal } from '../refusal.ts';
import type { AgentContext } from './context.ts';
import { type AgentExecutionPlan, type AgentGoalRequest, agentPlans, goals } from './contracts.ts';
import { agentPlanFrom, agentPlannedEvent } from './match.ts';
import { digestOf } from './plan.ts';
import { differs, momentsOf, type Past } from './replay-past.ts';
import { definitionOf } from './snapshot.ts';

export async function packetIn({ journey }: AgentContext, digest: string): Promise<FinderPacket> {
  const bytes = await journey.store.object(digest);
  return parsePacket(parseJson(bytes, bytes.length));
}

/** What a model proposed holds against the words and the catalog of then. The model is not asked. */
export async function requireSameProposal(
  context: AgentContext,
  { body }: Event<'agent.received'>,
  packet: SimulationMatchPacket,
): Promise<void> {
  const { store } = context.journey;
  const goal = goals.open(await store.object(body.goal));
  const bytes = await store.object(packet.catalog_snapshot_ref);
  const { simulations } = parseJson(bytes, bytes.length) as unknown as {
    readonly simulations: readonly (readonly [id: string, status: SimulationStatus, digest: string])[];
  };
  // A draft was not registered, so nothing of it is stored; and none is ever found.
  const known = simulations.filter(([, status]) => status !== 'Draft');
  const definitions = await Promise.all(known.map(([, , digest]) => definitionOf(context, digest)));
  const statuses = new Map(known.map(([id, status]) => [id, status]));
  requireHeld(
    {
      ...headIn(packet),
      utterance: goal.raw_user_utterance,
      language: goal.normalized_intent.language,
      catalog: catalogOf(definitions, statuses),
    },
    packet,
  );
}

function headIn(packet: SimulationMatchPacket) {
  const { schema_version, tenant_id, user_id, correlation_id, turn_id, idempotency_key } = packet;
  const { policy_snapshot_ref, artifact_fingerprint_bundle_ref } = packet;
  return {
    ...{ schema_version, tenant_id, user_id, correlation_id, turn_id, idempotency_key },
    ...{ policy_snapshot_ref, artifact_fingerprint_bundle_ref },
  };
}

/**
 * The plan is what its inputs make of it: its name is the hash of everything in it but the time, the entry says what it says, and
 * from the packet and the definitions of then the same one comes out again. The attacker plans a step with less care.
 */
export async function requireSameAgentPlan(
  context: AgentContext,
  { subject, body }: Event<'agent.planned'>,
  entry: Entry,
  past: Past,
): Promise<void> {
  const { seq } = entry;
  const plan = agentPlans.open(await context.journey.store.object(body.plan));
  const { plan_id, created_at, ...rest } = plan;
  if (digestOf(rest) !== plan_id || plan_id !== body.plan_id) differs(seq, 'The plan hash is another one.');
  if (plan.correlation_id !== correlationOf(subject)) differs(seq, 'The plan is of another correlation.');
  if (canonicalText(agentPlannedEvent(plan, body.plan).body) !== canonicalText(body))
    differs(seq, 'The entry says something else than the plan.');
  const packet = await packetIn(context, plan.finder_packet_ref);
  if (packet.kind !== 'SIMULATION_MATCH' || packet.simulation_id !== plan.simulation_id)
    return differs(seq, 'The plan is not made from what the finder named.');
  await context.journey.store.object(plan.catalog_snapshot_ref);
  if (plan.rolls_back !== null) return requireCare(context, plan, seq);
  const states = await confirmStates(context, past, entry, plan.finder_packet_ref);
  for (const { ledger, now } of momentsOf(context.journey, past, entry, new Date(created_at))) {
    const definition = (id: string) => ledger.state('simulation', id)?.definition;
    for (const confirm_state of states) {
      const again = await agentPlanFrom(context, packet, confirm_state, plan, definition, now);
      if (again?.plan_id === plan_id) return;
    }
  }
  differs(seq, 'From the packet and the definitions another plan comes out.');
}

type ConfirmState = AgentGoalRequest['confirm_state'];

/** What the goal of the turn that the packet answered says about a yes. Where its words were erased, both can have been so. */
async function confirmStates(
  { journey }: AgentContext,
  { entries }: Past,
  { subject, seq }: Entry,
  finder_packet: string,
): Promise<readonly ConfirmState[]> {
  const turn = entries
    .filter(({ entry }) => entry.seq < seq && entry.subject === subject)
    .map(({ event }) => event)
    .findLast((event) => event.kind === 'agent.received' && event.body.finder_packet === finder_packet);
  if (turn?.kind !== 'agent.received') return differs(seq, 'The packet of the plan was never received.');
  try {
    return [goals.open(await journey.store.object(turn.body.goal)).confirm_state];
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'OBJECT_MISSING') throw error;
    return ['NOT_REQUIRED', 'REQUIRED'];
  }
}

/** A step that undoes another follows from what was done. That no question to a human was left out follows from the definitions. */
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
