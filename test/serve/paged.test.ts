import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { authority } from '../journey/authority.ts';
import { until } from '../support/processes.ts';
import { logged, logIn } from '../support/telemetry.ts';
import { call, refusalIn, SAY, service, serving, withToken } from './service.ts';

it('a list goes on where its last page ended, and every intent is on one page', async () => {
  const s = await service();
  const made: string[] = [];
  for (let n = 0; n < 5; n += 1)
    made.push(
      (await call(s, '/v1/intents/propose', { ...SAY, declared_goal: `say ${n}` }, s)).body.intent_id,
    );
  const pages: string[][] = [];
  let next: string | null = '';
  while (next !== null) {
    const cursor: string = next === '' ? '' : `&cursor=${encodeURIComponent(next)}`;
    const { status, body } = await call(s, `/v1/intents/list?limit=2${cursor}`, undefined, s);
    expect(status).toBe(200);
    pages.push(body.intents.map(({ intent_id }: { intent_id: string }) => intent_id));
    next = body.next;
  }
  expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
  expect(pages.flat().sort()).toEqual(made.sort());
  const odd = await call(s, '/v1/intents/list?limit=2&cursor=elsewhere', undefined, s);
  expect(odd.status).toBe(400);
});

it('an agent that has proposed too much is told when to come again', async () => {
  const p = await authority();
  const path = join(p.root, 'keyturn.yaml');
  const own = readFileSync(path, 'utf8').replace(/^proposals:.*\n(?: .*\n)*/m, '');
  writeFileSync(path, `${own}\nproposals: { pending: 2, minute: 100 }\n`);
  const { token } = await withToken(p, 'bot');
  const s = await serving(p);
  const proposed = (n: number) =>
    call(s, '/v1/intents/propose', { ...SAY, declared_goal: `say ${n}` }, { token });
  for (const n of [0, 1]) expect((await proposed(n)).status).toBe(200);
  const limited = await proposed(2);
  expect(refusalIn(limited)).toEqual([429, 'PROPOSALS_LIMITED']);
  expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);
});

it('each request is a line in the log at level debug: which verb, which status and how long', async () => {
  const p = await authority();
  logIn(p.root, '{ level: debug, file: ops.log }');
  const { token } = await withToken(p, 'bot');
  const s = await serving(p);
  await call(s, '/v1/intents/propose', SAY, { token });
  await call(s, '/v1/intents/get', { intent_id: 'x' }, { token });
  const lines = () => logged(p.root, 'ops.log').filter(({ operation }) => operation === 'request');
  await until(() => lines().length === 2);
  expect(lines()).toMatchObject([
    { entry_point: 'intents.propose', status: 200 },
    { entry_point: 'intents.get', status: 400 },
  ]);
  for (const { took_ms } of lines()) expect(took_ms).toEqual(expect.any(Number));
});
