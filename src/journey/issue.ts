import { sha256 } from '../canonical/digest.ts';
import { kidOf } from '../capability/key.ts';
import { mint, secondOf } from '../capability/token.ts';
import { type Body, type Event, parseEvent } from '../event/event.ts';
import { currentCapability } from '../gate/capability.ts';
import { next } from '../gate/next.ts';
import { lostBy, type Standing } from '../gate/standing.ts';
import type { Capability, IntentState } from '../gate/state.ts';
import type { System } from '../gate/system.ts';
import type { Authorities } from '../identity/delegation.ts';
import { signFact } from '../identity/fact.ts';
import type { Principal } from '../identity/principal.ts';
import { type ReasonCode, refuse } from '../refusal.ts';
import { breakGlassHolds } from './break-glass.ts';
import type { Asked, Context, Kept } from './context.ts';
import { currentControlKey } from './control.ts';
import type { ControlPlane } from './control-plane.ts';
import { countsCapabilities } from './counted.ts';
import { requireBounds } from './extent.ts';
import { type Presented, requireCapability, type UsableCapability } from './present.ts';
import { type Ruling, requireAllowed, rule } from './rules.ts';
import { type Terms, termsOrdered } from './terms.ts';

/** What the decision to issue a capability is made from, each from signed entries. */
export interface Issuing {
  readonly standing: Standing;
  readonly system: System;
  readonly authorities: Authorities;
  readonly asked: Asked;
  /** Who orders it, and whether under a delegation. */
  readonly principal: Principal;
  readonly delegated: boolean;
  readonly terms: Terms;
  readonly now: Date;
}

/** The same before it is known who orders it, and what. */
export type AskedToRun = Omit<Issuing, 'principal' | 'delegated' | 'terms'>;

/** What the policies say to a capability, and what that counted. */
export interface IssueDecision {
  readonly ruling: Ruling;
  readonly break_glass: boolean;
  readonly ordinal: number | null;
}

/** Asks the policies. Only a break-glass of two humans goes past a no. */
export async function decideIssue(
  context: Context,
  { standing: { state }, system, authorities, asked, principal, delegated, terms, now }: Issuing,
  keep: (ruling: Kept) => void,
): Promise<IssueDecision> {
  // Counted before the policies are asked: if another one is issued from here on, the store finds this decision stale.
  const paced = delegated ? principal.name : state.proposer;
  const nth = ((await context.store.find('pace', paced))?.total ?? 0) + 1;
  const matter = { principal, delegated, state, ...asked, system, authorities, now };
  const ruling = await rule(context, { action: 'grant', grant: terms, ...matter });
  keep(ruling);
  const break_glass = await breakGlassHolds(context, matter, authorities);
  if (!break_glass) requireAllowed(ruling);
  const ordinal = (await countsCapabilities(context, ruling.snapshot)) ? nth : null;
  return { ruling, break_glass, ordinal };
}

/** A capability that only has to be written. */
export interface Issue {
  readonly issued: Event<'capability.issued'>;
  readonly token: string;
  readonly objects: readonly Uint8Array[];
}

type Order = Pick<Capability, 'capability_id' | 'attempt' | 'effect_digest' | 'audience' | 'holder'>;

/** Step 4 of 002: narrow, short, revocable, for one run. The control key signs the token and the entry. */
export function issueOf(
  context: Context,
  { standing, system, authorities, terms, now }: Issuing,
  { ruling, break_glass, ordinal }: IssueDecision,
  order: Order,
): Issue {
  const { state } = standing;
  const { action, scope, tool_category, conditions, expires_at } = terms;
  const { capability_id, attempt, effect_digest, audience, holder } = order;
  const control = currentControlKey(context, system);
  const token = mint(
    {
      jti: capability_id,
      issuer: context.origin,
      audience,
      intent_id: state.intent_id,
      intent_hash: state.hash,
      effect_digest,
      attempt,
      policy: ruling.snapshot,
      action,
      tool_category,
      scope,
      conditions,
      issued_at: secondOf(now),
      expires_at,
      holder,
    },
    { kid: kidOf(control.public_key), key: control.key },
  );
  const bytes = Buffer.from(token);
  const body = {
    capability_id,
    attempt,
    hash: state.hash,
    effect_digest,
    action,
    token: sha256(bytes),
    expires_at,
    policy: ruling.snapshot,
    decision: ruling.digest,
    ordinal,
    approvers: approversOf(standing, authorities),
    break_glass,
  };
  const fact = { kind: 'capability.issued', subject: state.intent_id, body } as const;
  const issued = signFact(context.origin, 'control', fact, control);
  return { issued, token, objects: [bytes, ruling.bytes] };
}

/** The humans behind the approvals that count, with the roles that they have now. */
export function approversOf(
  { approvers }: Standing,
  authorities: Authorities,
): Body<'capability.issued'>['approvers'] {
  return approvers.map((name) => ({ name, roles: [...(authorities.principal(name)?.roles ?? [])] }));
}

/** What a look at an order found, besides what it refused. */
export interface Noted {
  /** The policies denied what was ordered: the order ends. */
  denied_order: string | null;
}

export interface Looking {
  readonly keep: (ruling: Kept) => void;
  readonly noted: Noted;
}

/** The capability that is presented, was issued, or is issued now under an open order. */
export async function capabilityFor(
  context: Context,
  about: AskedToRun,
  presented: Presented,
  looking: Looking,
): Promise<{ capability: UsableCapability; issue: Issue | null }> {
  const { asked, system, now, standing } = about;
  const { state } = standing;
  const usable = (text: string, known: IntentState) =>
    requireCapability(context, { state: known, system }, asked.effect, { ...presented, text });
  if (presented.text !== undefined) return { capability: await usable(presented.text, state), issue: null };
  const chosen = currentCapability(state, now);
  if (chosen.issued !== null) {
    const token = Buffer.from(await context.store.object(chosen.issued.token)).toString('utf8');
    return { capability: await usable(token, state), issue: null };
  }
  const { control_plane } = context;
  const issue = control_plane
    ? await issuedElsewhere(control_plane, state, chosen, looking)
    : await issueNow(context, about, chosen, looking);
  const issued = next(state, issue.issued, now.toISOString());
  return { capability: await usable(issue.token, issued), issue };
}

/** The control plane decides, under the policies of now, whether what was ordered is issued. A no of theirs ends the order. */
export async function issueNow(
  context: Context,
  about: AskedToRun,
  order: Capability,
  { keep, noted }: Looking,
): Promise<Issue> {
  const lost = lostBy(order.approvers, about.standing, about.authorities);
  if (lost) throw lost;
  const principal = about.authorities.principal(order.by) ?? refuse('PRINCIPAL_UNKNOWN');
  const terms = await termsOrdered(context.store, order, about.asked.effect);
  requireBounds(context, about.asked.envelope, about.asked.effect);
  const issuing = { principal, delegated: order.delegation !== null, terms, ...about };
  noted.denied_order = order.capability_id;
  const decision = await decideIssue(context, issuing, keep);
  noted.denied_order = null;
  return issueOf(context, issuing, decision, order);
}

/** The same, decided by a service. The caller verifies the token and the entry, and compares them with the order. */
async function issuedElsewhere(
  control_plane: ControlPlane,
  { intent_id, hash }: IntentState,
  { capability_id: order_id }: Capability,
  { keep, noted }: Looking,
): Promise<Issue> {
  const answer = await control_plane({ intent_id, hash, order_id });
  const decision = Buffer.from(answer.decision, 'base64');
  if ('denied' in answer) {
    keep({ digest: sha256(decision), bytes: decision });
    noted.denied_order = order_id;
    return refuse(answer.denied as ReasonCode, answer.words);
  }
  const issued = parseEvent({ kind: 'capability.issued', subject: intent_id, body: answer.issued });
  return {
    issued: issued as Event<'capability.issued'>,
    token: answer.token,
    objects: [Buffer.from(answer.token), decision],
  };
}
