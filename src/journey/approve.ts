import { approvalExpiry, requireMayApprove } from '../approval/approval.ts';
import type { Drafted, Event } from '../event/event.ts';
import { approvalsNow } from '../gate/approvals.ts';
import { withApproval } from '../gate/approved.ts';
import { isOwnRequest } from '../gate/signers.ts';
import type { IntentState } from '../gate/state.ts';
import { hasExpired, isDue } from '../gate/status-word.ts';
import type { System } from '../gate/system.ts';
import { drawnAt, type Signer, signAct } from '../identity/act.ts';
import { assuranceOf } from '../identity/assurance.ts';
import type { Authorities } from '../identity/delegation.ts';
import { requireHuman } from '../identity/principal.ts';
import { requireFormats } from './check.ts';
import {
  type Asked,
  authoritiesFor,
  type Context,
  humansNow,
  type Kept,
  namedIn,
  recordingRefusal,
  requireClock,
  requireIntent,
} from './context.ts';
import { decidedHere } from './control.ts';
import { openAsked, requireSameEffect } from './effect.ts';
import { signedOnce } from './fresh.ts';
import { type Ruling, requireAllowed, rule } from './rules.ts';
import { accept, refused } from './submit.ts';

export interface ApproveRequest {
  readonly intent_id: string;
  readonly hash: string;
  readonly signer: Signer;
  readonly ttl_s?: number;
}

/** A human signs the hash. The first signature is also the submission and the freeze (002 steps 1 and 2). */
export async function approve(context: Context, request: ApproveRequest): Promise<Event<'approval.granted'>> {
  const { intent_id, hash, signer } = request;
  requireFormats(intent_id, hash);
  return recordingRefusal(context, refused(intent_id), async (keep) => {
    await context.step();
    return signedOnce(context, signer, (once) => approveNow(context, { ...request, signer: once }, keep));
  });
}

async function approveNow(
  context: Context,
  request: ApproveRequest,
  keep: (ruling: Kept) => void,
): Promise<Event<'approval.granted'>> {
  const { intent_id, hash, signer } = request;
  const approval = await weighApproval(context, request, request.ttl_s, keep);
  const { now, system, expires_at, ruling, approved } = approval;
  const { effect_digest } = approved;
  const facts = { hash, effect_digest, expires_at, account: context.account, decision: ruling.digest };
  const granted = await signAct(context.origin, 'approval.granted', intent_id, facts, signer, now);
  const events = decidedHere(context, signer, system, [...submittedBy(approval, signer), granted]);
  await context.store.commit({ events, objects: approval.objects });
  return events.at(-1) as Event<'approval.granted'>;
}

/** An approval that only has to be signed. */
export interface WeighedApproval {
  readonly now: Date;
  readonly system: System;
  readonly authorities: Authorities;
  readonly asked: Asked;
  /** Until when it counts. */
  readonly expires_at: string;
  /** The intent as it is once this human has approved it. */
  readonly approved: IntentState;
  /** That the intent is accepted, where this is its first approval. */
  readonly submission: Ruling | null;
  readonly ruling: Ruling;
  readonly objects: readonly Uint8Array[];
}

/** Whether this human may approve it: who they are, that the effect is what it was, and what the policies say. */
export async function weighApproval(
  context: Context,
  { intent_id, hash, signer }: Pick<ApproveRequest, 'intent_id' | 'hash' | 'signer'>,
  ttl_s: number = context.approval_ttl_s,
  keep: (ruling: Kept) => void,
): Promise<WeighedApproval> {
  const now = await requireClock(context);
  const state = await requireIntent(context, intent_id);
  const approver = requireHuman(await context.store.find('principal', signer.name), signer.public_key);
  requireMayApprove({
    hash,
    approved_hash: state.hash,
    is_own: isOwnRequest(state, approver.name),
    has_expired: hasExpired(state, now),
    approver,
    humans: await humansNow(context),
  });
  // An executable that changed since the proposal is found now, not when it is too late to look.
  const asked = await openAsked(context, state);
  await requireSameEffect(context, state, asked);

  const system = await context.store.system();
  const matter = { principal: approver, state, ...asked, system, now };
  const submission = state.approvals.length === 0 ? await accept(context, matter, keep) : null;
  const ruling = await rule(context, { action: 'approve', ...matter });
  keep(ruling);
  requireAllowed(ruling);
  const since = drawnAt(signer, now);
  const signed = approver.credentials.find(({ public_key }) => public_key === signer.public_key);
  const expires_at = approvalExpiry(since, ttl_s, state.expires_at);
  const approved = withApproval(state, {
    by: signer.name,
    key: signer.public_key,
    signed_at: since.toISOString(),
    expires_at,
    assurance: assuranceOf(signed?.kind === 'passkey' ? signed : null),
    account: context.account,
    delegation: null,
  });
  const authorities = await authoritiesFor(context, namedIn(approved));
  const objects = [...(submission ? [submission.bytes] : []), ruling.bytes];
  return { now, system, authorities, asked, expires_at, approved, submission, ruling, objects };
}

/** Whether an approval of this human counts now: its key and its delegation hold, and it has not expired. */
export async function hasApproved(context: Context, state: IntentState, name: string): Promise<boolean> {
  if (!isDue(state)) return false;
  const authorities = await authoritiesFor(context, namedIn(state));
  return approvalsNow(state, { now: context.clock(), authorities }).approvers.includes(name);
}

/** The submission that goes with a first approval. */
export function submittedBy(
  { approved, submission }: WeighedApproval,
  { name: by }: Signer,
): Drafted<'intent.submitted'>[] {
  if (submission === null) return [];
  const { intent_id, hash } = approved;
  const body = { hash, by, decision: submission.digest };
  return [{ kind: 'intent.submitted', subject: intent_id, body }];
}

export interface RejectRequest {
  readonly intent_id: string;
  readonly hash: string;
  readonly reason: string;
  readonly signer: Signer;
}

/** A rejection is final for its intent. */
export async function reject(context: Context, request: RejectRequest): Promise<Event<'approval.denied'>> {
  const { intent_id, hash, reason, signer } = request;
  requireFormats(intent_id, hash);
  const denied = await signAct(
    context.origin,
    'approval.denied',
    intent_id,
    { hash, reason },
    signer,
    context.clock(),
  );
  await context.store.commit({ events: [denied] });
  return denied;
}
