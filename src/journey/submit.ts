import { approvalExpiry } from '../approval/approval.ts';
import type { Digest } from '../canonical/digest.ts';
import type { Drafted, Event } from '../event/event.ts';
import { isOwnDelegated } from '../gate/signers.ts';
import { hasExpired } from '../gate/status-word.ts';
import { drawnAt, type Signer, signAct } from '../identity/act.ts';
import { type Authorities, covers, type Delegation, requireHolds } from '../identity/delegation.ts';
import { type ReasonCode, refuse } from '../refusal.ts';
import { requireFormats } from './check.ts';
import {
  authoritiesFor,
  type Context,
  humansNow,
  type Kept,
  recordingRefusal,
  requireClock,
  requireIntent,
} from './context.ts';
import { decidedHere } from './control.ts';
import type { Effect } from './derived.ts';
import { openAsked, requireSameEffect } from './effect.ts';
import { requireBounds } from './extent.ts';
import { signedOnce } from './fresh.ts';
import { requireWithinGrant } from './grant-bounds.ts';
import { type Matter, type Ruling, requireAllowed, rule } from './rules.ts';
import { openEffect } from './sealed-effect.ts';
import { earlier } from './terms.ts';

/**
 * Step 1 of 002, for each submitter: what the intent says about its own bounds must be clear and must hold, and the
 * policies must accept it. Schema, issuer and expiry were looked at before.
 */
export async function accept(
  context: Context,
  matter: Omit<Matter, 'action'>,
  keep: (ruling: Kept) => void,
): Promise<Ruling> {
  const { state, effect } = matter;
  // What a human may turn to after a failure is accepted now, with the rest, or not at all.
  for (const choice of state.choices.slice(1)) {
    const alternate = openEffect(await context.store.object(choice.effect_digest));
    await acceptEffect(
      context,
      { ...matter, effect: alternate, state: { ...state, tool: choice.tool } },
      keep,
    );
  }
  return acceptEffect(context, { ...matter, effect }, keep);
}

async function acceptEffect(
  context: Context,
  matter: Omit<Matter, 'action'>,
  keep: (ruling: Kept) => void,
): Promise<Ruling> {
  requireBounds(context, matter.envelope, matter.effect);
  const ruling = await rule(context, { action: 'submit', ...matter });
  keep(ruling);
  requireAllowed(ruling);
  return ruling;
}

/** F1: the intent is refused, and that is recorded. */
export function refused(subject: string) {
  return (reason_code: ReasonCode, decision: Digest | null): Event => ({
    kind: 'intent.refused',
    subject,
    body: { reason_code, decision },
  });
}

export interface SubmitRequest {
  readonly intent_id: string;
  readonly hash: string;
  /** The delegate, and the delegation that a human signed for that key. */
  readonly signer: Signer;
  readonly delegation: string;
}

/**
 * Submits and freezes an intent under a delegation. If the human who delegated said so, this is also the approval, by that
 * human; otherwise a human still has to approve.
 */
export async function submit(context: Context, request: SubmitRequest): Promise<Event<'intent.delegated'>> {
  const { intent_id, hash, signer } = request;
  requireFormats(intent_id, hash);
  return recordingRefusal(context, refused(intent_id), (keep) =>
    signedOnce(context, signer, (once) => submitNow(context, { ...request, signer: once }, keep)),
  );
}

async function submitNow(
  context: Context,
  { intent_id, hash, signer, delegation }: SubmitRequest,
  keep: (ruling: Kept) => void,
): Promise<Event<'intent.delegated'>> {
  const now = await requireClock(context);
  const state = await requireIntent(context, intent_id);
  if (state.hash !== hash) refuse('HASH_MISMATCH');
  if (hasExpired(state, now)) refuse('INTENT_EXPIRED');
  const held = await requireDelegation(context, delegation, signer, now);
  const asked = await openAsked(context, state);
  await requireSameEffect(context, state, asked);
  const system = await context.store.system();
  const matter = { state, ...asked, system, now };
  const { delegated, objects } = await draftSubmission(context, matter, held, signer, keep);
  const events = decidedHere(context, signer, system, [delegated]);
  await context.store.commit({ events, objects });
  return events[0] as Event<'intent.delegated'>;
}

interface PreviewRequest {
  readonly intent_id: string;
  readonly delegation: string;
  /** Who would submit; null for who may look at every delegation. */
  readonly by: string | null;
}

/** What a delegate would sign for. Whether it is accepted, only the submission finds out. */
export async function previewSubmit(context: Context, { intent_id, delegation: id, by }: PreviewRequest) {
  const state = await requireIntent(context, intent_id);
  const authorities = await authoritiesFor(context, { people: [], delegations: [id] });
  const known = authorities.delegation(id);
  // What was delegated to another one is as unknown as what was never delegated.
  if (known === null || (by !== null && known.delegate !== by)) refuse('DELEGATION_UNKNOWN');
  const delegation: Delegation = requireHolds(authorities, id, context.clock().toISOString());
  if (!covers(delegation, state.actions)) refuse('DELEGATION_OUT_OF_SCOPE');
  const { envelope, effect } = await openAsked(context, state);
  const alternate_effects = await Promise.all(
    state.choices.slice(1).map(async (one) => openEffect(await context.store.object(one.effect_digest))),
  );
  return {
    state,
    envelope,
    effect,
    alternate_effects,
    approver: delegation.approves ? delegation.root : null,
  };
}

export interface DraftedSubmission {
  readonly delegated: Drafted<'intent.delegated'>;
  readonly objects: readonly Uint8Array[];
}

/** A submission that the control plane has yet to sign: the policies accept it, and the delegate has signed it. */
export async function draftSubmission(
  context: Context,
  matter: Omit<Matter, 'action' | 'principal'>,
  { authorities, delegation }: HeldDelegation,
  signer: Signer,
  keep: (ruling: Kept) => void,
): Promise<DraftedSubmission> {
  const { state, now } = matter;
  if (!covers(delegation, state.actions)) refuse('DELEGATION_OUT_OF_SCOPE');
  await requireGranted(context, delegation, matter);
  const principal = authorities.principal(signer.name) ?? refuse('PRINCIPAL_UNKNOWN');
  const ruling = await accept(context, { principal, ...matter, delegated: true }, keep);
  if (delegation.approves) await requireMayStandFor(context, delegation, matter, keep);
  const delegated = await signAct(
    context.origin,
    'intent.delegated',
    state.intent_id,
    {
      hash: state.hash,
      effect_digest: state.effect_digest,
      delegation: delegation.delegation_id,
      approver: delegation.approves ? delegation.root : null,
      expires_at: earlier(
        approvalExpiry(drawnAt(signer, now), context.approval_ttl_s, state.expires_at),
        delegation.expires_at,
      ),
      decision: ruling.digest,
    },
    signer,
    now,
  );
  return { delegated, objects: [ruling.bytes] };
}

/** What a human may turn to after a failure would run under the same use. */
async function requireGranted(
  context: Context,
  delegation: Delegation,
  { state, effect }: Pick<Matter, 'state' | 'effect'>,
): Promise<void> {
  if (delegation.grant === null) return requireCounted(delegation, effect);
  if (state.choices.length > 1) refuse('GRANT_OUTSIDE', 'A use of a grant is one call, without alternates.');
  await requireWithinGrant(context, delegation, effect);
}

/** Without a grant nothing counts its calls, and none of them is bound to a definition: between once and always there would be always. */
function requireCounted({ approves, grant }: Delegation, { kind }: Pick<Effect, 'kind'>): void {
  if (kind === 'mcp' && approves && grant === null)
    refuse('GRANT_OUTSIDE', 'A call of an MCP server runs without a human only under a number of uses.');
}

/** A delegation that stands for an approval can do no more than the human who gave it. */
async function requireMayStandFor(
  context: Context,
  { root, delegate }: Delegation,
  matter: Omit<Matter, 'action' | 'principal'>,
  keep: (ruling: Kept) => void,
): Promise<void> {
  const principal = (await context.store.find('principal', root.by)) ?? refuse('PRINCIPAL_UNKNOWN');
  if ((await humansNow(context)) > 1 && isOwnDelegated(matter.state, root.by, delegate))
    refuse('SELF_APPROVAL');
  const ruling = await rule(context, { principal, action: 'approve', ...matter, delegated: true });
  keep(ruling);
  requireAllowed(ruling);
}

export interface HeldDelegation {
  readonly authorities: Authorities;
  readonly delegation: Delegation;
}

/** The delegation must hold now and be for this key. The store looks again, and at the signature. */
export async function requireDelegation(
  context: Context,
  delegation_id: string,
  signer: Signer,
  now: Date,
): Promise<HeldDelegation> {
  const authorities = await authoritiesFor(context, { people: [signer.name], delegations: [delegation_id] });
  const delegation: Delegation = requireHolds(authorities, delegation_id, now.toISOString());
  if (delegation.delegate !== signer.name || delegation.delegate_key !== signer.public_key)
    refuse('DELEGATION_OUT_OF_SCOPE', `The delegation is to "${delegation.delegate}".`);
  return { authorities, delegation };
}
