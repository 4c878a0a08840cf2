import type { Event } from '../event/event.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { type AgentToken, withoutToken, withToken } from './agent-token.ts';
import { AUDITOR, isAuditor } from './auditor.ts';
import { type Credential, type NewCredential, requireMadeBy } from './credential.ts';
import { requireSeen } from './seen.ts';

/** Who can speak: a human holds credentials and authority; an agent may only propose, and what a human delegates to its key. */
export interface Principal {
  readonly name: string;
  readonly kind: 'human' | 'agent';
  /** In the order in which they were added, revoked ones too. */
  readonly credentials: readonly Credential[];
  /** Of an agent, in the order in which they were added, revoked ones too. */
  readonly tokens: readonly AgentToken[];
  readonly roles: readonly string[];
  readonly status: 'active' | 'revoked';
  readonly enrolled_at: string;
  readonly enrolled_by: string;
}

export const PRINCIPAL_KINDS = [
  'key.enrolled',
  'key.revoked',
  'role.assigned',
  'credential.added',
  'credential.revoked',
  'token.added',
  'token.revoked',
] as const;

export type PrincipalEvent = Event<(typeof PRINCIPAL_KINDS)[number]>;

/** Pure: the principal after this event. A name is used once, also after revocation. */
export function nextPrincipal(state: Principal | null, event: PrincipalEvent, at: string): Principal {
  if (event.kind === 'key.enrolled') {
    if (state !== null) refuse('PRINCIPAL_EXISTS', `"${event.subject}" is enrolled already.`);
    return enrolled(event, at);
  }
  if (state === null) refuse('PRINCIPAL_UNKNOWN', `"${event.subject}" is not enrolled.`);
  if (state.status === 'revoked') refuse('KEY_REVOKED');
  switch (event.kind) {
    case 'role.assigned':
      requireSeen(event.body.replaces, state.roles, `It has ${state.roles.join(', ') || 'no roles'} now.`);
      return { ...state, roles: rolesOf(state.kind, event.body.roles) };
    case 'key.revoked':
      return { ...state, status: 'revoked' };
    case 'credential.added':
      return withCredential(state, event, at);
    case 'credential.revoked':
      return withoutCredential(state, event.body.public_key);
    case 'token.added':
      return withToken(state, event, at);
    case 'token.revoked':
      return withoutToken(state, event.body.token_id);
  }
}

function enrolled({ subject, body }: Event<'key.enrolled'>, at: string): Principal {
  const { principal, credential, own, by, key, signature, roles } = body;
  if (principal === 'human' && credential === null) refuse('NOT_HUMAN', 'A human has a key.');
  if (principal === 'agent' && credential?.kind === 'passkey')
    refuse('NOT_HUMAN', 'An agent cannot touch a passkey.');
  if (own !== null && credential === null) refuse('SHAPE_INVALID', 'A proof of no credential.');
  // Nothing in the answer that a passkey is enrolled from is signed.
  const proof = credential?.public_key === key ? signature : own;
  if (credential?.kind === 'passkey' && proof === null)
    refuse('SIGNATURE_INVALID', 'The passkey did not sign its own enrolment.');
  if (credential !== null && proof !== null) requireMadeBy(credential, proof);
  return {
    name: subject,
    kind: principal,
    credentials: credential === null ? [] : [added(credential, by, at)],
    tokens: [],
    roles: rolesOf(principal, roles),
    status: 'active',
    enrolled_at: at,
    enrolled_by: by,
  };
}

function added(credential: NewCredential, added_by: string, added_at: string): Credential {
  return { ...credential, added_at, added_by, status: 'active' };
}

/** The person adds it; another human only for a person who has none left: otherwise they could quietly sign in that name. */
export function requireAddable(person: Principal, by: string): void {
  requirePerson(person);
  const active = activeCredentials(person);
  if (by !== person.name && active.length > 0) refuse('CREDENTIAL_FOREIGN');
  if (active.length >= limits.credentials) refuse('CREDENTIAL_TOO_MANY');
}

function withCredential(state: Principal, { body }: Event<'credential.added'>, at: string): Principal {
  const { credential, own, by } = body;
  requireAddable(state, by);
  requireMadeBy(credential, own);
  return { ...state, credentials: [...state.credentials, added(credential, by, at)] };
}

/** Pure: the person without this credential. */
function withoutCredential(state: Principal, public_key: string): Principal {
  requirePerson(state);
  const found = credentialOf(state, public_key) ?? refuse('CREDENTIAL_UNKNOWN');
  if (found.status === 'revoked') refuse('KEY_REVOKED');
  const credentials = state.credentials.map((one) =>
    one === found ? { ...one, status: 'revoked' as const } : one,
  );
  return { ...state, credentials };
}

function requirePerson({ kind, name }: Principal): void {
  if (kind !== 'human') refuse('NOT_HUMAN', `"${name}" is an agent, which has one key at most.`);
}

function rolesOf(kind: Principal['kind'], roles: readonly string[]): string[] {
  if (kind === 'agent' && roles.includes(AUDITOR)) refuse('NOT_HUMAN', 'Only a human is an auditor.');
  return [...new Set(roles)].sort();
}

function credentialOf({ credentials }: Principal, key: string): Credential | null {
  return credentials.find(({ public_key }) => public_key === key) ?? null;
}

/** What the principal can sign with now. */
export function activeCredentials({ status, credentials }: Principal): Credential[] {
  return status === 'active' ? credentials.filter((one) => one.status === 'active') : [];
}

/** Whether this key speaks for this principal now. That of an auditor signs nothing. */
export function hasKey(principal: Principal | null, key: string): boolean {
  if (principal === null || isAuditor(principal)) return false;
  return activeCredentials(principal).some(({ public_key }) => public_key === key);
}

/** Whether this key speaks for this human now. */
export function isLive(principal: Principal | null, key: string): boolean {
  return principal?.kind === 'human' && hasKey(principal, key);
}

/** Whether a human can act now. An auditor cannot, nor one whose last credential was revoked, until another human adds one. */
export function canAct(principal: Principal | null): boolean {
  return principal?.kind === 'human' && !isAuditor(principal) && activeCredentials(principal).length > 0;
}

/** The signer of an act must be an enrolled human, not revoked, and use an enrolled key that is not revoked. */
export function requireHuman(principal: Principal | null, key: string): Principal {
  if (principal === null) refuse('PRINCIPAL_UNKNOWN');
  if (principal.kind !== 'human')
    refuse('NOT_HUMAN', `"${principal.name}" is an agent. Agents only propose.`);
  requireCredential(principal, key);
  return principal;
}

/** The credential that this key is, if it speaks for the principal now. */
export function requireCredential(principal: Principal, key: string): Credential {
  if (principal.status === 'revoked') refuse('KEY_REVOKED');
  if (isAuditor(principal)) refuse('AUDITOR_ACTS', `"${principal.name}" is an auditor, who acts on nothing.`);
  const found =
    credentialOf(principal, key) ?? refuse('KEY_FILE_INVALID', 'The key is not one that was enrolled.');
  return found.status === 'active'
    ? found
    : refuse('KEY_REVOKED', `The credential "${found.label}" was revoked.`);
}

/** The one key that a principal has. Which one of several is meant is not guessed. */
export function onlyKeyOf(principal: Principal): string {
  const [only, ...others] = activeCredentials(principal);
  if (!only)
    refuse(
      'CREDENTIAL_UNKNOWN',
      `"${principal.name}" was enrolled without a key, and can get none. Enrol an agent of another name: keyturn identity add NAME --agent --key-out FILE.`,
    );
  if (others.length > 0) refuse('CREDENTIAL_AMBIGUOUS', `"${principal.name}" has several keys.`);
  return only.public_key;
}
