import { type Digest, sha256 } from '../canonical/digest.ts';
import type { Event } from '../event/event.ts';
import type { AgentStep as StepState } from '../gate/agent-state.ts';
import { notActive, type Simulation as Registered } from '../gate/simulation.ts';
import type { ReasonCode } from '../refusal.ts';
import { type Access, decideAccess } from './access.ts';
import { type Held, heldBy } from './bound.ts';
import type { AgentContext } from './context.ts';
import type { AgentExecutionPlan, AgentStep } from './contracts.ts';
import { type DispatchFacts, type SealedDecision, sealDispatchDecision } from './decide.ts';
import { intentFactsNow, intentIdOf } from './intent.ts';
import { idempotencyKey, type Refs, refsOf } from './plan.ts';
import { artifactsOf, definitionOf } from './snapshot.ts';

/** A step as the ledger has it, or as it is about to be planned. */
export interface Weighing {
  readonly user_id: string;
  readonly plan: AgentExecutionPlan;
  readonly step: AgentStep;
  readonly confirmation: StepState['confirmation'];
  readonly now: Date;
}

export interface Weighed extends SealedDecision {
  readonly access: Access;
  readonly refs: Refs;
  /** Everything that the decision names and that nothing else stores. */
  readonly objects: readonly Uint8Array[];
}

/**
 * Looks at everything that a dispatch needs, as it is now, and decides. The core asks before it prompts the user, and the
 * executor asks again before it touches anything: the second answer is the one that counts.
 */
export async function weigh(context: AgentContext, weighing: Weighing): Promise<Weighed> {
  const { plan, step, user_id, now } = weighing;
  const { store } = context.journey;
  const access = await accessTo(context, weighing);
  const seen = await seenIn(weighing, now, {
    known: (id) => store.find('simulation', id),
    held: (known) => heldNow(context, known, plan.rolls_back !== null),
  });
  const intent = await store.find('intent', intentIdOf(idempotencyKey(plan.correlation_id, step)));
  const sealed = judged(weighing, {
    access,
    simulations: seen.map(({ bytes: _, ...one }) => one),
    same_registry: isSameRegistry(context, plan),
    ...(await intentFactsNow(context.journey, intent, user_id, now)),
  });
  const found = seen.flatMap(({ bytes }) => (bytes === null ? [] : [bytes]));
  return { access, refs: sealed.record.refs, objects: [access.bytes, sealed.bytes, ...found], ...sealed };
}

/** What was found besides what the plan and the answer of the user say. */
export interface Grounds
  extends Pick<DispatchFacts, 'simulations' | 'same_registry' | 'approved' | 'obstacle'> {
  readonly access: Pick<Access, 'outcome' | 'policy' | 'digest'>;
}

/** Pure: the decision that these grounds lead to. A replay asks here as well. */
export function judged(
  { plan, step, confirmation }: Pick<Weighing, 'plan' | 'step' | 'confirmation'>,
  { access, ...found }: Grounds,
): SealedDecision {
  return sealDispatchDecision({
    correlation_id: plan.correlation_id,
    plan_id: plan.plan_id,
    step_id: step.step_id,
    idempotency_key: idempotencyKey(plan.correlation_id, step),
    refs: {
      ...refsOf(plan, step),
      policy_snapshot_ref: access.policy,
      access_decision_ref: access.digest,
      confirmation_parse_proof_ref: confirmation?.proof ?? null,
    },
    facts: {
      ...found,
      access: access.outcome,
      risk: riskOf(plan),
      confirmation_required: step.confirmation_required,
      confirmation: confirmation?.answer ?? null,
    },
  });
}

/** The same look with what was found when the intent was made. */
export function obstructed(weighed: Weighed, obstacle: ReasonCode): Weighed {
  const { format: _, decision: __, reason_code: ___, ...about } = weighed.record;
  const sealed = sealDispatchDecision({ ...about, facts: { ...about.facts, obstacle } });
  const objects = weighed.objects.map((bytes) => (bytes === weighed.bytes ? sealed.bytes : bytes));
  return { ...weighed, ...sealed, objects };
}

/**
 * A step of a template is two things at once: what the user asked for, and what runs. Access to both is asked, and the
 * stricter answer is the one that counts, and the one that is kept.
 */
async function accessTo(context: AgentContext, { plan, step, user_id, now }: Weighing): Promise<Access> {
  const answers: Access[] = [];
  for (const { definition } of asked(plan, step))
    answers.push(await decideAccess(context.journey, user_id, await definitionOf(context, definition), now));
  const strictness = answers.map(({ outcome }) => STRICTNESS.indexOf(outcome));
  // Of equals the last one: the step's own.
  return answers[strictness.lastIndexOf(Math.max(...strictness))]!;
}

const STRICTNESS: readonly Access['outcome'][] = ['ALLOW', 'AP_REQUIRED', 'DENY'];

/** What a finder says about the risk counts where it names one simulation; a template's steps have risks of their own. */
function riskOf({ risk_level, ordered_steps, rolls_back }: AgentExecutionPlan): DispatchFacts['risk'] {
  return rolls_back === null && ordered_steps.length === 1 ? risk_level : 'LOW';
}

/** The yes was given under one registry of tools. Under another the same name may mean another program. */
function isSameRegistry({ journey }: AgentContext, plan: AgentExecutionPlan): boolean {
  const { catalog_snapshot_ref, policy_snapshot_ref, artifact_fingerprint_bundle_ref } = plan;
  const now = artifactsOf(catalog_snapshot_ref, policy_snapshot_ref, journey.registry().digest);
  return sha256(now) === artifact_fingerprint_bundle_ref;
}

type Seen = DispatchFacts['simulations'][number] & Pick<Held, 'bytes'>;

interface Looked {
  readonly known: (id: string) => Registered | null | Promise<Registered | null>;
  /** What an active one is beside its activation. */
  readonly held: (known: Registered) => Promise<Held>;
}

/** What the step runs and the template that it belongs to, as they stand at this moment and beside what was activated. */
export async function seenIn(
  { plan, step }: Pick<Weighing, 'plan' | 'step'>,
  now: Date,
  { known, held }: Looked,
): Promise<Seen[]> {
  const seen: Seen[] = [];
  for (const one of asked(plan, step)) {
    const found = await known(one.simulation_id);
    const status = registeredAs(found, one, now);
    const { differs, ...rest } = status === 'ACTIVE' ? await held(found!) : UNHELD;
    seen.push({ status, differs: [...differs], ...one, ...rest });
  }
  return seen;
}

/** What is not active is refused for that. */
const UNHELD: Held = { activated: null, found: null, differs: [], bytes: null };

async function heldNow(
  context: AgentContext,
  { definition, bound }: Registered,
  is_undo: boolean,
): Promise<Held> {
  const simulation = await definitionOf(context, definition);
  return heldBy(context, bound, { simulation, digest: definition }, is_undo);
}

interface AskedFor {
  readonly simulation_id: string;
  readonly version: number;
  readonly definition: Digest;
}

/** What the step runs, and the template that it belongs to. A rollback is asked for by no template. */
export function asked(plan: AgentExecutionPlan, step: AgentStep): AskedFor[] {
  const own = {
    simulation_id: step.simulation_id,
    version: step.simulation_version,
    definition: step.definition,
  };
  if (plan.simulation_id === step.simulation_id || plan.rolls_back !== null) return [own];
  const { simulation_id, simulation_version: version, definition } = plan;
  return [{ simulation_id, version, definition }, own];
}

function registeredAs(
  known: Registered | null,
  { version, definition }: AskedFor,
  now: Date,
): DispatchFacts['simulations'][number]['status'] {
  const code = notActive(known, { version, definition }, now.toISOString());
  if (code === 'SIMULATION_NOT_REGISTERED') return 'NOT_REGISTERED';
  if (code === 'MADE_IN_FUTURE') return 'MADE_LATER';
  return code === null ? 'ACTIVE' : 'NOT_ACTIVE';
}

export function accessEvent(
  { plan, step, user_id }: Pick<Weighing, 'plan' | 'step' | 'user_id'>,
  { access }: Pick<Weighed, 'access'>,
  intent_id: string | null,
): Event<'agent.access'> {
  return {
    kind: 'agent.access',
    subject: `agent:${plan.correlation_id}`,
    body: {
      plan_id: plan.plan_id,
      step_id: step.step_id,
      user_id,
      access_action: access.access_action,
      decision: access.digest,
      outcome: access.outcome,
      intent_id,
    },
  };
}
