import type { Event } from '../event/event.ts';
import { refuse } from '../refusal.ts';

/** Who can speak: a human holds a key and authority; an agent may only propose, and what a human delegates to its key. */
export interface Principal {
  readonly name: string;
  readonly kind: 'human' | 'agent';
  readonly public_key: string | null;
  readonly roles: readonly string[];
  readonly status: 'active' | 'revoked';
  readonly enrolled_at: string;
  readonly enrolled_by: string;
}

export const PRINCIPAL_KINDS = ['key.enrolled', 'key.revoked', 'role.assigned'] as const;

export type PrincipalEvent = Event<(typeof PRINCIPAL_KINDS)[number]>;

/** Pure: the principal after this event. A name is used once, also after revocation. */
export function nextPrincipal(state: Principal | null, event: PrincipalEvent, at: string): Principal {
  if (event.kind === 'key.enrolled') {
    if (state !== null) refuse('PRINCIPAL_EXISTS', `"${event.subject}" is enrolled already.`);
    const { principal, public_key, by, roles } = event.body;
    if (principal === 'human' && public_key === null) refuse('NOT_HUMAN', 'A human has a key.');
    return {
      name: event.subject,
      kind: principal,
      public_key,
      roles: sorted(roles),
      status: 'active',
      enrolled_at: at,
      enrolled_by: by,
    };
  }
  if (state === null) refuse('PRINCIPAL_UNKNOWN', `"${event.subject}" is not enrolled.`);
  if (state.status === 'revoked') refuse('KEY_REVOKED');
  if (event.kind === 'role.assigned') return { ...state, roles: sorted(event.body.roles) };
  return { ...state, status: 'revoked' };
}

function sorted(roles: readonly string[]): string[] {
  return [...new Set(roles)].sort();
}

/** Whether this key speaks for this human now. */
export function isLive(principal: Principal | null, key: string): boolean {
  return principal?.kind === 'human' && principal.status === 'active' && principal.public_key === key;
}

/** The signer of an act must be an enrolled human, not revoked, and use the enrolled key. */
export function requireHuman(principal: Principal | null, key: string): Principal {
  if (principal === null) refuse('PRINCIPAL_UNKNOWN');
  if (principal.kind !== 'human')
    refuse('NOT_HUMAN', `"${principal.name}" is an agent. Agents only propose.`);
  if (principal.status === 'revoked') refuse('KEY_REVOKED');
  if (principal.public_key !== key) refuse('KEY_FILE_INVALID', 'The key is not the one that was enrolled.');
  return principal;
}
