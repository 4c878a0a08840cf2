import type { Digest } from '../canonical/digest.ts';
import { isSameJson } from '../canonical/json.ts';
import type { Simulation } from '../finder/simulation.ts';
import { approvalsNow } from '../gate/approvals.ts';
import type { IntentState } from '../gate/state.ts';
import { hasExpired, isDue } from '../gate/status-word.ts';
import type { Authorities } from '../identity/delegation.ts';
import type { DraftInput, Envelope } from '../intent/envelope.ts';
import { approvalsOf } from '../journey/approvals.ts';
import { authoritiesFor, type Context, humansNow, namedIn } from '../journey/context.ts';
import { refuse } from '../refusal.ts';
import { toolNamed } from '../tool/select.ts';
import { AGENT_CORE } from './context.ts';
import type { AgentStep } from './contracts.ts';
import type { DispatchFacts } from './decide.ts';
import { filled, valuesIn } from './fields.ts';
import type { StepInAgentPlan } from './step-in-plan.ts';

/**
 * The intent of a step. Its id follows from the idempotency key: a repeated request, from any process and after
 * any crash, leads to the same intent, and an intent runs at most once.
 */
export function intentIdOf(idempotency_key: Digest): string {
  const hex = idempotency_key;
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

export function simulationAction({ id, version }: Pick<Simulation, 'id' | 'version'>): string {
  return `simulation:${id}@${version}`;
}

/** The action of the effect, in the words of the registry. */
export function effectAction({ registry }: Context, { id, effect }: Simulation): string {
  if (effect === undefined) return refuse('SIMULATION_INVALID', `The simulation "${id}" has no effect.`);
  if ('plan' in effect) return 'plan';
  const tool = toolNamed(registry(), effect.tool);
  return tool.action ?? `tool:${tool.name}`;
}

/** What is proposed: the registered effect with the values of this step, and nothing else. */
export function draftOf(
  context: Context,
  { step, state }: StepInAgentPlan,
  definition: Simulation,
  intent_id: string,
): DraftInput & { readonly intent_id: string } {
  const by = `simulation ${definition.id}, version ${definition.version}, asked for by ${state.user_id}`;
  return {
    intent_id,
    issuer: AGENT_CORE,
    declared_goal: `${definition.summary.en} (${by})`,
    requested_actions: [effectAction(context, definition), simulationAction(definition)],
    effect: effectOf(definition, step),
  };
}

function effectOf({ id, effect }: Simulation, { step_id, required_fields }: AgentStep): DraftInput['effect'] {
  if (effect === undefined) return refuse('SIMULATION_INVALID', `The simulation "${id}" has no effect.`);
  const values = valuesIn(required_fields);
  if ('tool' in effect)
    return {
      kind: 'tool',
      tool: effect.tool,
      arguments: filled(effect.arguments, values) as Record<string, never>,
    };
  return {
    kind: 'plan',
    plan: filled(effect.plan, values) as Record<string, never>,
    config: effect.config === undefined ? null : (filled(effect.config, values) as Record<string, never>),
    task_id: `agent-${step_id.slice(0, 32)}`,
  };
}

/** The attacker proposed something else under the id that this step would have. */
export function requireSameIntent(
  intent: IntentState,
  { effect, requested_actions }: Envelope,
  draft: DraftInput,
  user_id: string,
): void {
  const { digest: _, ...call } = effect;
  const same =
    intent.proposer === AGENT_CORE &&
    intent.proposer_verified &&
    intent.on_behalf_of === user_id &&
    isSameJson([call, requested_actions], [draft.effect, draft.requested_actions]);
  if (!same) refuse('EFFECT_CHANGED', 'Another effect was proposed for this step.');
}

/** What a decision says of the intent of a step. */
export type IntentFacts = Pick<DispatchFacts, 'approved' | 'obstacle'>;

/** As the store has it now. */
export async function intentFactsNow(
  context: Context,
  intent: IntentState | null,
  user_id: string,
  now: Date,
): Promise<IntentFacts> {
  if (intent === null) return UNPROPOSED;
  const authorities = await authoritiesFor(context, namedIn(intent));
  return intentFacts(intent, { authorities, humans: await humansNow(context), user_id, now });
}

const UNPROPOSED: IntentFacts = { approved: false, obstacle: null };

interface IntentMoment {
  readonly authorities: Authorities;
  /** How many humans can act. */
  readonly humans: number;
  readonly user_id: string;
  readonly now: Date;
}

/**
 * Pure: whether a human signed this very intent, and not only a delegation, and whether it is over. The user who asked for it
 * counts only where there is no other human.
 */
export function intentFacts(intent: IntentState | null, moment: IntentMoment): IntentFacts {
  const { authorities, humans, user_id, now } = moment;
  if (intent === null) return UNPROPOSED;
  const { counted, missing } = approvalsNow(intent, { now, authorities });
  const is_signed = counted.some(
    ({ by, delegation }) => delegation === null && (by !== user_id || humans === 1),
  );
  const { status } = intent;
  const is_late = hasExpired(intent, now);
  return {
    // Not as long as a signature is missing, or no longer counts: a plan that touches protected files needs two.
    approved: status === 'approved' && missing === 0 && is_signed,
    obstacle: status === 'rejected' ? 'INTENT_REJECTED' : is_late ? 'INTENT_EXPIRED' : null,
  };
}

/** Whether humans still have to approve it: otherwise the conversation goes on, or finds out why not. */
export async function awaitsApproval(
  context: Context,
  intent: IntentState,
  { user_id, needs_human }: { readonly user_id: string; readonly needs_human: boolean },
): Promise<boolean> {
  if (!isDue(intent)) return false;
  const { approved, obstacle } = await intentFactsNow(context, intent, user_id, context.clock());
  if (obstacle !== null) return false;
  return (needs_human && !approved) || (await approvalsOf(context, intent)).missing > 0;
}
