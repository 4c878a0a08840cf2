import { randomBytes } from 'node:crypto';
import type { Digest } from '../canonical/digest.ts';
import type { Event } from '../event/event.ts';
import type { Principal } from '../identity/principal.ts';
import { type Envelope, freeze, parseDraft } from '../intent/envelope.ts';
import { refuse } from '../refusal.ts';
import type { Context } from './context.ts';
import type { Derived, Effect } from './derived.ts';
import { derive, sealEffect } from './effect.ts';

export interface Proposal {
  readonly intent_id: string;
  readonly hash: string;
  readonly envelope: Envelope;
  readonly effect: Effect;
}

/** Step 0 of 002: writes a draft and fixes its hash. An agent may do this; nothing is allowed by it. */
export async function propose(context: Context, input: unknown): Promise<Proposal> {
  const draft = parseDraft(input);
  const proposer = await proposerOf(context, draft.issuer);

  // The effect is what would really run, derived from the locked registry and the files as they are now.
  const derived = await derive(context, draft.effect, draft.intent_id ?? null);
  const nonce = draft.nonce ?? randomBytes(16).toString('base64');
  const sealed = sealEffect(derived.effect, nonce);
  const { envelope, bytes, hash } = freeze(draft, {
    issuer: proposer.name,
    effect_digest: sealed.digest,
    nonce,
    now: context.clock(),
    ttl_s: context.intent_ttl_s,
  });
  if (envelope.effect.digest !== sealed.digest)
    refuse('EFFECT_CHANGED', 'The envelope names another effect.');
  // The claim below decides between two at once; this one says it in the right words.
  if (await context.store.intent(envelope.intent_id)) refuse('INTENT_EXISTS');

  await context.store.commit({
    claims: [`intent:${envelope.intent_id}`],
    events: [proposed(envelope, hash, derived, proposer)],
    objects: [bytes, sealed.bytes, derived.registry_bytes],
  });
  return { intent_id: envelope.intent_id, hash, envelope, effect: derived.effect };
}

function proposed(
  envelope: Envelope,
  hash: Digest,
  derived: Derived,
  proposer: Principal,
): Event<'intent.proposed'> {
  return {
    kind: 'intent.proposed',
    subject: envelope.intent_id,
    body: {
      hash,
      effect_digest: envelope.effect.digest,
      registry_digest: derived.registry_digest,
      effect: envelope.effect.kind,
      tool: derived.name,
      approvals_needed: derived.approvals_needed,
      proposer: proposer.name,
      proposer_kind: proposer.kind,
      expires_at: envelope.expiry,
    },
  };
}

/** Who proposes. Left unsaid it can only be the one principal there is. A proposer's name is a claim, not a proof. */
async function proposerOf(context: Context, name: string | undefined): Promise<Principal> {
  if (name !== undefined) return requireActive(await context.store.principal(name), name);
  const principals = (await context.store.principals()).filter((principal) => principal.status === 'active');
  const [only, ...others] = principals;
  if (!only || others.length > 0) refuse('PROPOSER_AMBIGUOUS');
  return only;
}

function requireActive(principal: Principal | null, name: string): Principal {
  if (principal === null) refuse('PRINCIPAL_UNKNOWN', `"${name}" is not enrolled.`);
  if (principal.status === 'revoked') refuse('KEY_REVOKED', `"${name}" was revoked.`);
  return principal;
}
