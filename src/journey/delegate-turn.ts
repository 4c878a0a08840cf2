import type { Digest } from '../canonical/digest.ts';
import type { Drafted, Event } from '../event/event.ts';
import { next } from '../gate/next.ts';
import { standingOf } from '../gate/standing.ts';
import type { IntentState } from '../gate/state.ts';
import type { System } from '../gate/system.ts';
import type { Signer } from '../identity/act.ts';
import { type DraftInput, parseDraft } from '../intent/envelope.ts';
import { type ReasonCode, type Refusal, refuse } from '../refusal.ts';
import { provenState } from './audit.ts';
import { momentOf, refuseDenied } from './check.ts';
import {
  type Asked,
  authoritiesFor,
  type Context,
  isDecision,
  type Kept,
  namedIn,
  type Proven,
  refusalOf,
  requireClock,
} from './context.ts';
import { decidedHere } from './control.ts';
import { openAsked, requireSameEffect } from './effect.ts';
import { draftOrder } from './grant.ts';
import { lackingOf } from './lacking.ts';
import { type DraftedProposal, draftProposal } from './propose.ts';
import { rule } from './rules.ts';
import { seenOf } from './seen.ts';
import {
  type DraftedSubmission,
  draftSubmission,
  type HeldDelegation,
  refused,
  requireDelegation,
} from './submit.ts';
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
  /** No order before more humans approve: nothing of the delegate approves it, and `events` tell why. */
  readonly awaits: boolean;
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
    const ended = await submitAndOrder(context, request, begun, system, { add, keep });
    const events = decidedHere(context, request.signer, system, drafted);
    return { intent_id, events, objects, ...ended, refusal: null };
  } catch (error) {
    if (!isDecision(error)) throw error;
    const told = refusalOf(error.code, kept, refused(intent_id));
    const proposed = drafted.slice(0, known ? 0 : 1) as Event[];
    return {
      intent_id,
      events: [...proposed, ...told.events],
      objects: [...objects, ...told.objects],
      seen: null,
      awaits: false,
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
): Promise<Pick<DraftedTurn, 'seen' | 'awaits'>> {
  const { signer, is_ordered } = request;
  const now = await requireClock(context);
  const is_known = 'status' in begun;
  const state = is_known ? begun : next(null, begun.event, now.toISOString());
  const asked = is_known ? await openAsked(context, state) : begun;
  await request.requireMeant(state, asked);
  const held = await requireDelegation(context, request.delegation, signer, now);
  // A delegation that approves is not used for what a human has to approve.
  const is_due = !is_known && !held.delegation.approves;
  const submits = is_ordered ? state.status === 'proposed' : is_due;
  let submission: DraftedSubmission | null = null;
  let after = state;
  if (submits) {
    if (is_known) await requireSameEffect(context, state, asked);
    const { envelope, effect } = asked;
    submission = await draftSubmission(context, { state, envelope, effect, system, now }, held, signer, keep);
    after = next(state, submission.delegated as Event<'intent.delegated'>, now.toISOString());
  }
  const submit = () => submission && add(submission.delegated, submission.objects);
  if (!is_ordered) {
    submit();
    return NOT_ORDERED;
  }
  const authorities = await authoritiesFor(context, namedIn(after));
  const lacking = await lackingOf(context, after, authorities, asked);
  const moment = await momentOf(context, system, authorities);
  const standing = standingOf(after, { ...moment, now, lacking });
  if (standing.next === 'approval') {
    if (is_due) submit();
    add(...(await denial(context, request, { state, authorities, system, asked, now, held })));
    return { ...NOT_ORDERED, awaits: true };
  }
  submit();
  if (standing.not_granted) refuseDenied(standing.not_granted);
  // A human who approved may have ordered it as well.
  if (standing.not_ordered === null) return NOT_ORDERED;
  const terms = termsOf(context, request, after, asked, now, held.delegation.expires_at);
  const order = await draftOrder(context, request, { standing, system, authorities, asked, terms, now });
  add(order.ordered, order.objects);
  return { seen: seenOf(order.ordered.body), awaits: false };
}

const NOT_ORDERED = { seen: null, awaits: false } as const;

interface Denying extends Proven {
  readonly asked: Asked;
  readonly now: Date;
  readonly held: HeldDelegation;
}

/** Why it waits, as a fact: what the policies say to the order as the intent stands, or that an approval is missing. */
async function denial(
  context: Context,
  request: DelegateTurn,
  { state, authorities, system, asked, now, held: { delegation, ...held } }: Denying,
): Promise<[Event, readonly Uint8Array[]]> {
  const { signer } = request;
  const principal = held.authorities.principal(signer.name) ?? refuse('PRINCIPAL_UNKNOWN');
  const grant = termsOf(context, request, state, asked, now, delegation.expires_at);
  const matter = { principal, delegated: true, grant, state, ...asked, system, authorities, now };
  const { decision, digest, bytes } = await rule(context, { action: 'grant', ...matter });
  const { intent_id, hash } = state;
  const denied = (reason_code: ReasonCode, by_policy: Digest | null): Event => ({
    kind: 'capability.denied',
    subject: intent_id,
    body: { hash, by: signer.name, reason_code, decision: by_policy },
  });
  const { events, objects } = refusalOf(decision.code ?? 'APPROVAL_MISSING', { digest, bytes }, denied);
  return [events[0]!, objects];
}
