import { privateKeyOf, sign } from '../../src/canonical/ed25519.ts';
import type { Drafted, Event, SignedKind } from '../../src/event/event.ts';
import { type ActFacts, type OpenKey, statementOf } from '../../src/identity/act.ts';
import { signDecided } from '../../src/identity/fact.ts';
import type { Keyturn } from '../../src/keyturn.ts';
import { readControlKey } from '../../src/project/keys.ts';

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

/** With the key of this project's control plane, for tests that go past its verbs. */
export async function decidedIn<E extends Drafted>(
  { keyturn }: { readonly keyturn: Keyturn },
  drafted: E,
): Promise<Event<E['kind']>> {
  const { origin, control_keys } = await keyturn.system.get();
  const { public_key, seed } = readControlKey(keyturn.layout, control_keys.at(-1)!.public_key);
  const [decided] = signDecided(origin, [drafted], { public_key, key: privateKeyOf(seed) });
  return decided as Event<E['kind']>;
}
