import type { Digest } from '../canonical/digest.ts';
import type { Event } from '../event/event.ts';
import type { PlanStatus, AgentStep as StepState } from '../gate/agent-state.ts';
import type { Simulation as Registered } from '../gate/simulation.ts';
import type { AgentContext } from './context.ts';
import { type AgentExecutionPlan, type AgentStep, plans, type Sealed } from './contracts.ts';
import { differsIn } from './decide.ts';
import { valuesOf } from './fields.ts';
import { closing, planMoved, stepMoved } from './moves.ts';
import { stepEnd } from './outcome.ts';
import type { SimulationMatchPacket } from './packet.ts';
import { type Definition, partsOf, planOf, refsOf } from './plan.ts';
import { definitionOf, type Snapshot } from './snapshot.ts';
import type { Heard } from './turn.ts';
import { accessEvent, type Weighed, weigh } from './weigh.ts';

/** What one commit writes. */
export interface Written {
  readonly events: readonly Event[];
  readonly objects: readonly Uint8Array[];
}

/** The plan of a match: the first candidate of the finder, as it is. */
export async function planMatch(
  context: AgentContext,
  { said, packet, packet_ref }: Heard,
  snapshot: Snapshot,
): Promise<Written | { readonly refused: 'SIMULATION_NOT_REGISTERED' }> {
  const match = packet as SimulationMatchPacket;
  const known = await definitionsOf(context, snapshot.registered, match.simulation_id);
  if (known === null) return { refused: 'SIMULATION_NOT_REGISTERED' };
  const { named, steps } = known;
  const plan = planOf({
    correlation_id: said.correlation_id,
    named,
    parts: partsOf(named, valuesOf(match, named.simulation), (id) => steps.get(id)!),
    rolls_back: null,
    finder_packet_ref: packet_ref,
    packet: match,
    policy_snapshot_ref: snapshot.policy,
    catalog_snapshot_ref: snapshot.catalog.digest,
    artifact_fingerprint_bundle_ref: snapshot.bundle,
    now: snapshot.now,
  });
  return openPlan(context, plans.seal(plan), said.user_id, snapshot.now);
}

interface Definitions {
  readonly named: Definition;
  readonly steps: ReadonlyMap<string, Definition>;
}

/** The registered definitions of a simulation and of its steps; null when one of them is not registered. */
async function definitionsOf(
  context: AgentContext,
  registered: ReadonlyMap<string, Registered>,
  id: string,
): Promise<Definitions | null> {
  const read = async (one: string): Promise<Definition | null> => {
    const digest = registered.get(one)?.definition;
    return digest === undefined ? null : { simulation: await definitionOf(context, digest), digest };
  };
  const named = await read(id);
  if (named === null) return null;
  const steps = new Map<string, Definition>();
  for (const { simulation } of named.simulation.steps ?? []) {
    const step = await read(simulation);
    if (step === null) return null;
    steps.set(simulation, step);
  }
  return { named, steps };
}

/** A plan comes into being, and its first step is looked at before anybody is asked to say yes to it. */
export async function openPlan(
  context: AgentContext,
  { value: plan, bytes, digest }: Sealed<AgentExecutionPlan>,
  user_id: string,
  now: Date,
): Promise<Written> {
  const step = plan.ordered_steps[0]!;
  const weighed = await weigh(context, { user_id, plan, step, confirmation: null, approved: false, now });
  const steps = plan.ordered_steps.map(({ step_id }) => ({ step_id, state: 'PENDING' as const }));
  const opened = await openStep(context, { plan, step, user_id, now: { state: 'CREATED', steps } }, weighed);
  return {
    events: [plannedEvent(plan, digest), ...opened.events],
    objects: [bytes, ...opened.objects],
  };
}

export function plannedEvent(plan: AgentExecutionPlan, digest: Digest): Event<'agent.planned'> {
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
  readonly step: AgentStep;
  readonly user_id: string;
  readonly now: {
    readonly state: PlanStatus;
    readonly steps: readonly Pick<StepState, 'step_id' | 'state'>[];
  };
}

/** PENDING -> waits for a yes, is ready, or fails: what the precheck says. */
export async function openStep(
  context: AgentContext,
  { plan, step, user_id, now }: Opening,
  weighed: Weighed,
): Promise<Written> {
  const { refs, digest, verdict, objects } = weighed;
  const seen = accessEvent({ plan, step, user_id }, weighed, null);
  const { reason_code } = verdict;
  if (reason_code === 'CONFIRMATION_MISSING') {
    const to = 'WAITING_CONFIRM';
    const events = [
      stepMoved(plan, step, ['PENDING', to], 'CONFIRM_REQUIRED', refs),
      planMoved(plan, [now.state, to], 'CONFIRM_REQUIRED', refs),
    ];
    return { events: [seen, ...events], objects };
  }
  if (reason_code === 'STEP_DISPATCHED' || reason_code === 'ACCESS_AP_REQUIRED') {
    const resumed = now.state === 'PAUSED' ? 'PLAN_RESUMED' : 'CHECKS_PASSED';
    const events = [
      stepMoved(plan, step, ['PENDING', 'READY'], 'CHECKS_PASSED', refs),
      planMoved(plan, [now.state, 'READY'], resumed, refs),
    ];
    return { events: [seen, ...events], objects };
  }
  const decision = { refs, hash: digest };
  const differs = differsIn(weighed.record.facts);
  const { outcome } = await stepEnd(context, { plan, step }, decision, null, reason_code, differs);
  const failed = { dispatch_decision_hash: digest, outcome: outcome.digest };
  const events = [
    stepMoved(plan, step, ['PENDING', 'FAILED_TERMINAL'], reason_code, refs, failed),
    ...closing(plan, now, step.step_id, ['FAILED', 'PLAN_ABORTED']),
  ];
  return { events: [seen, ...events], objects: [...objects, outcome.bytes] };
}
