import type { Event } from '../event/event.ts';
import { type Signer, signAct, signKeyAct } from '../identity/act.ts';
import { type NewCredential, requireLabel } from '../identity/credential.ts';
import { type Principal, requireAddable, requireHuman } from '../identity/principal.ts';
import { refuse } from '../refusal.ts';
import type { Context } from './context.ts';

export interface AddCredentialRequest {
  /** Whose it is: that of the signer, or of a human who has none left. */
  readonly name: string;
  readonly credential: NewCredential;
  readonly reason: string;
  readonly signer: Signer;
  /** Has the new key, and shows it by signing the same statement. */
  readonly holder: Signer;
}

/** A further key file or passkey of a person. To replace a key, add the new one, then revoke the old one. */
export async function addCredential(
  context: Context,
  request: AddCredentialRequest,
): Promise<Event<'credential.added'>> {
  const { name, credential, reason, signer } = request;
  requireLabel(credential.label);
  requireHuman(await context.store.find('principal', signer.name), signer.public_key);
  requireAddable(await personOf(context, name), signer.name);
  const draft = { kind: 'credential.added' as const, subject: name, facts: { credential, reason } };
  const added = await signKeyAct(context.origin, draft, request, context.clock());
  await context.store.commit({ events: [added] });
  return added;
}

export interface RevokeCredentialRequest {
  readonly name: string;
  readonly public_key: string;
  readonly reason: string;
  /** The person, or another human. */
  readonly signer: Signer;
}

/** Ends a credential, and with it the approvals, capabilities and delegations that it signed. The name stays. */
export async function revokeCredential(
  context: Context,
  { name, public_key, reason, signer }: RevokeCredentialRequest,
): Promise<Event<'credential.revoked'>> {
  const facts = { public_key, reason };
  const now = context.clock();
  const revoked = await signAct(context.origin, 'credential.revoked', name, facts, signer, now);
  await context.store.commit({ events: [revoked] });
  return revoked;
}

/** All that a principal has and had. */
export async function credentialsOf(context: Context, name: string): Promise<Principal['credentials']> {
  return (await personOf(context, name)).credentials;
}

async function personOf({ store }: Context, name: string): Promise<Principal> {
  return (await store.find('principal', name)) ?? refuse('PRINCIPAL_UNKNOWN', `"${name}" is not enrolled.`);
}
