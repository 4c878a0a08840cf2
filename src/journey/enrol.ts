import { isDigest } from '../canonical/digest.ts';
import { isUuid } from '../canonical/uuid.ts';
import type { Event } from '../event/event.ts';
import { type Signer, signAct } from '../identity/act.ts';
import { requireHuman } from '../identity/principal.ts';
import { refuse } from '../refusal.ts';
import { type Context, humansNow } from './context.ts';

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
  readonly roles?: readonly string[];
  /** An enrolled human. Only the very first key of a project signs for itself. */
  readonly signer: Signer;
}

export async function enrol(context: Context, request: EnrolRequest): Promise<Event<'key.enrolled'>> {
  const { name, principal, public_key, roles = [], signer } = request;
  requireName(name);
  if (await context.store.find('principal', name))
    refuse('PRINCIPAL_EXISTS', `"${name}" is enrolled already.`);
  const enrolled = signAct(
    context.origin,
    'key.enrolled',
    name,
    { principal, public_key, roles: [...roles] },
    signer,
    context.clock(),
  );
  await context.store.commit({ claims: [`principal:${name}`], events: [enrolled] });
  return enrolled;
}

export interface AssignRequest {
  readonly name: string;
  /** All of them from now on. */
  readonly roles: readonly string[];
  readonly reason: string;
  readonly signer: Signer;
}

/** Says which roles somebody has. Policies ask for them. */
export async function assign(context: Context, request: AssignRequest): Promise<Event<'role.assigned'>> {
  const { name, roles, reason, signer } = request;
  const now = context.clock();
  const assigned = signAct(context.origin, 'role.assigned', name, { roles: [...roles], reason }, signer, now);
  await context.store.commit({ events: [assigned] });
  return assigned;
}

export interface RevokeRequest {
  readonly name: string;
  readonly reason: string;
  readonly signer: Signer;
}

export async function revoke(context: Context, request: RevokeRequest): Promise<Event<'key.revoked'>> {
  const { name, reason, signer } = request;
  requireHuman(await context.store.find('principal', signer.name), signer.public_key);
  const target =
    (await context.store.find('principal', name)) ??
    refuse('PRINCIPAL_UNKNOWN', `"${name}" is not enrolled.`);
  if (target.kind === 'human' && (await humansNow(context)) === 1) refuse('LAST_HUMAN');
  const revoked = signAct(context.origin, 'key.revoked', name, { reason }, signer, context.clock());
  await context.store.commit({ events: [revoked] });
  return revoked;
}
