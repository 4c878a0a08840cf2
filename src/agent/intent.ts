import type { Digest } from '../canonical/digest.ts';
import { canonicalText } from '../canonical/json.ts';
import { standingOf } from '../gate/standing.ts';
import type { IntentState } from '../gate/state.ts';
import type { Authorities } from '../identity/delegation.ts';
import type { Principal } from '../identity/principal.ts';
import { type DraftInput, openEnvelope } from '../intent/envelope.ts';
import { authoritiesFor, type Context, humansNow, namedIn } from '../journey/context.ts';
import { refuse } from '../refusal.ts';
import { AGENT_CORE } from './context.ts';
import type { AgentStep } from './contracts.ts';
import { filled, valuesIn } from './fields.ts';
import type { Simulation } from './simulation.ts';
import type { Standing } from './standing.ts';

/**
 * The intent of a step. Its id follows from the idempotency key: whoever comes again, from whatever process and after
 * whatever crash, comes to the same intent, and an intent runs at most once.
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
  const tool =
    registry().tools.get(effect.tool) ?? refuse('TOOL_UNKNOWN', `There is no tool "${effect.tool}".`);
  return tool.action ?? `tool:${tool.name}`;
}

/** What is proposed: the registered effect with the values of this step, and nothing else. */
export function draftOf(
  context: Context,
  { step, state }: Standing,
  definition: Simulation,
  intent_id: string,
): DraftInput {
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
export async function requireSameIntent(
  { store }: Context,
  intent: IntentState,
  draft: DraftInput,
  user_id: string,
): Promise<void> {
  const { effect, requested_actions } = openEnvelope(await store.object(intent.hash));
  const { digest: _, ...call } = effect;
  const same =
    intent.proposer === AGENT_CORE &&
    intent.proposer_verified &&
    intent.on_behalf_of === user_id &&
    canonicalText([call, requested_actions]) === canonicalText([draft.effect, draft.requested_actions]);
  if (!same) refuse('EFFECT_CHANGED', 'Another effect was proposed for this step.');
}

/** Whether a human signed this very intent, as the store has it now. */
export async function isApprovedByHuman(
  context: Context,
  intent: IntentState | null,
  user_id: string,
  now: Date,
): Promise<boolean> {
  if (intent?.status !== 'approved') return false;
  const authorities = await authoritiesFor(context, namedIn(intent));
  return hasHumanApproval(intent, { authorities, humans: await humansNow(context), user_id, now });
}

export function isActiveHuman({ kind, status }: Pick<Principal, 'kind' | 'status'>): boolean {
  return kind === 'human' && status === 'active';
}

interface ApprovalMoment {
  readonly authorities: Authorities;
  /** How many there are. */
  readonly humans: number;
  readonly user_id: string;
  readonly now: Date;
}

/**
 * Pure: a human signed this very intent, and not only a delegation. Whoever asked for it does not count, as long as there
 * is anybody else.
 */
export function hasHumanApproval(intent: IntentState | null, moment: ApprovalMoment): boolean {
  const { authorities, humans, user_id, now } = moment;
  // Not approved as long as a signature is missing: a plan that touches protected files needs two.
  if (intent?.status !== 'approved') return false;
  const { counted } = standingOf(intent, { now, ledger_at: null, tenant: '', freezes: [], authorities });
  return counted.some(({ by, delegation }) => delegation === null && (by !== user_id || humans === 1));
}
