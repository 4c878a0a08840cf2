import type { Event } from '../event/event.ts';
import { drawnId, type Signer, signAct } from '../identity/act.ts';
import type { Context } from './context.ts';

export interface AddTokenRequest {
  /** An enrolled agent. */
  readonly name: string;
  readonly digest: string;
  readonly reason: string;
  readonly signer: Signer;
}

/** The caller who adds it makes the secret, and gives only its digest. */
export async function addToken(
  context: Context,
  { name, digest, reason, signer }: AddTokenRequest,
): Promise<Event<'token.added'>> {
  const facts = { token_id: drawnId(signer), digest, reason };
  const added = await signAct(context.origin, 'token.added', name, facts, signer, context.clock());
  await context.store.commit({ events: [added] });
  return added;
}

export interface RevokeTokenRequest {
  readonly name: string;
  readonly token_id: string;
  readonly reason: string;
  readonly signer: Signer;
}

export async function revokeToken(
  context: Context,
  { name, token_id, reason, signer }: RevokeTokenRequest,
): Promise<Event<'token.revoked'>> {
  const facts = { token_id, reason };
  const revoked = await signAct(context.origin, 'token.revoked', name, facts, signer, context.clock());
  await context.store.commit({ events: [revoked] });
  return revoked;
}
