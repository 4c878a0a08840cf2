import type { Digest } from '../canonical/digest.ts';
import type { Event } from '../event/event.ts';
import { packetRef, type SimulationMatchPacket } from '../finder/packet.ts';
import type { AgentPlanStatus, AgentStep as StepState } from '../gate/agent-state.ts';
import type { AgentContext } from './context.ts';
import {
  type AgentExecutionPlan,
  type AgentGoalRequest,
  type AgentStep,
  agentPlans,
  type Sealed,
} from './contracts.ts';
import { differsIn } from './decide.ts';
import { valuesOf } from './fields.ts';
import { agentPlanMoved, closing, type MoveReason, stepMoved } from './moves.ts';
import { type StepEnd, stepEnd } from './outcome.ts';
import { type AgentPlanInputs, agentPlanOf, type Definition, partsOf, refsOf } from './plan.ts';
import { definitionOf, type Snapshot } from './snapshot.ts';
import type { HeardTurn } from './turn.ts';
import { accessEvent, type Weighed, weigh } from './weigh.ts';

/** What one commit writes. */
export interface Written {
  readonly events: readonly Event[];
  readonly objects: readonly Uint8Array[];
}

/** The plan of a match: the first candidate of the finder, as it is. */
export async function agentPlanOfMatch(
  context: AgentContext,
  { said, packet, goal }: HeardTurn,
  { policy, catalog, bundle, registered, now }: Snapshot,
): Promise<Written | { readonly refused: 'SIMULATION_NOT_REGISTERED' }> {
  const refs = {
    policy_snapshot_ref: policy,
    catalog_snapshot_ref: catalog.digest,
    artifact_fingerprint_bundle_ref: bundle,
  };
  const plan = await agentPlanFrom(
    context,
    packet as SimulationMatchPacket,
    goal.value.confirm_state,
    refs,
    (id) => registered.get(id)?.definition,
    now,
  );
  if (plan === null) return { refused: 'SIMULATION_NOT_REGISTERED' };
  const { language } = goal.value.normalized_intent;
  return openAgentPlan(context, agentPlans.seal(plan), { user_id: said.user_id, language }, now);
}

/** From the packet, what the goal says about a yes, and the registered definitions; null when one of them is not registered. A replay asks here as well. */
export async function agentPlanFrom(
  context: AgentContext,
  packet: SimulationMatchPacket,
  confirm_state: AgentGoalRequest['confirm_state'],
  refs: Pick<
    AgentPlanInputs,
    'policy_snapshot_ref' | 'catalog_snapshot_ref' | 'artifact_fingerprint_bundle_ref'
  >,
  registered: (id: string) => Digest | undefined,
  now: Date,
): Promise<AgentExecutionPlan | null> {
  const read = async (id: string): Promise<Definition | null> => {
    const digest = registered(id);
    return digest === undefined ? null : { simulation: await definitionOf(context, digest), digest };
  };
  const named = await read(packet.simulation_id);
  if (named === null) return null;
  const steps = new Map<string, Definition>();
  for (const { simulation } of named.simulation.steps ?? []) {
    const step = await read(simulation);
    if (step === null) return null;
    steps.set(simulation, step);
  }
  return agentPlanOf({
    ...refs,
    correlation_id: packet.correlation_id,
    named,
    parts: partsOf(named, valuesOf(packet, named.simulation), (id) => steps.get(id)!),
    rolls_back: null,
    finder_packet_ref: packetRef(packet),
    packet: {
      risk_tier: packet.risk_tier,
      confirm_required: packet.confirm_required || confirm_state === 'REQUIRED',
    },
    now,
  });
}

/** A plan comes into being, and its first step is checked before the user is asked to say yes to it. */
export async function openAgentPlan(
  context: AgentContext,
  { value: plan, bytes, digest }: Sealed<AgentExecutionPlan>,
  { user_id, language }: Pick<Opening, 'user_id' | 'language'>,
  now: Date,
): Promise<Written> {
  const step = plan.ordered_steps[0]!;
  const weighed = await weigh(context, { user_id, plan, step, confirmation: null, now });
  const steps = plan.ordered_steps.map(({ step_id }) => ({ step_id, state: 'PENDING' as const }));
  const plan_now = { state: 'CREATED' as const, steps };
  const opened = await openStep(context, { plan, plan_now, step, user_id, language }, weighed);
  return {
    events: [agentPlannedEvent(plan, digest), ...opened.events],
    objects: [bytes, ...opened.objects],
  };
}

export function agentPlannedEvent(plan: AgentExecutionPlan, digest: Digest): Event<'agent.planned'> {
  return {
    kind: 'agent.planned',
    subject: `agent:${plan.correlation_id}`,
    body: {
      plan_id: plan.plan_id,
      plan: digest,
      rolls_back: plan.rolls_back,
      template: templateOf(plan),
      steps: plan.ordered_steps.map((step) => ({
        step_id: step.step_id,
        simulation: step.simulation_id,
        version: step.simulation_version,
        confirmation_required: step.confirmation_required,
        impactful: step.impactful,
      })),
      risk_level: plan.risk_level,
      refs: refsOf(plan, plan.ordered_steps[0]!),
    },
  };
}

/** The finder named it, and its steps are others. A rollback is asked for by no template. */
function templateOf(plan: AgentExecutionPlan): Event<'agent.planned'>['body']['template'] {
  const { simulation_id: simulation, simulation_version: version, ordered_steps, rolls_back } = plan;
  const is_own = rolls_back !== null || ordered_steps.every((step) => step.simulation_id === simulation);
  return is_own ? null : { simulation, version };
}

interface Opening {
  readonly plan: AgentExecutionPlan;
  readonly plan_now: {
    readonly state: AgentPlanStatus;
    readonly steps: readonly Pick<StepState, 'step_id' | 'state'>[];
  };
  readonly step: AgentStep;
  readonly user_id: string;
  /** Of the conversation; undefined where what was said is erased. */
  readonly language: string | undefined;
}

/** PENDING -> waits for a yes, is ready, or fails: what the precheck says. */
export async function openStep(context: AgentContext, opening: Opening, weighed: Weighed): Promise<Written> {
  const { plan, plan_now, step } = opening;
  const { refs, decided, objects } = weighed;
  const { reason_code } = decided;
  const opened = (to: 'WAITING_CONFIRM' | 'READY', of_step: MoveReason, of_plan: MoveReason) => ({
    events: [
      accessEvent(opening, weighed, null),
      stepMoved(plan, step, ['PENDING', to], of_step, refs),
      agentPlanMoved(plan, [plan_now.state, to], of_plan, refs),
    ],
    objects,
  });
  if (reason_code === 'CONFIRMATION_MISSING')
    return opened('WAITING_CONFIRM', 'CONFIRM_REQUIRED', 'CONFIRM_REQUIRED');
  if (reason_code === 'STEP_DISPATCHED' || reason_code === 'ACCESS_AP_REQUIRED')
    return opened('READY', 'CHECKS_PASSED', plan_now.state === 'PAUSED' ? 'PLAN_RESUMED' : 'CHECKS_PASSED');
  return failed(context, { ...opening, from: 'PENDING' }, weighed);
}

/** No dispatch: the step fails for the reason of the decision, and with it the plan. */
export async function failed(
  context: AgentContext,
  { from, ...failing }: Opening & { readonly from: StepState['state'] },
  weighed: Weighed,
  differs: readonly string[] = differsIn(weighed.record.facts),
): Promise<Written & Pick<StepEnd, 'outcome'>> {
  const { plan, plan_now, step } = failing;
  const { refs, digest, decided, objects } = weighed;
  const decision = { refs, hash: digest };
  const { outcome } = await stepEnd(
    context,
    failing,
    decision,
    null,
    failing.language,
    decided.reason_code,
    differs,
  );
  const ended = { dispatch_decision_hash: digest, outcome: outcome.digest };
  const events = [
    accessEvent(failing, weighed, null),
    stepMoved(plan, step, [from, 'FAILED_TERMINAL'], decided.reason_code, refs, ended),
    ...closing(plan, plan_now, step.step_id, ['FAILED', 'PLAN_ABORTED']),
  ];
  return { events, objects: [...objects, outcome.bytes], outcome };
}
