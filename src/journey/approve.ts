import { approvalExpiry, requireMayApprove } from '../approval/approval.ts';
import type { Event } from '../event/event.ts';
import { isOwnRequest } from '../gate/signers.ts';
import type { IntentState } from '../gate/state.ts';
import { type Signer, signAct } from '../identity/act.ts';
import { requireHuman } from '../identity/principal.ts';
import { requireFormats } from './check.ts';
import { type Context, humansNow, recordingRefusal, requireClock, requireIntent } from './context.ts';
import { openAsked, requireSameEffect } from './effect.ts';
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
    const now = await requireClock(context);
    const state = await requireIntent(context, intent_id);
    const approver = requireHuman(await context.store.find('principal', signer.name), signer.public_key);
    requireMayApprove({
      hash,
      approved_hash: state.hash,
      is_own: isOwnRequest(state, approver.name),
      expires_at: state.expires_at,
      approver,
      humans: await humansNow(context),
      now,
    });
    // An executable that changed since the proposal is found now, not when it is too late to look.
    const asked = await openAsked(context, state);
    await requireSameEffect(context, state, asked);

    const matter = { principal: approver, state, ...asked, system: await context.store.system(), now };
    const submission = state.approvals.length === 0 ? await accept(context, matter, keep) : null;
    const ruling = await rule(context, { ...matter, action: 'approve' });
    keep(ruling);
    requireAllowed(ruling);

    const granted = signAct(
      context.origin,
      'approval.granted',
      intent_id,
      {
        hash,
        effect_digest: state.effect_digest,
        expires_at: approvalExpiry(now, request.ttl_s ?? context.approval_ttl_s, state.expires_at),
        account: context.account,
        decision: ruling.digest,
      },
      signer,
      now,
    );
    const submitted = submission ? [submittedBy(signer, state, submission)] : [];
    await context.store.commit({
      events: [...submitted, granted],
      objects: [...(submission ? [submission.bytes] : []), ruling.bytes],
    });
    return granted;
  });
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
  requireHuman(await context.store.find('principal', signer.name), signer.public_key);
  const denied = signAct(
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

function submittedBy(
  { name }: Signer,
  { intent_id, hash }: IntentState,
  { digest }: Ruling,
): Event<'intent.submitted'> {
  return { kind: 'intent.submitted', subject: intent_id, body: { hash, by: name, decision: digest } };
}
