import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { Part, type Serving } from '../../bench/service-part.ts';
import type { Project } from '../support/project.ts';
import { type Service, type Shown, session } from './service.ts';

/** How long each request keeps the event loop of a service, which is a process of its own, without the wait for a core. */

const MOST_MS = 50;
/** Each is asked once before, so that its code is there; what else the machine does can only add to a turn. */
const ROUNDS = 3;
const BENCH = resolve(import.meta.dirname, '../../bench/worker.ts');
const TSX = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

export interface Ask {
  readonly what: string;
  readonly path: string;
  readonly request: object | undefined;
  readonly headers: () => Record<string, string>;
}

export type Serves<P> = P & Service;

interface Took {
  readonly what: string;
  readonly ms: number;
  readonly told: string;
}

export async function turnsOfEach<P extends Project>(
  p: P,
  asksOf: (s: Serves<P>, cookie: Shown) => readonly Ask[],
): Promise<Took[]> {
  const worker = ['--import', TSX, BENCH];
  const [part, { port, link }] = await Part.start<Serving>('servicePart', { root: p.root }, worker);
  onTestFinished(() => part.end());
  const s = {
    ...p,
    address: `http://localhost:${port}`,
    port,
    link: `#link=${link}`,
  } as unknown as Serves<P>;
  const took: Took[] = [];
  for (const one of asksOf(s, await session(s))) {
    const told = await ask(s, one);
    const turns: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      await part.ask('watch');
      await ask(s, one);
      turns.push(await part.ask<number>('longest'));
    }
    took.push({ what: one.what, ms: Math.min(...turns), told });
  }
  return took.sort((a, b) => b.ms - a.ms);
}

/** Prints all of them, the longest first. */
export async function expectShort({ keyturn }: Project, took: readonly Took[]): Promise<void> {
  const { size } = await keyturn.ledger.head();
  const lines = took.map(({ what, ms, told }) => `${ms.toFixed(0).padStart(6)} ms  ${what}  ${told}`);
  console.log(`${size} entries\n${lines.join('\n')}`);
  const namesOf = (some: readonly Took[]) => some.map(({ what }) => what);
  // One that is refused for its form was never asked.
  expect(namesOf(took.filter(({ told }) => told.startsWith('400')))).toEqual([]);
  expect(namesOf(took.filter(({ ms }) => ms > MOST_MS))).toEqual([]);
}

/** Nothing of the answer is parsed here: the service shares its cores with this process. */
async function ask(s: Pick<Service, 'address'>, { path, request, headers }: Ask): Promise<string> {
  const answer = await fetch(`${s.address}${path}`, {
    ...(request && { method: 'POST', body: JSON.stringify(request) }),
    headers: { ...(request && { 'content-type': 'application/json' }), ...headers() },
  });
  let bytes = 0;
  let first = '';
  for await (const part of answer.body!) {
    if (bytes === 0) first = Buffer.from(part).toString('utf8').slice(0, 200);
    bytes += part.length;
  }
  return answer.status < 300 ? `${answer.status}, ${bytes} bytes` : `${answer.status} ${first}`;
}
