import { guardPlain, isSameJson, parseJson } from '../canonical/json.ts';
import type { Bounds } from '../capability/bounds.ts';
import { type Conditions, parseConditions } from '../capability/conditions.ts';
import { canonicalScope, isScopeWithin, type ResourceScope } from '../capability/scope.ts';
import type { CapabilityClaims } from '../capability/token.ts';
import type { Capability, IntentState } from '../gate/state.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import type { Asked, Context } from './context.ts';
import type { Effect } from './derived.ts';
import { actionOf, categoryOf, neededScope } from './reach.ts';

/** Step 3 of 002: which action, on what, with which kind of tool, under which conditions, for how long. */
export interface TermsRequest {
  /** May be left out where the intent requests only one. */
  readonly action?: string;
  /** What it may reach; without it exactly what the effect needs. */
  readonly scope?: ResourceScope;
  readonly tool_category?: string;
  readonly conditions?: Conditions;
  readonly ttl_s?: number;
}

export interface Terms extends Bounds {
  readonly action: string;
  readonly ttl_s: number;
  readonly expires_at: string;
}

/** How long a capability that the agent core orders lives. */
export function coreLife({ capability_ttl_s }: Context): number {
  return Math.min(limits.agent_capability_ttl_s, capability_ttl_s);
}

/** What would be ordered, or why it cannot be. `since` is when the order is drawn up. */
export function termsOf(
  context: Context,
  request: TermsRequest,
  state: IntentState,
  { effect }: Asked,
  since: Date,
  delegated_until: string = state.expires_at,
): Terms {
  return requireTerms(
    {
      scope: request.scope ? canonicalScope(request.scope) : neededScope(effect),
      action: chosenAction(state, request.action),
      tool_category: request.tool_category ?? null,
      conditions: plainConditions(request.conditions ?? {}),
      ...lifeOf(context, request.ttl_s, earlier(state.expires_at, delegated_until), since),
    },
    effect,
  );
}

/** Refuses what reaches beyond the approved effect, lives too long, or could never be used: it would be signed and counted for nothing. */
function requireTerms(terms: Terms, effect: Effect): Terms {
  const { scope, action, tool_category, conditions, ttl_s, expires_at } = terms;
  if (!isScopeWithin(scope, neededScope(effect)))
    refuse('CAPABILITY_WIDENED', 'It asks for more than the approved effect reaches.');
  requireLife(ttl_s);
  if (action !== actionOf(effect))
    refuse('CAPABILITY_WRONG_ACTION', `The attempt that runs next does "${actionOf(effect)}".`);
  if (tool_category !== null && tool_category !== categoryOf(effect))
    refuse('CAPABILITY_WRONG_ACTION', `The tool is not of the category "${tool_category}".`);
  const { not_before } = conditions;
  if (not_before !== undefined && Date.parse(not_before) >= Date.parse(expires_at))
    refuse('CAPABILITY_TOO_LONG', `It would end at ${expires_at}, before it begins at ${not_before}.`);
  return terms;
}

/** Before the schema looks: it passes over a file named "__proto__" in silence. */
function plainConditions(conditions: Conditions): Conditions {
  guardPlain(conditions);
  return parseConditions(conditions);
}

/** The earlier of two times. */
export function earlier(a: string, b: string): string {
  return Date.parse(a) <= Date.parse(b) ? a : b;
}

/** F6: an intent that requests several actions does not say which one this capability is for. */
function chosenAction({ actions }: IntentState, asked: string | undefined): string {
  if (asked !== undefined)
    return actions.includes(asked)
      ? asked
      : refuse('ACTION_NOT_REQUESTED', `It does not request "${asked}".`);
  if (actions.length > 1)
    refuse('CLARIFICATION_NEEDED', `The intent requests ${actions.join(', ')}. Name one of them.`);
  return actions[0]!;
}

function requireLife(ttl_s: number): void {
  if (!Number.isSafeInteger(ttl_s) || ttl_s < 1 || ttl_s > limits.capability_ttl_s)
    refuse('CAPABILITY_TOO_LONG', `A capability lives ${limits.capability_ttl_s / 60} minutes at most.`);
}

/** Never past the intent. Whole seconds, because a JWT knows no smaller ones. */
function lifeOf(
  { capability_ttl_s }: Context,
  asked_s: number | undefined,
  expires_at: string,
  since: Date,
): Pick<Terms, 'ttl_s' | 'expires_at'> {
  const ttl_s = asked_s ?? capability_ttl_s;
  requireLife(ttl_s);
  const ends_s = Math.floor(since.getTime() / 1000) + ttl_s;
  const intent_ends_s = Math.floor(Date.parse(expires_at) / 1000);
  if (asked_s !== undefined && ends_s > intent_ends_s)
    refuse('CAPABILITY_TOO_LONG', `What it rests on ends at ${expires_at}.`);
  return { ttl_s, expires_at: new Date(Math.min(ends_s, intent_ends_s) * 1000).toISOString() };
}

/** What an order was given for, from the bytes that its digest covers. It is held to the same limits as an order that is given now. */
export async function termsOrdered(
  store: Context['store'],
  { bounds, action, ordered_at, expires_at }: Capability,
  effect: Effect,
): Promise<Terms> {
  const ttl_s = Math.ceil((Date.parse(expires_at) - Date.parse(ordered_at)) / 1000);
  const sealed = bounds === null ? null : (parseJson(await store.object(bounds)) as unknown as Bounds);
  const { scope, tool_category, conditions } = sealed ?? {
    scope: neededScope(effect),
    tool_category: null,
    conditions: {},
  };
  const terms = { action, ttl_s, expires_at, tool_category, conditions: plainConditions(conditions) };
  return requireTerms({ ...terms, scope: canonicalScope(scope) }, effect);
}

/**
 * The attacker has the control key, and signs a token that reaches further than the order, or leaves its conditions out. So an executor
 * compares the first block with what the human signed. Later blocks are compared with the first when the token is opened.
 */
export async function requireAsOrdered(
  store: Context['store'],
  order: Capability,
  { scope, tool_category, conditions, action, audience, holder, expires_at }: CapabilityClaims,
  effect: Effect,
): Promise<void> {
  const terms = await termsOrdered(store, order, effect);
  const is_same =
    isSameJson(scope, terms.scope) &&
    isSameJson(conditions, terms.conditions) &&
    tool_category === terms.tool_category &&
    action === terms.action &&
    expires_at === terms.expires_at &&
    audience === order.audience &&
    holder === order.holder;
  if (!is_same) refuse('CAPABILITY_WIDENED', 'The token does not say what was ordered.');
}
