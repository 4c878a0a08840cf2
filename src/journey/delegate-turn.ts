import type { Digest } from '../canonical/digest.ts';
import type { Drafted, Event } from '../event/event.ts';
import { next } from '../gate/next.ts';
import type { IntentState } from '../gate/state.ts';
import type { System } from '../gate/system.ts';
import type { Signer } from '../identity/act.ts';
import { type DraftInput, parseDraft } from '../intent/envelope.ts';
import type { Refusal } from '../refusal.ts';
import { provenState } from './audit.ts';
import {
  type Asked,
  authoritiesFor,
  type Context,
  isDecision,
  type Kept,
  namedIn,
  refusalOf,
  requireClock,
} from './context.ts';
import { decidedHere } from './control.ts';
import { openAsked, requireSameEffect } from './effect.ts';
import { draftOrder, requireApproved } from './grant.ts';
import { type DraftedProposal, draftProposal } from './propose.ts';
import { seenOf } from './seen.ts';
import { draftSubmission, refused, requireDelegation } from './submit.ts';
import { type TermsRequest, termsOf } from './terms.ts';

export interface DelegateTurn extends TermsRequest {
  readonly signer: Signer;
  readonly delegation: string;
  readonly on_behalf_of: string | null;
  /** Whether its run is ordered. Otherwise it is only submitted, and waits for a human. */
  readonly is_ordered: boolean;
  /** Refuses an intent that the delegate does not mean. */
  readonly requireMeant: (state: IntentState, asked: Asked) => Promise<void>;
}

/** What a commit of the caller writes; with `refusal`, why nothing is ordered or submitted. */
export interface DraftedTurn {
  readonly intent_id: string;
  readonly events: readonly Event[];
  readonly objects: readonly Uint8Array[];
  /** For `run`: what was ordered here. Null where nothing was, and where a human had ordered it before. */
  readonly seen: Digest | null;
  readonly refusal: Refusal | null;
}

/**
 * The turn of a delegate: proposes what is not proposed yet, submits it under the delegation, and orders its run. What is still
 * to be done follows from where the intent stands. Nothing is written here.
 */
export async function draftTurn(
  context: Context,
  input: DraftInput & { readonly intent_id: string },
  request: DelegateTurn,
): Promise<DraftedTurn> {
  const { intent_id } = input;
  // From the signed entries: a row that says approved orders nothing. Without a row the commit finds out whether there is one.
  const known = (await context.store.find('intent', intent_id)) && (await provenState(context, intent_id));
  const drafted: Drafted[] = [];
  const objects: Uint8Array[] = [];
  const add = (event: Drafted, more: readonly Uint8Array[]) => {
    drafted.push(event);
    objects.push(...more);
  };
  let kept: Kept | null = null;
  const keep = (ruling: Kept) => {
    kept = ruling;
  };
  try {
    const proposal = known
      ? null
      : await draftProposal(context, parseDraft(input), request.signer, request.on_behalf_of);
    if (proposal) add(proposal.event, proposal.objects);
    const system = await context.store.system();
    const begun = known?.state ?? proposal!;
    const seen = await submitAndOrder(context, request, begun, system, { add, keep });
    const events = decidedHere(context, request.signer, system, drafted);
    return { intent_id, events, objects, seen, refusal: null };
  } catch (error) {
    if (!isDecision(error)) throw error;
    const told = refusalOf(error.code, kept, refused(intent_id));
    const proposed = drafted.slice(0, known ? 0 : 1) as Event[];
    return {
      intent_id,
      events: [...proposed, ...told.events],
      objects: [...objects, ...told.objects],
      seen: null,
      refusal: error,
    };
  }
}

interface Writing {
  readonly add: (event: Drafted, objects: readonly Uint8Array[]) => void;
  readonly keep: (ruling: Kept) => void;
}

async function submitAndOrder(
  context: Context,
  request: DelegateTurn,
  begun: IntentState | DraftedProposal,
  system: System,
  { add, keep }: Writing,
): Promise<Digest | null> {
  const { signer, is_ordered } = request;
  const now = await requireClock(context);
  const is_known = 'status' in begun;
  const state = is_known ? begun : next(null, begun.event, now.toISOString());
  const asked = is_known ? await openAsked(context, state) : begun;
  await request.requireMeant(state, asked);
  const held = await requireDelegation(context, request.delegation, signer, now);
  // A delegation that approves is not used for what a human has to approve.
  const is_due = is_ordered ? state.status === 'proposed' : !is_known && !held.delegation.approves;
  let after = state;
  if (is_due) {
    if (is_known) await requireSameEffect(context, state, asked);
    const { envelope, effect } = asked;
    const matter = { state, envelope, effect, system, now };
    const { delegated, objects } = await draftSubmission(context, matter, held, signer, keep);
    add(delegated, objects);
    after = next(state, delegated as Event<'intent.delegated'>, now.toISOString());
  }
  if (!is_ordered) return null;
  const authorities = await authoritiesFor(context, namedIn(after));
  const proven = { state: after, system, authorities };
  const { standing } = await requireApproved(context, proven, after.hash, now);
  // A human who approved may have ordered it as well.
  if (standing.not_ordered === null) return null;
  const terms = termsOf(context, request, after, asked, now, held.delegation.expires_at);
  const order = await draftOrder(context, request, { standing, system, authorities, asked, terms, now });
  add(order.ordered, order.objects);
  return seenOf(order.ordered.body);
}
