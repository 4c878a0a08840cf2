import { sign } from '../../src/canonical/ed25519.ts';
import type { Event, SignedKind } from '../../src/event/event.ts';
import { type ActFacts, type OpenKey, statementOf } from '../../src/identity/act.ts';

/** An act that is signed at once and may be committed for years, for tests that write facts down. */
export function signedAt<K extends SignedKind>(
  origin: string,
  kind: K,
  subject: string,
  facts: ActFacts<K> & { readonly deadline?: string },
  { name, public_key, key }: OpenKey,
  now: Date,
): Event<K> {
  const signing = { by: name, key: public_key, signed_at: now.toISOString() };
  const body = { deadline: '2035-01-15T12:00:00.000Z', ...facts, ...signing };
  const signature = sign(statementOf(origin, kind, subject, body), key);
  return { kind, subject, body: { ...body, signature } } as unknown as Event<K>;
}
