import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { Refusal } from '../../src/refusal.ts';
import type { Store } from '../../src/store/store.ts';
import { elapsed, until } from '../support/processes.ts';
import { begun, enrolled, proposed } from './facts.ts';
import { allEntries, requireChain } from './place.ts';
import type { Postgres } from './postgres-place.ts';

interface Said {
  readonly intent_id: string;
  readonly claim: string;
  readonly answer: string;
}

const WRITERS = 4;

/**
 * Writers commit while the server is killed and started again, so many times. Whatever was acknowledged must be there,
 * once; whatever was not must be wholly there or not at all; and the chain has no gap.
 */
export async function killUnderLoad({ server, open, place }: Postgres, kills: number): Promise<void> {
  await place();
  const first = await open('create');
  await first.commit({ events: [begun(), enrolled('ada')] });
  const said: Said[] = [];
  let stopped = false;
  const writers = Array.from({ length: WRITERS }, async (_, writer) => {
    while (!stopped) {
      const store = await until(() => open('write').catch(() => null));
      await commitUntilItFails(store, writer, said, () => stopped);
      await store.close();
    }
  });
  for (let kill = 0; kill < kills; kill++) {
    const before = said.length;
    await until(() => said.length >= before + 3 * WRITERS);
    await elapsed(Math.random() * 30, 'the kill comes at any moment');
    await server.kill();
    await server.start();
  }
  stopped = true;
  await Promise.all(writers);
  await requireNothingLost(first, said, kills);
  await first.close();
}

async function commitUntilItFails(store: Store, writer: number, said: Said[], isOver: () => boolean) {
  while (!isOver()) {
    const answers = await Promise.all(Array.from({ length: 3 }, () => commit(store, writer, said)));
    if (answers.includes('WRITE_FAILED')) return;
  }
}

async function commit(store: Store, writer: number, said: Said[]): Promise<string> {
  const intent_id = randomUUID();
  const claim = `${writer}:${intent_id}`;
  const answer = await store.commit({ claims: [claim], events: [proposed(intent_id)] }).then(
    () => 'ok',
    (error: unknown) => (error instanceof Refusal ? error.code : String(error)),
  );
  said.push({ intent_id, claim, answer });
  return answer;
}

async function requireNothingLost(store: Store, said: readonly Said[], kills: number): Promise<void> {
  const entries = await allEntries(store);
  expect(await store.tip()).toEqual(requireChain(entries));
  expect(await store.rebuild({ write: false })).toMatchObject({ differences: [] });
  const texts = entries.map(({ bytes }) => Buffer.from(bytes).toString());
  const times = new Map<string, number>();
  for (const text of texts) {
    const { subject } = JSON.parse(text) as { subject: string };
    times.set(subject, (times.get(subject) ?? 0) + 1);
  }
  const acknowledged = said.filter(({ answer }) => answer === 'ok');
  expect(acknowledged.length).toBeGreaterThan(kills);
  for (const { intent_id } of acknowledged) expect(times.get(intent_id)).toBe(1);
  for (const { intent_id, answer } of said) {
    expect(['ok', 'WRITE_FAILED', 'STORE_UNREACHABLE']).toContain(answer);
    expect(times.get(intent_id) ?? 0).toBeLessThan(2);
  }
  expect(entries.length - 2).toBeLessThanOrEqual(said.length);
}
