import { callOf, requireTold } from '../gate/asked.ts';
import type { IntentState } from '../gate/state.ts';
import { type EnvelopeDraft, openEnvelope } from '../intent/envelope.ts';
import { journeyLimits } from '../limits.ts';
import type { PlanSpec } from '../plan/spec.ts';
import { refuse } from '../refusal.ts';
import { inAgentTurn } from './agent-plan.ts';
import type { Asked, Context } from './context.ts';
import type { Derived, Effect } from './derived.ts';
import { deriveMcpCall } from './mcp.ts';
import { executorIn, toolsOf } from './reach.ts';
import { openEffect } from './sealed-effect.ts';
import { deriveToolCall } from './tool.ts';

/** What is asked for, as the world is now. The first time, contents are looked at as well as hashed. */
export async function derive(
  context: Context,
  asked: EnvelopeDraft['effect'],
  intent_id: string | null,
): Promise<Derived> {
  const first = () => deriveCall(context, asked, intent_id, { look: true });
  const derived = await (asked.kind === 'plan' ? inAgentTurn(context, first) : first());
  // What no one executor could run is refused before a human looks at it.
  executorIn(derived.effect);
  return derived;
}

interface SameOptions {
  /** What a look derived a moment ago. */
  readonly earlier?: { readonly state: IntentState; readonly derived: Derived } | undefined;
  /** The caller prepares the run from it at once. */
  readonly is_prepared?: boolean;
}

/**
 * Derives the effect again from the world as it is now (registry, arguments, executable bytes, files) and refuses any
 * difference from what the hash covers. Checks 2 to 5 of 001, in their order.
 */
export async function requireSameEffect(
  context: Context,
  state: IntentState,
  { envelope, effect }: Asked,
  { earlier, is_prepared = false }: SameOptions = {},
): Promise<Derived> {
  // The effect that was compared then is still the approved one, and would be derived again.
  if (earlier?.state.effect_digest === state.effect_digest && earlier.derived.isStillTrue?.())
    return earlier.derived;
  const call = callOf(envelope, state);
  const derived = await deriveCall(context, call, state.intent_id, { look: false, is_prepared });
  derived.requireSame(effect);
  if (derived.approvals_needed > state.approvals_needed)
    refuse('EFFECT_CHANGED', 'It needs more approvals than the ledger says.');
  return derived;
}

export async function openAsked({ store, memory }: Context, state: IntentState): Promise<Asked> {
  const { hash, effect_digest } = state;
  // Read each time, since an object can be erased. The same bytes are parsed once: the digests are theirs.
  const bytes = await Promise.all([store.object(hash), store.object(effect_digest)]);
  const key = `${hash} ${effect_digest}`;
  const asked = memory.asked.get(key) ?? {
    envelope: openEnvelope(bytes[0]),
    effect: openEffect(bytes[1]),
  };
  requireTold(asked.envelope, state);
  requireToolsTold(asked.effect, state);
  if (bytes[0].length + bytes[1].length <= journeyLimits.kept_question_bytes) memory.asked.set(key, asked);
  return asked;
}

/** Of the ledger alone a freeze of a tool is judged. A proposal that names other tools than its effect would go past one. */
function requireToolsTold(effect: Effect, { choices, effect_digest }: IntentState): void {
  const told = choices.find((one) => one.effect_digest === effect_digest)?.tools ?? [];
  if (toolsOf(effect).join(' ') !== told.join(' '))
    refuse('EFFECT_CHANGED', 'The ledger tells of other tools than the effect.');
}

async function deriveCall(
  context: Context,
  call: EnvelopeDraft['effect'],
  intent_id: string | null,
  { look, is_prepared }: Pick<SameOptions, 'is_prepared'> & { readonly look: boolean },
): Promise<Derived> {
  if (call.kind === 'tool') return deriveToolCall(context, call, intent_id, is_prepared);
  return call.kind === 'mcp' ? deriveMcpCall(context, call) : derivePlan(context, call, look);
}

/** The plan executor is large: a tool call does not load it. */
async function derivePlan(context: Context, spec: PlanSpec, look: boolean): Promise<Derived> {
  const { derivePlanRun } = await import('./plan.ts');
  return derivePlanRun(context, spec, look);
}
