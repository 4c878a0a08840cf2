import type { Json } from '../canonical/json.ts';
import type { Event } from '../event/event.ts';
import { requireEditable } from '../gate/next.ts';
import { hasExpired } from '../gate/status-word.ts';
import { drawnAt, drawnId, type Signer, signProposalWith } from '../identity/act.ts';
import { requireHuman } from '../identity/principal.ts';
import { type Envelope, type EnvelopeDraft, parseDraft } from '../intent/envelope.ts';
import { asksForTheSame } from '../intent/repeat.ts';
import type { PlanSpec } from '../plan/spec.ts';
import { refuse } from '../refusal.ts';
import { type Context, requireClock, requireIntent } from './context.ts';
import { openAsked } from './effect.ts';
import { draftProposal, type Proposal } from './propose.ts';

export interface EditRequest {
  readonly intent_id: string;
  readonly signer: Signer;
  /** All arguments of the call, as they are to be. */
  readonly arguments?: Readonly<Record<string, Json>> | undefined;
  readonly plan?: PlanSpec | undefined;
  readonly declared_goal?: string | undefined;
  /** Until when the replacement may wait; as long as what it replaces unless told. */
  readonly expiry?: string | undefined;
  readonly nonce?: string | undefined;
}

/**
 * Step 0 of 002: a human edits what was drafted. What they want instead is an intent in their own name, so that where there is another
 * human, that one approves it. In the same commit the edited one ends: both cannot be approved.
 */
export async function edit(context: Context, request: EditRequest): Promise<Proposal> {
  const { intent_id, signer } = request;
  requireHuman(await context.store.find('principal', signer.name), signer.public_key);
  const now = drawnAt(signer, await requireClock(context));
  const state = await requireIntent(context, intent_id);
  requireEditable(state);
  if (hasExpired(state, now)) refuse('INTENT_EXPIRED');
  const draft = draftOf((await openAsked(context, state)).envelope, request, now);
  let replaced: Event<'intent.replaced'> | undefined;
  const { event, objects, ...proposal } = await draftProposal(context, draft, signer, null, async (made) => {
    const facts = { hash: state.hash, replacement: made.intent_id, replacement_hash: made.hash };
    const act = { kind: 'intent.replaced' as const, subject: intent_id, facts };
    const signed = await signProposalWith(context.origin, made.hash, act, signer, now);
    replaced = signed.act;
    return signed.proof;
  });
  await context.store.commit({ events: [event, replaced!], objects, quota: context.proposals });
  return proposal;
}

/** What was asked for, with what the editor wants instead. Who else asks for something proposes it: the tool stays. */
function draftOf(envelope: Envelope, request: EditRequest, now: Date): EnvelopeDraft {
  const { intent_id, declared_goal, expiry, nonce, signer } = request;
  const { constraints, requested_actions, alternates, undoes } = envelope;
  const draft = parseDraft({
    intent_id: drawnId(signer),
    issuer: signer.name,
    declared_goal: declared_goal ?? envelope.declared_goal,
    constraints,
    requested_actions,
    effect: effectOf(envelope, request),
    alternates: alternates.map(({ digest: _, ...call }) => call),
    replaces: intent_id,
    undoes,
    created_at: now.toISOString(),
    expiry: expiry ?? envelope.expiry,
    ...(nonce !== undefined && { nonce }),
  });
  // Neither a longer time nor another name is a change of what is asked for.
  if (asksForTheSame({ ...draft, expiry: undefined }, { ...envelope, replaces: intent_id }))
    refuse('EDIT_EMPTY');
  return draft;
}

function effectOf({ effect }: Envelope, { arguments: values, plan }: EditRequest): EnvelopeDraft['effect'] {
  const { digest: _, ...call } = effect;
  if (call.kind !== 'plan') {
    if (plan) refuse('SHAPE_INVALID', 'It calls a tool: an edit changes its arguments, and gives no plan.');
    return values ? ({ ...call, arguments: { ...values } } as EnvelopeDraft['effect']) : call;
  }
  if (values) refuse('SHAPE_INVALID', 'It is a plan: an edit gives another plan, and no arguments.');
  return plan ? { kind: 'plan', ...plan } : call;
}
