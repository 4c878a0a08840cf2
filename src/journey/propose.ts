import { randomBytes } from 'node:crypto';
import type { Digest } from '../canonical/digest.ts';
import { type SealedBytes, sealBytes } from '../canonical/sealed.ts';
import type { Event } from '../event/event.ts';
import { type Signer, signProposal } from '../identity/act.ts';
import type { Principal } from '../identity/principal.ts';
import { type Envelope, freeze, parseDraft } from '../intent/envelope.ts';
import { refuse } from '../refusal.ts';
import type { Context } from './context.ts';
import type { Derived, Effect } from './derived.ts';
import { derive } from './effect.ts';
import { requireBounds } from './extent.ts';
import { actionOf } from './reach.ts';
import { sealEffect } from './sealed-effect.ts';

export interface Proposal {
  readonly intent_id: string;
  readonly hash: string;
  readonly envelope: Envelope;
  readonly effect: Effect;
}

/**
 * Step 0 of 002: writes a draft and fixes its hash. An agent may do this; nothing is allowed by it. With the proposer's key
 * the name is proven, without it the name is a claim. `on_behalf_of` is for the agent core alone: it is the user who asked,
 * and whoever asks is no approver.
 */
export async function propose(
  context: Context,
  input: unknown,
  signer?: Signer,
  on_behalf_of: string | null = null,
): Promise<Proposal> {
  const { event, objects, ...proposal } = await draftProposal(context, input, signer, on_behalf_of);
  await context.store.commit({ events: [event], objects, quota: context.proposals });
  return proposal;
}

/** A proposal that only has to be written. */
export interface DraftedProposal extends Proposal {
  readonly event: Event<'intent.proposed'>;
  readonly objects: readonly Uint8Array[];
}

export async function draftProposal(
  context: Context,
  input: unknown,
  signer?: Signer,
  on_behalf_of: string | null = null,
): Promise<DraftedProposal> {
  const draft = parseDraft(input);
  const proposer = await proposerOf(context, draft.issuer ?? signer?.name);
  if (signer) requireOwnKey(proposer, signer);
  if (draft.replaces !== null && !(await context.store.find('intent', draft.replaces)))
    refuse('INTENT_NOT_FOUND', 'There is no intent that it could replace.');

  // The effect is what would really run, derived from the locked registry and the files as they are now.
  const nonce = draft.nonce ?? randomBytes(16).toString('base64');
  const intent_id = draft.intent_id ?? null;
  const derived = await derive(context, draft.effect, intent_id);
  const alternates: Derived[] = [];
  for (const call of draft.alternates) alternates.push(await derive(context, call, intent_id));
  const choices = [derived, ...alternates];
  const sealed = choices.map(({ effect }) => sealEffect(effect, nonce));
  const { envelope, bytes, hash } = freeze(draft, {
    issuer: proposer.name,
    on_behalf_of,
    effect_digest: sealed[0]!.digest,
    alternate_digests: sealed.slice(1).map(({ digest }) => digest),
    actions: choices.map(({ effect }) => actionOf(effect)),
    nonce,
    now: context.clock(),
    ttl_s: context.intent_ttl_s,
  });
  requireNamed(envelope, choices, sealed);
  // What a human may turn to after a failure is bound like the rest.
  for (const { effect } of choices) requireBounds(context, envelope, effect);
  // The claim below decides between two at once; this one says it in the right words.
  if (await context.store.find('intent', envelope.intent_id)) refuse('INTENT_EXISTS');

  // Sealed: the digest in the ledger tells nothing about a content that was erased.
  const contents = choices.flatMap((one) => one.contents).map((content) => sealBytes(content, nonce));
  const signature = signer ? signProposal(context.origin, hash, signer) : null;
  return {
    intent_id: envelope.intent_id,
    hash,
    envelope,
    effect: derived.effect,
    event: proposed(context, envelope, hash, choices, proposer, { signature, contents }),
    objects: [bytes, ...[...sealed, ...contents].map((one) => one.bytes), derived.registry_bytes],
  };
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
  { signature, contents }: { signature: string | null; contents: readonly SealedBytes[] },
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
      approvals_needed: first!.approvals_needed,
      proposer: proposer.name,
      proposer_kind: proposer.kind,
      proposer_signature: signature,
      proposer_key: signature === null ? null : proposer.public_key,
      account,
      on_behalf_of: envelope.on_behalf_of,
      actions: envelope.requested_actions,
      alternates: alternates.map(({ name }, i) => ({
        tool: name,
        effect_digest: envelope.alternates[i]!.digest,
      })),
      replaces: envelope.replaces,
      contents: contents.map(({ digest }) => digest),
      expires_at: envelope.expiry,
    },
  };
}

function requireOwnKey({ name, public_key }: Principal, signer: Signer): void {
  if (name !== signer.name || public_key !== signer.public_key)
    refuse('KEY_FILE_INVALID', `The key is not that of "${name}".`);
}

/** Who proposes. Left unsaid it can only be the one principal there is. */
async function proposerOf(context: Context, name: string | undefined): Promise<Principal> {
  if (name !== undefined) return requireActive(await context.store.find('principal', name), name);
  const principals = (await context.store.all('principal')).filter(
    (principal) => principal.status === 'active',
  );
  const [only, ...others] = principals;
  if (!only || others.length > 0) refuse('PROPOSER_AMBIGUOUS');
  return only;
}

function requireActive(principal: Principal | null, name: string): Principal {
  if (principal === null) refuse('PRINCIPAL_UNKNOWN', `"${name}" is not enrolled.`);
  if (principal.status === 'revoked') refuse('KEY_REVOKED', `"${name}" was revoked.`);
  return principal;
}
