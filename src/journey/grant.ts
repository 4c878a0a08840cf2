import { randomUUID } from 'node:crypto';
import type { Digest } from '../canonical/digest.ts';
import { sha256 } from '../canonical/digest.ts';
import type { PublicKey } from '../canonical/ed25519.ts';
import { guardPlain } from '../canonical/json.ts';
import { type Conditions, parseConditions } from '../capability/conditions.ts';
import { kidOf } from '../capability/key.ts';
import { canonicalScope, isWithin, type ResourceScope } from '../capability/scope.ts';
import { mint, secondOf } from '../capability/token.ts';
import type { Body, Event } from '../event/event.ts';
import { approvedNow } from '../gate/standing.ts';
import type { IntentState } from '../gate/state.ts';
import type { System } from '../gate/system.ts';
import { type Signer, signAct } from '../identity/act.ts';
import type { Delegation } from '../identity/delegation.ts';
import { type Principal, requireHuman } from '../identity/principal.ts';
import { limits } from '../limits.ts';
import { type ReasonCode, refuse } from '../refusal.ts';
import { provenState } from './audit.ts';
import { momentOf, refuseDenied, requireFormats } from './check.ts';
import { type Asked, type Context, type ControlKey, type Kept, recordingRefusal } from './context.ts';
import { countsCapabilities, inCountedTurn } from './counted.ts';
import type { Effect } from './derived.ts';
import { openAsked } from './effect.ts';
import { requireBounds } from './extent.ts';
import { glassHolds } from './glass.ts';
import { observedGrant } from './observe.ts';
import { actionOf, categoryOf, neededScope } from './reach.ts';
import { type Ruling, requireAllowed, rule } from './rules.ts';
import { requireDelegation } from './submit.ts';

/** Step 3 of 002: which action, on what, with which kind of tool, under which conditions. */
export interface GrantRequest {
  readonly intent_id: string;
  readonly hash: string;
  /** A human; or a delegate, with the delegation. */
  readonly signer: Signer;
  readonly delegation?: string;
  /** May be left out where the intent requests only one. */
  readonly action?: string;
  /** What it may reach; without it exactly what the effect needs. */
  readonly scope?: ResourceScope;
  readonly tool_category?: string;
  readonly conditions?: Conditions;
  readonly ttl_s?: number;
  readonly audience?: string;
  /** Who has to prove to be the one who presents it. */
  readonly holder?: PublicKey;
}

export interface Granted {
  readonly issued: Event<'capability.issued'>;
  readonly token: string;
}

/** Step 4 of 002: denied by default, narrow, short, revocable, for one run. */
export async function grant(context: Context, request: GrantRequest): Promise<Granted> {
  return observedGrant(context.telemetry, request, () => grantOnce(context, request));
}

async function grantOnce(context: Context, request: GrantRequest): Promise<Granted> {
  requireFormats(request.intent_id, request.hash);
  return recordingRefusal(context, denied(request), async (keep) => {
    return inCountedTurn(context, request, () => decideAndIssue(context, request, keep));
  });
}

async function decideAndIssue(
  context: Context,
  request: GrantRequest,
  keep: (ruling: Kept) => void,
): Promise<Granted> {
  const { intent_id, hash } = request;
  // From the signed entries: whoever can write a row must not get a capability for it.
  const proven = (await provenState(context, intent_id)) ?? refuse('INTENT_NOT_FOUND');
  const { system, authorities } = proven;
  const moment = await momentOf(context, system, authorities);
  const { now } = moment;
  const standing = approvedNow(proven.state, hash, moment);
  if ('eligible' in standing) return refuseDenied(standing);
  const { state } = standing;
  const { asker, held } = await askerOf(context, request, now);
  // Counted before the policies are asked: if another one is issued from here on, the store finds this decision stale.
  const paced = request.delegation === undefined ? state.proposer : request.signer.name;
  const nth = ((await context.store.find('pace', paced))?.total ?? 0) + 1;
  const asked = await openAsked(context, state);
  requireBounds(context, asked.envelope, asked.effect);
  const terms = termsOf(context, request, state, asked, now, held?.expires_at);

  const delegated = held !== null;
  const matter = { principal: asker, delegated, state, ...asked, system, authorities };
  const ruling = await rule(context, { ...matter, action: 'grant', now, grant: terms });
  keep(ruling);
  const glass = await glassHolds(context, { ...matter, now }, authorities);
  if (!glass) requireAllowed(ruling);
  const ordinal = (await countsCapabilities(context, ruling.snapshot)) ? nth : null;
  const approvers = standing.approvers.map((name) => ({
    name,
    roles: [...(authorities.principal(name)?.roles ?? [])],
  }));
  return issue(context, request, { state, system, terms, ruling, ordinal, glass, approvers, now });
}

/** A human, or somebody to whom a human delegated this action. */
async function askerOf(
  context: Context,
  { signer, delegation }: GrantRequest,
  now: Date,
): Promise<{ asker: Principal; held: Delegation | null }> {
  const principal = await context.store.find('principal', signer.name);
  if (delegation === undefined) return { asker: requireHuman(principal, signer.public_key), held: null };
  const { delegation: held } = await requireDelegation(context, delegation, signer, now);
  return { asker: principal ?? refuse('PRINCIPAL_UNKNOWN'), held };
}

interface Terms {
  readonly action: string;
  readonly scope: ResourceScope;
  readonly tool_category: string | null;
  readonly conditions: Conditions;
  readonly ttl_s: number;
  readonly expires_at: string;
}

/** What would be granted, or why it cannot be. */
export function termsOf(
  context: Context,
  request: Pick<GrantRequest, 'action' | 'scope' | 'tool_category' | 'conditions' | 'ttl_s'>,
  state: IntentState,
  { effect }: Asked,
  now: Date,
  delegated_until: string = state.expires_at,
): Terms {
  const needs = neededScope(effect);
  const scope = request.scope ? canonicalScope(request.scope) : needs;
  if (!isWithin(scope, needs))
    refuse('CAPABILITY_WIDENED', 'It asks for more than the approved effect reaches.');
  const terms = {
    action: chosenAction(state, request.action),
    scope,
    tool_category: request.tool_category ?? null,
    conditions: plainConditions(request.conditions ?? {}),
    ...lifeOf(context, request.ttl_s, earlier(state.expires_at, delegated_until), now),
  };
  requireUsableOnce(terms, effect);
  return terms;
}

/** Refuses what no run could ever use: it would be signed, counted and recorded for nothing. */
function requireUsableOnce({ action, tool_category, conditions, expires_at }: Terms, effect: Effect): void {
  if (action !== actionOf(effect))
    refuse('CAPABILITY_WRONG_ACTION', `The attempt that runs next does "${actionOf(effect)}".`);
  if (tool_category !== null && tool_category !== categoryOf(effect))
    refuse('CAPABILITY_WRONG_ACTION', `The tool is not of the category "${tool_category}".`);
  const { not_before } = conditions;
  if (not_before !== undefined && Date.parse(not_before) >= Date.parse(expires_at))
    refuse('CAPABILITY_TOO_LONG', `It would end at ${expires_at}, before it begins at ${not_before}.`);
}

/** Before the schema looks: it passes over a file named "__proto__" in silence. */
function plainConditions(conditions: Conditions): Conditions {
  guardPlain(conditions);
  return parseConditions(conditions);
}

function earlier(a: string, b: string): string {
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

/** Never past the intent. Whole seconds, because a JWT knows no smaller ones. */
function lifeOf(
  { capability_ttl_s }: Context,
  asked_s: number | undefined,
  expires_at: string,
  now: Date,
): Pick<Terms, 'ttl_s' | 'expires_at'> {
  const ttl_s = asked_s ?? capability_ttl_s;
  if (!Number.isSafeInteger(ttl_s) || ttl_s < 1 || ttl_s > limits.capability_ttl_s)
    refuse('CAPABILITY_TOO_LONG', `A capability lives ${limits.capability_ttl_s / 60} minutes at most.`);
  const ends_s = Math.floor(now.getTime() / 1000) + ttl_s;
  const intent_ends_s = Math.floor(Date.parse(expires_at) / 1000);
  if (asked_s !== undefined && ends_s > intent_ends_s)
    refuse('CAPABILITY_TOO_LONG', `What it rests on ends at ${expires_at}.`);
  return { ttl_s, expires_at: new Date(Math.min(ends_s, intent_ends_s) * 1000).toISOString() };
}

interface Issuing {
  readonly state: IntentState;
  readonly system: System;
  readonly terms: Terms;
  readonly ruling: Ruling;
  readonly ordinal: number | null;
  readonly glass: boolean;
  readonly approvers: Body<'capability.issued'>['approvers'];
  readonly now: Date;
}

/** The token is signed by the control key, the request by whoever made it; both are recorded in one commit. */
async function issue(context: Context, request: GrantRequest, issuing: Issuing): Promise<Granted> {
  const { state, terms, ruling, ordinal, glass, approvers, now } = issuing;
  const { signer, holder = null, delegation = null, audience = context.audience } = request;
  const capability_id = randomUUID();
  const control = currentControlKey(context, issuing.system);
  const token = mintToken(context, control, { capability_id, audience, holder, ...issuing });
  const bytes = Buffer.from(token);
  const issued = signAct(
    context.origin,
    'capability.issued',
    state.intent_id,
    {
      capability_id,
      attempt: state.attempt,
      hash: state.hash,
      effect_digest: state.effect_digest,
      action: terms.action,
      token: sha256(bytes),
      audience,
      holder,
      control_key: control.public_key,
      expires_at: terms.expires_at,
      policy: ruling.snapshot,
      decision: ruling.digest,
      ordinal,
      approvers,
      glass,
      delegation,
    },
    signer,
    now,
  );
  await context.store.commit({ events: [issued], objects: [bytes, ruling.bytes] });
  return { issued, token };
}

function mintToken(
  context: Context,
  { public_key, key }: ControlKey,
  parts: Issuing & { capability_id: string; audience: string; holder: PublicKey | null },
): string {
  const { state, terms, ruling, now, audience, holder, capability_id } = parts;
  const { action, scope, tool_category, conditions, expires_at } = terms;
  return mint(
    {
      jti: capability_id,
      issuer: context.origin,
      audience,
      intent_id: state.intent_id,
      intent_hash: state.hash,
      effect_digest: state.effect_digest,
      attempt: state.attempt,
      policy: ruling.snapshot,
      action,
      tool_category,
      scope,
      conditions,
      issued_at: secondOf(now),
      expires_at,
      holder,
    },
    { kid: kidOf(public_key), key },
  );
}

/** The newest key that a human added. */
function currentControlKey({ control_key }: Context, { control_keys }: System): ControlKey {
  return control_key(control_keys.at(-1) ?? refuse('KEY_FILE_INVALID', 'The ledger names no control key.'));
}

/** F2: the denial is recorded, with the decision of the policies where it was theirs. */
function denied({ intent_id, hash, signer }: GrantRequest) {
  return (reason_code: ReasonCode, decision: Digest | null): Event => ({
    kind: 'capability.denied',
    subject: intent_id,
    body: { hash, by: signer.name, reason_code, decision },
  });
}
