import { isDigest } from '../canonical/digest.ts';
import { NAME_FORM } from '../canonical/form.ts';
import { isUuid } from '../canonical/uuid.ts';
import type { Event } from '../event/event.ts';
import { type ActDraft, type Signer, signAct, signKeyAct } from '../identity/act.ts';
import { keyCredential, type NewCredential } from '../identity/credential.ts';
import type { Passkey } from '../identity/passkey.ts';
import { refuse } from '../refusal.ts';
import type { Context } from './context.ts';

/** Subjects of the ledger share one namespace, so a principal must not be named like anything else in it. */
export function requireName(name: string): void {
  if (!NAME_FORM.test(name)) refuse('NAME_MALFORMED');
  if (name === 'system' || isUuid(name) || isDigest(name)) refuse('NAME_MALFORMED', `"${name}" is reserved.`);
}

interface Enrolled {
  readonly name: string;
  readonly principal: 'human' | 'agent';
  readonly roles?: readonly string[];
}

/** With an Ed25519 key, or none for an agent. */
export interface KeyEnrolment extends Enrolled {
  readonly public_key: string | null;
}

/** With a passkey, which signs its own enrolment in the hand of its holder. */
export interface PasskeyEnrolment extends Enrolled {
  readonly passkey: Passkey;
  readonly holder: Signer;
}

/** `signer` is an enrolled human. Only the very first key of a project signs for itself. */
export type EnrolRequest = (KeyEnrolment | PasskeyEnrolment) & { readonly signer: Signer };

export async function enrol(context: Context, request: EnrolRequest): Promise<Event<'key.enrolled'>> {
  const { name, signer } = request;
  requireName(name);
  if (await context.store.find('principal', name))
    refuse('PRINCIPAL_EXISTS', `"${name}" is enrolled already.`);
  const draft = enrolling(request);
  const now = context.clock();
  const enrolled =
    'holder' in request && request.holder.public_key !== signer.public_key
      ? await signKeyAct(context.origin, draft, request, now)
      : await signAct(context.origin, draft.kind, name, draft.facts, signer, now);
  await context.store.commit({ events: [enrolled] });
  return enrolled;
}

/** The act that enrols a name, for a human to sign. */
export function enrolling(request: KeyEnrolment | PasskeyEnrolment): ActDraft<'key.enrolled'> {
  const { name, principal, roles = [] } = request;
  const facts = { principal, credential: credentialIn(request), own: null, roles: [...roles] };
  return { kind: 'key.enrolled', subject: name, facts };
}

function credentialIn(request: KeyEnrolment | PasskeyEnrolment): NewCredential | null {
  if ('passkey' in request) return { ...request.passkey, kind: 'passkey' };
  return request.public_key === null ? null : keyCredential(request.public_key);
}

export interface AssignRequest {
  readonly name: string;
  /** All of them from now on. */
  readonly roles: readonly string[];
  /** Those that were shown. Without them those that the principal has. */
  readonly replaces?: readonly string[];
  readonly reason: string;
  readonly signer: Signer;
}

/** Says which roles a principal has. Policies ask for them. */
export async function assign(context: Context, request: AssignRequest): Promise<Event<'role.assigned'>> {
  const { name, roles, reason, signer } = request;
  const now = context.clock();
  // One who is enrolled by the same touch is not there yet: the fold refuses one who is not enrolled at all.
  const known = await context.store.find('principal', name);
  const { replaces = known?.roles ?? [] } = request;
  const facts = { roles: [...roles], replaces: [...replaces], reason };
  const assigned = await signAct(context.origin, 'role.assigned', name, facts, signer, now);
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
  const revoked = await signAct(context.origin, 'key.revoked', name, { reason }, signer, context.clock());
  await context.store.commit({ events: [revoked] });
  return revoked;
}
