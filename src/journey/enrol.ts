import { isDigest } from '../canonical/digest.ts';
import { isUuid } from '../canonical/uuid.ts';
import type { Event } from '../event/event.ts';
import { type Signer, signAct } from '../identity/act.ts';
import { requireHuman } from '../identity/principal.ts';
import { refuse } from '../refusal.ts';
import type { Context } from './context.ts';

const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** Subjects of the ledger share one namespace, so a principal must not be named like anything else in it. */
export function requireName(name: string): void {
  if (!NAME.test(name)) refuse('NAME_MALFORMED');
  if (name === 'system' || isUuid(name) || isDigest(name)) refuse('NAME_MALFORMED', `"${name}" is reserved.`);
}

export interface EnrolRequest {
  readonly name: string;
  readonly principal: 'human' | 'agent';
  readonly public_key: string | null;
  /** An enrolled human. Only the very first key of a project signs for itself. */
  readonly signer: Signer;
}

export async function enrol(context: Context, request: EnrolRequest): Promise<Event<'key.enrolled'>> {
  const { name, principal, public_key, signer } = request;
  requireName(name);
  if (await context.store.principal(name)) refuse('PRINCIPAL_EXISTS', `"${name}" is enrolled already.`);
  const enrolled = signAct(
    context.origin,
    'key.enrolled',
    name,
    { principal, public_key },
    signer,
    context.clock(),
  );
  await context.store.commit({ claims: [`principal:${name}`], events: [enrolled] });
  return enrolled;
}

export interface RevokeRequest {
  readonly name: string;
  readonly reason: string;
  readonly signer: Signer;
}

export async function revoke(context: Context, request: RevokeRequest): Promise<Event<'key.revoked'>> {
  const { name, reason, signer } = request;
  requireHuman(await context.store.principal(signer.name), signer.public_key);
  const target =
    (await context.store.principal(name)) ?? refuse('PRINCIPAL_UNKNOWN', `"${name}" is not enrolled.`);
  const humans = (await context.store.principals()).filter(
    (p) => p.kind === 'human' && p.status === 'active',
  );
  if (target.kind === 'human' && humans.length === 1) refuse('LAST_HUMAN');
  const revoked = signAct(context.origin, 'key.revoked', name, { reason }, signer, context.clock());
  await context.store.commit({ events: [revoked] });
  return revoked;
}
