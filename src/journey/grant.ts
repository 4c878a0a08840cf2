import type { Digest } from '../canonical/digest.ts';
import type { PublicKey } from '../canonical/ed25519.ts';
import { sealBounds } from '../capability/bounds.ts';
import type { Drafted, Event } from '../event/event.ts';
import { approvedNow, type Standing } from '../gate/standing.ts';
import type { IntentState } from '../gate/state.ts';
import { type ActFacts, drawnAt, drawnId, type Signer, signAct } from '../identity/act.ts';
import type { Delegation } from '../identity/delegation.ts';
import { type Principal, requireHuman } from '../identity/principal.ts';
import { signingOnce } from '../identity/signing-once.ts';
import { type ReasonCode, refuse } from '../refusal.ts';
import { orderAudience } from './addressed.ts';
import { hasApproved, submittedBy, weighApproval } from './approve.ts';
import { provenState } from './audit.ts';
import { momentOf, refuseDenied, requireFormats } from './check.ts';
import { type Context, type Kept, type Proven, recordingRefusal } from './context.ts';
import { decidedHere } from './control.ts';
import { inCountedTurn } from './counted.ts';
import { openAsked } from './effect.ts';
import { requireBounds } from './extent.ts';
import { signedOnce } from './fresh.ts';
import { approversOf, decideIssue, type Issuing, issueOf } from './issue.ts';
import { observedGrant } from './observe.ts';
import { seenOf } from './seen.ts';
import { refused, requireDelegation } from './submit.ts';
import { type Terms, type TermsRequest, termsOf } from './terms.ts';

interface OrderRequest extends TermsRequest {
  readonly intent_id: string;
  readonly hash: string;
  /** A human; or a delegate, with the delegation. */
  readonly signer: Signer;
  readonly audience?: string;
  /** What its human was shown. Another attempt, or an alternate in its place, is then refused before it is signed. */
  readonly shown?: Pick<IntentState, 'attempt' | 'effect_digest'>;
}

export interface GrantRequest extends OrderRequest {
  readonly delegation?: string;
  /** Who has to prove to be the one who presents it. Then it is issued at once. */
  readonly holder?: PublicKey;
  /** Issued at once, for an executor elsewhere. Otherwise it is issued when the run is claimed. */
  readonly is_issued?: boolean;
}

export interface Ordered {
  readonly ordered: Event<'order.given'>;
  readonly terms: Terms;
  /** For `run`: the human who signed the order saw what it is for. */
  readonly seen: Digest;
}

export interface Granted extends Ordered {
  /** Two humans went past the policies, or past a freeze. */
  readonly break_glass: boolean;
  /** Null where it is issued when the run is claimed. */
  readonly issued: Event<'capability.issued'> | null;
  readonly token: string | null;
}

/** Step 3 of 002: a human, or a delegate, orders one run. What the policies would deny now is not ordered. */
export async function grant(context: Context, request: GrantRequest): Promise<Granted> {
  return observedGrant(context.telemetry, request, () => grantOnce(context, request));
}

async function grantOnce(context: Context, request: GrantRequest): Promise<Granted> {
  requireFormats(request.intent_id, request.hash);
  const { signer, delegation } = request;
  const { intent_id } = request;
  const asked = { intent_id, order: { by: signer.name, delegated: delegation !== undefined } };
  return recordingRefusal(context, denied(request), async (keep) => {
    await context.step();
    const signed = { ...request, signer: signingOnce(signer, context.clock()) };
    return inCountedTurn(context, asked, () => decideAndOrder(context, signed, keep));
  });
}

async function decideAndOrder(
  context: Context,
  request: GrantRequest,
  keep: (ruling: Kept) => void,
): Promise<Granted> {
  const { intent_id, hash, signer, holder = null } = request;
  // From the signed entries: an attacker who can write a row must not get a capability for it.
  const proven = (await provenState(context, intent_id)) ?? refuse('INTENT_NOT_FOUND');
  const { system, authorities } = proven;
  const { standing, now } = await requireApproved(context, proven, hash);
  const { state } = standing;
  const { asker, held } = await askerOf(context, request, now);
  const asked = await openAsked(context, state);
  requireBounds(context, asked.envelope, asked.effect);
  const terms = termsOf(context, request, state, asked, drawnAt(signer, now), held?.expires_at);

  const about = {
    standing,
    system,
    authorities,
    asked,
    principal: asker,
    delegated: held !== null,
    terms,
    now,
  };
  const decision = await decideIssue(context, about, keep);
  const { ordered: drafted, objects } = await draftOrder(context, request, about);
  const events = decidedHere(context, signer, system, [drafted]);
  const ordered = events[0] as Event<'order.given'>;
  const { break_glass } = decision;
  if (holder === null && request.is_issued !== true) {
    await context.store.commit({ events, objects });
    return { ordered, terms, seen: seenOf(ordered.body), break_glass, issued: null, token: null };
  }
  const order = { capability_id: ordered.body.order_id, ...ordered.body };
  const { issued, token, objects: more } = issueOf(context, about, decision, order);
  await context.store.commit({ events: [ordered, issued], objects: [...objects, ...more] });
  return { ordered, terms, seen: seenOf(ordered.body), break_glass, issued, token };
}

export interface TurnRequest extends OrderRequest {
  readonly approval_ttl_s?: number;
}

export interface Turned extends Ordered {
  /** Until when the approval counts; null where this human had approved it before. */
  readonly approved_until: string | null;
}

/** Approves and orders one run with one signature. A human whose approval counts already only orders it. */
export async function turn(context: Context, request: TurnRequest): Promise<Turned> {
  const { intent_id, hash, signer } = request;
  requireFormats(intent_id, hash);
  const state = await context.store.find('intent', intent_id);
  if (state && (await hasApproved(context, state, signer.name)))
    return { ...(await grant(context, request)), approved_until: null };
  return recordingRefusal(context, refused(intent_id), async (keep) => {
    await context.step();
    return signedOnce(context, signer, (once) =>
      approveAndOrder(context, { ...request, signer: once }, keep),
    );
  });
}

async function approveAndOrder(
  context: Context,
  request: TurnRequest,
  keep: (ruling: Kept) => void,
): Promise<Turned> {
  const { hash, signer } = request;
  const approval = await weighApproval(context, request, request.approval_ttl_s, keep);
  const { now, asked, system, authorities, approved, expires_at } = approval;
  const { standing } = await requireApproved(context, { state: approved, ...approval }, hash, now);
  const terms = termsOf(context, request, approved, asked, drawnAt(signer, now));
  const approves = { approves_until: expires_at, decision: approval.ruling.digest };
  const about = { standing, system, authorities, asked, terms, now };
  const { ordered: drafted, objects } = await draftOrder(context, request, about, approves);
  const events = decidedHere(context, signer, system, [...submittedBy(approval, signer), drafted]);
  await context.store.commit({ events, objects: [...objects, ...approval.objects] });
  const ordered = events.at(-1) as Event<'order.given'>;
  return { ordered, terms, seen: seenOf(ordered.body), approved_until: expires_at };
}

/** Where the intent stands, if a capability may be granted for it. */
export async function requireApproved(
  context: Context,
  { state, system, authorities }: Proven,
  hash: string,
  at?: Date,
): Promise<{ readonly standing: Standing; readonly now: Date }> {
  const moment = await momentOf(context, system, authorities);
  const now = at ?? moment.now;
  const standing = approvedNow(state, hash, { ...moment, now });
  return 'eligible' in standing ? refuseDenied(standing) : { standing, now };
}

type Approves = Pick<ActFacts<'order.given'>, 'approves_until' | 'decision'>;

/** An order of a human or a delegate that the control plane has yet to sign. Only a human approves with the same signature. */
export async function draftOrder(
  context: Context,
  request: Omit<GrantRequest, 'intent_id' | 'hash'>,
  { standing, system, authorities, asked, terms, now }: Omit<Issuing, 'principal' | 'delegated'>,
  approves: Approves = { approves_until: null, decision: null },
): Promise<{ readonly ordered: Drafted<'order.given'>; readonly objects: readonly Uint8Array[] }> {
  const { signer, holder = null, delegation = null, shown } = request;
  const audience = orderAudience(context, system, asked.effect, request.audience);
  const { intent_id, attempt, hash, effect_digest } = standing.state;
  if (shown && (shown.attempt !== attempt || shown.effect_digest !== effect_digest)) refuse('SEEN_OTHER');
  const order_id = drawnId(signer);
  const { action, expires_at } = terms;
  const bounds = sealBounds(request, terms, order_id);
  const lapses_ms = drawnAt(signer, now).getTime() + context.order_ttl_s * 1000;
  const facts = {
    order_id,
    attempt,
    hash,
    effect_digest,
    action,
    bounds: bounds?.digest ?? null,
    audience,
    holder,
    expires_at,
    lapses_at: new Date(Math.min(lapses_ms, Date.parse(expires_at))).toISOString(),
    delegation,
    account: context.account,
    approvers: approversOf(standing, authorities),
    ...approves,
  };
  const ordered = await signAct(context.origin, 'order.given', intent_id, facts, signer, now);
  return { ordered, objects: bounds ? [bounds.bytes] : [] };
}

/** A human, or a delegate of a human for this action. */
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

/** F2: the denial is recorded, with the decision of the policies where it was theirs. */
function denied({ intent_id, hash, signer }: GrantRequest) {
  return (reason_code: ReasonCode, decision: Digest | null): Event => ({
    kind: 'capability.denied',
    subject: intent_id,
    body: { hash, by: signer.name, reason_code, decision },
  });
}
