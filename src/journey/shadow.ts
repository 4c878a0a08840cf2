import { randomUUID } from 'node:crypto';
import type { Digest } from '../canonical/digest.ts';
import type { Event } from '../event/event.ts';
import { next } from '../gate/next.ts';
import { requireShadow, shadowSubject } from '../gate/server.ts';
import type { Signer } from '../identity/act.ts';
import { hasKey, type Principal } from '../identity/principal.ts';
import { parseDraft } from '../intent/envelope.ts';
import { modeOf } from '../mcp-call/definition.ts';
import { type ReasonCode, Refusal, refuse } from '../refusal.ts';
import { type CallRequest, grantFor } from './call.ts';
import { type Context, requireClock } from './context.ts';
import type { Derived, Ended } from './derived.ts';
import { stated, withOneKey } from './executor.ts';
import { acceptedServer, deriveMcpCall } from './mcp.ts';
import { draftProposal } from './propose.ts';
import { neededScope, secretsIn } from './reach.ts';
import { capturedOf, watchedEnd } from './record.ts';
import { type Matter, rule } from './rules.ts';
import { Cancelled } from './run-words.ts';
import { sealEffect } from './sealed-effect.ts';
import { draftSubmission, requireDelegation } from './submit.ts';
import { termsOf } from './terms.ts';

/** What the gate would have done with a call that passed. */
interface Would {
  readonly would: 'run' | 'ask' | 'deny';
  readonly would_code: ReasonCode | null;
  readonly ruling: { readonly digest: Digest; readonly bytes: Uint8Array } | null;
}

export interface ShadowedCall extends Omit<Would, 'ruling'> {
  readonly shadow_id: string;
  readonly result: 'success' | 'failure' | 'partial';
  readonly reason_code: ReasonCode | null;
  readonly answer: string;
}

/**
 * A call of a tool that a human accepted in shadow mode. It needs no approval. It is derived as any other, written down with what the gate would
 * have done, sent once, and its end is written down.
 */
export async function shadowCall(opened: Context, request: CallRequest): Promise<ShadowedCall> {
  const context = withOneKey(opened);
  const { effect: call, issuer, abort, onOutput } = request;
  if (call.kind !== 'mcp') return refuse('MCP_NOT_SHADOW');
  const { accepted, digest } = await acceptedServer(context, call.server);
  if (modeOf(accepted, call.tool) !== 'shadow') refuse('MCP_NOT_SHADOW');
  const derived = await deriveMcpCall(context, call);
  const { would, would_code, ruling } = await wouldBe(context, request, derived);
  const prepared = await derived.prepare(
    neededScope(derived.effect),
    await context.secrets(secretsIn(derived.effect)),
  );
  const shadow_id = randomUUID();
  const subject = shadowSubject(shadow_id);
  const { server } = call;
  const tool = derived.name;
  const effect = sealEffect(derived.effect, randomUUID());
  const shadowed = stated(context, {
    kind: 'mcp.shadowed',
    subject,
    body: {
      ...{ server, tool, accepted: digest, proposer: issuer, verified: await isOwnKey(context, request) },
      ...{ effect: effect.digest, would, would_code, ruling: ruling?.digest ?? null },
    },
  });
  // Durable before it is sent: whatever happens then, it is known that it may have been.
  await context.store.commit({
    events: [shadowed],
    objects: [effect.bytes, ...(ruling ? [ruling.bytes] : [])],
  });
  const bind = async () => {};
  const told = await prepared.run({
    execution_id: shadow_id,
    checkpointed: bind,
    announced: bind,
    ...(abort && { abort }),
    ...(onOutput && { onOutput }),
  });
  const { ended } = watchedEnd(told, null, abort?.reason instanceof Cancelled);
  await recordEnd(context, shadowed, ended);
  const answer = Buffer.from(ended.stdout.bytes).toString('utf8');
  return { shadow_id, would, would_code, ...endOf(ended), answer };
}

/** Whether the caller holds a key of the agent in whose name it calls. */
async function isOwnKey({ store }: Context, { issuer, signer }: CallRequest): Promise<boolean> {
  if (signer === undefined) return false;
  if (signer.name !== issuer) refuse('CALLER_OTHER');
  const principal = await store.find('principal', issuer);
  return hasKey(principal, signer.public_key);
}

function endOf({ result, reason_code }: Ended): Pick<ShadowedCall, 'result' | 'reason_code'> {
  return { result: result === 'rolled_back' ? 'partial' : result, reason_code };
}

async function recordEnd(
  context: Context,
  { subject, body: { server, tool } }: Event<'mcp.shadowed'>,
  ended: Ended,
): Promise<void> {
  const output = capturedOf(ended.stdout);
  const body = { server, tool, ...endOf(ended), output: output.fact };
  await context.store.commit({
    events: [stated(context, { kind: 'mcp.shadow_ended', subject, body })],
    objects: output.objects,
  });
}

/**
 * Under a grant that covers it: what the policies say to its run. Otherwise, and where they refuse that a delegate submits it, they are asked as if
 * the human who accepted the server approved it now. Uses of a grant are not counted: nothing is used.
 */
async function wouldBe(context: Context, request: CallRequest, { effect }: Derived): Promise<Would> {
  const { issuer, signer, declared_goal, effect: call } = request;
  try {
    const held = signer ? await grantFor(context, { ...request, signer }) : null;
    const now = await requireClock(context);
    const drafted = await draftProposal(context, parseDraft({ issuer, declared_goal, effect: call }));
    const state = next(null, drafted.event, now.toISOString());
    const { envelope } = drafted;
    const system = await context.store.system();
    const matter = { state, envelope, effect, system, now };
    const asked = (signer && held !== null && !('refused' in held)
      ? await askedUnder(context, held.delegation_id, signer, matter)
      : null) ?? { ...matter, action: 'approve', principal: await accepterOf(context, call) };
    const { decision, digest, bytes } = await rule(context, asked);
    const would = decision.code !== null ? 'deny' : asked.action === 'grant' ? 'run' : 'ask';
    return { would, would_code: decision.code, ruling: { digest, bytes } };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { would: 'deny', would_code: error.code, ruling: null };
  }
}

/** The human who accepted the server. */
async function accepterOf({ store }: Context, call: CallRequest['effect']): Promise<Principal> {
  const row = await store.find('server', (call as { server: string }).server);
  requireShadow(row, row?.accepted ?? '');
  return (await store.find('principal', row!.by)) ?? refuse('PRINCIPAL_UNKNOWN');
}

/** What the policies are asked of the run of a call that its caller submits under a grant; null where it cannot. Nothing is written. */
async function askedUnder(
  context: Context,
  delegation_id: string,
  signer: Signer,
  matter: Pick<Matter, 'state' | 'envelope' | 'effect' | 'system' | 'now'>,
): Promise<Matter | null> {
  const { state, now } = matter;
  try {
    const held = await requireDelegation(context, delegation_id, signer, now);
    const { delegated } = await draftSubmission(context, matter, held, signer, () => {});
    const principal = held.authorities.principal(signer.name) ?? refuse('PRINCIPAL_UNKNOWN');
    const after = next(state, delegated as Event<'intent.delegated'>, now.toISOString());
    const grant = termsOf(context, {}, after, matter, now, held.delegation.expires_at);
    return { ...matter, action: 'grant', grant, principal, delegated: true, state: after };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return null;
  }
}
