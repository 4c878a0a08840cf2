import { keyCredential } from '../../src/identity/credential.ts';
import type { Principal } from '../../src/identity/principal.ts';

/** A principal with this one key, as it is after the enrolment. */
export function principalWith(
  name: string,
  public_key: string,
  over: Partial<Principal> = {},
  enrolled_at = '2026-01-15T12:00:00.000Z',
): Principal {
  const added = { added_at: enrolled_at, added_by: 'ada', status: 'active' } as const;
  return {
    name,
    kind: 'human',
    credentials: [{ ...keyCredential(public_key), ...added }],
    tokens: [],
    roles: [],
    status: 'active',
    enrolled_at,
    enrolled_by: 'ada',
    ...over,
  };
}
