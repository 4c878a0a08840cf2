import { writeSync } from 'node:fs';
import { Refusal } from '../../src/refusal.ts';
import { proposed } from './facts.ts';
import { openSqliteStore } from './open.ts';

/**
 * A process that commits into a store and says what became of each commit, one JSON line each, written at once: what
 * is on standard output was acknowledged, whatever kills the process next.
 */

const [path, tag, contested] = process.argv.slice(2) as [string, string, string];
const say = (line: object) => writeSync(1, `${JSON.stringify(line)}\n`);
const open = () => openSqliteStore({ path, tenant: 'default', clock: () => new Date(), mode: 'write' });

async function commit(store: Awaited<ReturnType<typeof open>>, claim: string): Promise<void> {
  const event = proposed();
  const answer = await store.commit({ claims: [claim], events: [event] }).then(
    () => 'ok',
    (error: unknown) => (error instanceof Refusal ? error.code : String(error)),
  );
  say({ claim, intent_id: event.subject, answer });
}

const store = await open();
say({ ready: true });
if (tag === 'reopen') {
  for (const claim of ['first', 'second', 'third']) await commit(store, claim);
  const again = await open();
  await commit(again, 'fourth');
} else if (contested === 'forever') {
  for (let i = 0; ; i += 3) await Promise.all([0, 1, 2].map((n) => commit(store, `${tag}:${i + n}`)));
} else {
  for (let i = 0; i < Number(contested); i++) {
    await commit(store, `contested:${i}`);
    await commit(store, `${tag}:${i}`);
  }
  if (tag !== 'left open') await store.close();
}
