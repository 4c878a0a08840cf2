import type { Event } from '../../src/event/event.ts';
import type { Keyturn } from '../../src/keyturn.ts';

/** An event as this host would state it: signed with its executor key, where executors have keys. */
export async function statedBy(keyturn: Keyturn, event: unknown): Promise<Event> {
  const fact = '../../src/identity/fact.ts';
  const found = await import(fact).catch(() => null);
  if (found === null) return event as Event;
  const { readExecutorKey } = await import('../../src/project/keys.ts');
  const { privateKeyOf } = await import('../../src/canonical/ed25519.ts');
  const { public_key, seed } = readExecutorKey(keyturn.layout);
  const { origin } = await keyturn.system.get();
  return found.signFact(origin, 'executor', event, { public_key, key: privateKeyOf(seed) });
}
