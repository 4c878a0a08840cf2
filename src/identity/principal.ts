import type { Event } from '../event/event.ts';
import { refuse } from '../refusal.ts';

/** Who can speak: a human holds a key and authority; an agent has a name and may only propose. */
export interface Principal {
  readonly name: string;
  readonly kind: 'human' | 'agent';
  readonly public_key: string | null;
  readonly status: 'active' | 'revoked';
  readonly enrolled_at: string;
  readonly enrolled_by: string;
}

export type PrincipalEvent = Event<'key.enrolled' | 'key.revoked'>;

export function movesPrincipal(event: Event): event is PrincipalEvent {
  return event.kind === 'key.enrolled' || event.kind === 'key.revoked';
}

/** Pure: the principal after this event. A name is used once, also after revocation. */
export function nextPrincipal(state: Principal | null, event: PrincipalEvent, at: string): Principal {
  if (event.kind === 'key.enrolled') {
    if (state !== null) refuse('PRINCIPAL_EXISTS', `"${event.subject}" is enrolled already.`);
    const { principal, public_key, by } = event.body;
    if ((principal === 'human') !== (public_key !== null))
      refuse('NOT_HUMAN', 'A human has a key and an agent has none.');
    return {
      name: event.subject,
      kind: principal,
      public_key,
      status: 'active',
      enrolled_at: at,
      enrolled_by: by,
    };
  }
  if (state === null) refuse('PRINCIPAL_UNKNOWN', `"${event.subject}" is not enrolled.`);
  if (state.status === 'revoked') refuse('KEY_REVOKED');
  return { ...state, status: 'revoked' };
}

/** Whether this key speaks for this principal now. */
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
