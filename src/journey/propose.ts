import { randomBytes } from 'node:crypto';
import { type Digest, sha256 } from '../canonical/digest.ts';
import { type SealedBytes, sealBytes } from '../canonical/sealed.ts';
import type { Body, Event } from '../event/event.ts';
import { type Proof, type Signer, signProposal } from '../identity/act.ts';
import { isAuditor } from '../identity/auditor.ts';
import { hasKey, type Principal } from '../identity/principal.ts';
import { type Envelope, type EnvelopeDraft, freezeEnvelope } from '../intent/envelope.ts';
import { asksForTheSame, intentIdOfKey, type ProposalKey, receiptOf } from '../intent/repeat.ts';
import { journeyLimits, limits } from '../limits.ts';
import { type ReasonCode, Refusal, refuse } from '../refusal.ts';
import { requirePathsInSandbox } from '../tool/hidden-path.ts';
import { toolNamed } from '../tool/select.ts';
import type { Context } from './context.ts';
import type { Derived, Effect } from './derived.ts';
import { derive, openAsked } from './effect.ts';
import { requireBounds } from './extent.ts';
import { actionOf, toolsOf } from './reach.ts';
import { sealEffect } from './sealed-effect.ts';
import { requireDeclaredUndo } from './undo.ts';

export interface Proposal {
  readonly intent_id: string;
  readonly hash: string;
  /** Who has it may withdraw the intent; and an agent whom the gate knows by name, without showing it. Null where the proposer signed: the key withdraws it then. */
  readonly receipt: string | null;
  /** It was proposed before, under the same idempotency key. */
  readonly repeated: boolean;
  readonly envelope: Envelope;
  readonly effect: Effect;
}

/**
 * Step 0 of 002: writes a draft and fixes its hash. An agent may do this; nothing is allowed by it. With the proposer's key
 * the name is proven, without it the name is a claim. `on_behalf_of` is for the agent core alone: it is the user who asked,
 * and a user who asks is no approver.
 */
export async function propose(
  context: Context,
  draft: EnvelopeDraft,
  signer?: Signer,
  on_behalf_of: string | null = null,
): Promise<Proposal> {
  const known = () => proposedBefore(context, draft, signer);
  const earlier = await known();
  if (earlier) return earlier;
  try {
    const { event, objects, ...proposal } = await draftProposal(context, draft, signer, on_behalf_of);
    await context.store.commit({ events: [event], objects, quota: context.proposals });
    return proposal;
  } catch (error) {
    // Another caller was first with the same key.
    const is_taken = error instanceof Refusal && TAKEN.has(error.code);
    const first = is_taken ? await known() : null;
    if (first) return first;
    throw error;
  }
}

const TAKEN: ReadonlySet<ReasonCode> = new Set<ReasonCode>(['CLAIM_TAKEN', 'INTENT_EXISTS']);

/** What was proposed under the key of this draft; null where there is no key, or nothing was. */
async function proposedBefore(
  context: Context,
  draft: EnvelopeDraft,
  signer: Signer | undefined,
): Promise<Proposal | null> {
  if (draft.idempotency_key === undefined) return null;
  const proposer = await proposerOf(context, draft.issuer ?? signer?.name);
  if (signer) requireOwnKey(proposer, signer);
  const key = { origin: context.origin, proposer: proposer.name, key: draft.idempotency_key };
  const state = await context.store.find('intent', intentIdOfKey(key));
  if (state === null) return null;
  const is_signed = signer !== undefined;
  if (is_signed !== state.proposer_verified)
    refuse(
      'IDEMPOTENCY_KEY_REUSED',
      `It was proposed ${is_signed ? 'without' : 'with'} a signature under this key.`,
    );
  const receipt = is_signed ? null : receiptOf(key);
  const { envelope, effect } = await openAsked(context, state);
  const is_ours = receipt === null || sha256(receipt) === state.receipt;
  if (!is_ours || !asksForTheSame(draft, envelope)) refuse('IDEMPOTENCY_KEY_REUSED');
  return {
    intent_id: state.intent_id,
    hash: state.hash,
    receipt,
    repeated: true,
    envelope,
    effect,
  };
}

/** A proposal that only has to be written. */
export interface DraftedProposal extends Proposal {
  readonly event: Event<'intent.proposed'>;
  readonly objects: readonly Uint8Array[];
}

/** Signs the proposal of an intent, where its proposer does. */
export type Prove = (proposal: { readonly intent_id: string; readonly hash: Digest }) => Promise<Proof>;

export async function draftProposal(
  context: Context,
  asked: EnvelopeDraft,
  signer?: Signer,
  on_behalf_of: string | null = null,
  prove: Prove = ({ hash }) => signProposal(context.origin, hash, signer!),
): Promise<DraftedProposal> {
  await context.step();
  const draft = asDrawn(context, asked, signer);
  const proposer = await proposerOf(context, draft.issuer ?? signer?.name);
  if (signer) requireOwnKey(proposer, signer);
  if (draft.replaces !== null && !(await context.store.find('intent', draft.replaces)))
    refuse('INTENT_NOT_FOUND', 'There is no intent that it could replace.');
  await requireDeclaredUndo(context, draft);

  // The effect is what would really run, derived from the locked registry and the files as they are now.
  const nonce = draft.nonce ?? randomBytes(16).toString('base64');
  const key = keyOf(context, draft, proposer);
  const intent_id = key ? intentIdOfKey(key) : draft.intent_id;
  const derived = await derive(context, draft.effect, intent_id ?? null);
  const alternates: Derived[] = [];
  for (const call of draft.alternates) alternates.push(await derive(context, call, intent_id ?? null));
  const choices = [derived, ...alternates];
  // Only now: what is approved does not depend on files that the tool cannot see.
  for (const { effect } of choices)
    if (effect.kind === 'tool')
      requirePathsInSandbox(toolNamed(context.registry(), effect.tool), effect, context);
  const sealed = choices.map(({ effect }) => sealEffect(effect, nonce));
  const { envelope, bytes, hash } = freezeEnvelope(
    { ...draft, intent_id },
    {
      issuer: proposer.name,
      on_behalf_of,
      effect_digest: sealed[0]!.digest,
      alternate_digests: sealed.slice(1).map(({ digest }) => digest),
      actions: choices.map(({ effect }) => actionOf(effect)),
      nonce,
      now: context.clock(),
      ttl_s: context.intent_ttl_s,
    },
  );
  const receipt = receiptFor(context, envelope, key, signer);
  requireNamed(envelope, choices, sealed);
  // What a human may turn to after a failure is bound like the rest.
  for (const { effect } of choices) requireBounds(context, envelope, effect);
  // The claim below decides between two at once; this one says it in the right words.
  if (await context.store.find('intent', envelope.intent_id)) refuse('INTENT_EXISTS');

  // Sealed: the digest in the ledger tells nothing about a content that was erased.
  const contents = choices.flatMap((one) => one.contents).map((content) => sealBytes(content, nonce));
  const proof = signer
    ? {
        proposer_signature: await prove({ intent_id: envelope.intent_id, hash }),
        proposer_key: signer.public_key,
      }
    : { proposer_signature: null, proposer_key: null };
  return {
    intent_id: envelope.intent_id,
    hash,
    receipt: signer ? null : receipt,
    repeated: false,
    envelope,
    effect: derived.effect,
    event: proposed(context, envelope, hash, choices, proposer, {
      proof,
      contents,
      receipt: sha256(receipt),
    }),
    objects: [bytes, ...[...sealed, ...contents].map((one) => one.bytes), derived.registry_bytes],
  };
}

/**
 * Where the proof comes from elsewhere, the envelope must be the same when it is drawn up and when it is finished. The draft is then what
 * the caller says it is: an agent that could choose the id itself would take the one that another agent's next call will have.
 */
function asDrawn(
  { origin, clock, intent_ttl_s }: Context,
  draft: EnvelopeDraft,
  signer?: Signer,
): EnvelopeDraft {
  if (!signer?.drawn) return draft;
  const { at, id } = signer.drawn;
  const age_ms = clock().getTime() - at.getTime();
  if (age_ms > limits.act_wait_s * 1000) refuse('ACT_LATE');
  const {
    created_at = at.toISOString(),
    expiry = new Date(at.getTime() + intent_ttl_s * 1000).toISOString(),
    // No idempotency key has a space.
    intent_id = draft.idempotency_key === undefined
      ? intentIdOfKey({ origin, proposer: signer.name, key: `drawn ${id}` })
      : undefined,
  } = draft;
  return { ...draft, created_at, expiry, intent_id };
}

/** Under an idempotency key the id and the receipt follow from it. */
function keyOf(
  { origin }: Context,
  { idempotency_key }: EnvelopeDraft,
  { name: proposer }: Principal,
): ProposalKey | null {
  return idempotency_key === undefined ? null : { origin, proposer, key: idempotency_key };
}

function receiptFor(
  { own_receipt }: Context,
  { intent_id }: Envelope,
  key: ProposalKey | null,
  signer: Signer | undefined,
): string {
  // A proposer that signs needs no receipt. One made from its idempotency key could be guessed, so it is random.
  if (signer) return randomBytes(32).toString('base64url');
  return key ? receiptOf(key) : own_receipt(intent_id);
}

/** The envelope must name what would really run, and request what that does. */
function requireNamed(
  { effect, alternates, requested_actions }: Envelope,
  choices: readonly Derived[],
  sealed: readonly { readonly digest: Digest }[],
): void {
  const named = [effect, ...alternates];
  if (named.some(({ digest }, i) => digest !== sealed[i]!.digest))
    refuse('EFFECT_CHANGED', 'The envelope names another effect.');
  const missing = choices.map((one) => actionOf(one.effect)).find((one) => !requested_actions.includes(one));
  if (missing !== undefined)
    refuse('ACTION_NOT_REQUESTED', `The effect does "${missing}", which the envelope does not request.`);
}

function proposed(
  { account }: Context,
  envelope: Envelope,
  hash: Digest,
  [first, ...alternates]: readonly Derived[],
  proposer: Principal,
  {
    proof,
    contents,
    receipt,
  }: {
    proof: Pick<Body<'intent.proposed'>, 'proposer_signature' | 'proposer_key'>;
    contents: readonly SealedBytes[];
    receipt: Digest;
  },
): Event<'intent.proposed'> {
  return {
    kind: 'intent.proposed',
    subject: envelope.intent_id,
    body: {
      hash,
      effect_digest: envelope.effect.digest,
      registry_digest: first!.registry_digest,
      effect: envelope.effect.kind,
      tool: first!.name,
      tools: toolsOf(first!.effect),
      approvals_needed: first!.approvals_needed,
      proposer: proposer.name,
      proposer_kind: proposer.kind,
      ...proof,
      account,
      on_behalf_of: envelope.on_behalf_of,
      actions: envelope.requested_actions,
      alternates: alternates.map(({ name }, i) => ({
        tool: name,
        effect_digest: envelope.alternates[i]!.digest,
      })),
      replaces: envelope.replaces,
      undoes: envelope.undoes,
      contents: contents.map(({ digest }) => digest),
      receipt,
      expires_at: envelope.expiry,
    },
  };
}

function requireOwnKey(proposer: Principal, signer: Signer): void {
  if (proposer.name !== signer.name || !hasKey(proposer, signer.public_key))
    refuse('KEY_FILE_INVALID', `The key is not that of "${proposer.name}".`);
}

/** Who proposes. Left unsaid it can only be the one principal there is. */
async function proposerOf(context: Context, name: string | undefined): Promise<Principal> {
  if (name !== undefined) return requireActive(await context.store.find('principal', name), name);
  const [only, ...others] = await activePrincipals(context);
  return only && others.length === 0 ? only : refuseUnnamed(context);
}

async function activePrincipals({ store }: Context): Promise<Principal[]> {
  return (await store.all('principal')).filter(({ status }) => status === 'active');
}

/** Where it must be said who proposes, and was not: with the names that it could be. */
export async function refuseUnnamed(context: Context): Promise<never> {
  const names = named(await activePrincipals(context));
  return names === ''
    ? refuse('PROPOSER_AMBIGUOUS')
    : refuse('PROPOSER_AMBIGUOUS', `It is not clear who proposes this: ${names}.`);
}

function named(principals: readonly Principal[]): string {
  const names = principals.filter((one) => !isAuditor(one)).map(({ name }) => name);
  const more =
    names.length > journeyLimits.named_principals
      ? [`${names.length - journeyLimits.named_principals} more`]
      : [];
  return [...names.slice(0, journeyLimits.named_principals), ...more].join(' or ');
}

function requireActive(principal: Principal | null, name: string): Principal {
  if (principal === null) refuse('PRINCIPAL_UNKNOWN', `"${name}" is not enrolled.`);
  if (principal.status === 'revoked') refuse('KEY_REVOKED', `"${name}" was revoked.`);
  if (isAuditor(principal)) refuse('AUDITOR_ACTS', `"${name}" is an auditor, and proposes nothing.`);
  return principal;
}
