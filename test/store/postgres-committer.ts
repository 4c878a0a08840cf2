import { writeSync } from 'node:fs';
import { Refusal } from '../../src/refusal.ts';
import { proposed } from './facts.ts';
import { openPostgresStore } from './open.ts';

/** A process on another host, as it were: it commits into a shared store and says what became of each commit. */

const [url, tag, count] = process.argv.slice(2) as [string, string, string];
const store = await openPostgresStore({ url, tenant: 'default', clock: () => new Date(), mode: 'write' });

async function commit(claim: string): Promise<void> {
  const event = proposed();
  const answer = await store.commit({ claims: [claim], events: [event] }).then(
    () => 'ok',
    (error: unknown) => (error instanceof Refusal ? error.code : String(error)),
  );
  writeSync(1, `${JSON.stringify({ claim, intent_id: event.subject, answer })}\n`);
}

for (let i = 0; i < Number(count); i++)
  await Promise.all([commit(`contested:${i}`), commit(`${tag}:${i}`), commit(`${tag}:${i}:again`)]);
await store.close();
