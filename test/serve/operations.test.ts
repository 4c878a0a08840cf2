import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { OpenKey } from '../../src/identity/act.ts';
import { authority, human } from '../journey/authority.ts';
import { call, refusalIn, SAY, serving, withToken } from './service.ts';
import { callSigned } from './signed.ts';

it('a service counts what it is asked, and lets a caller who asks too often wait', async () => {
  const p = await authority();
  appendFileSync(join(p.root, 'keyturn.yaml'), '\nservice: { requests_minute: 6 }\n');
  const { token } = await withToken(p, 'bot');
  const other = await withToken(p, 'watch');
  const s = await serving(p);
  await call(s, '/v1/intents/propose', SAY, { token });
  for (let asked = 1; asked < 6; asked += 1) await call(s, '/v1/intents/get', { intent_id: 'x' }, { token });
  const limited = await call(s, '/v1/intents/list', {}, { token });
  expect(refusalIn(limited)).toEqual([429, 'CALLER_LIMITED']);
  expect(limited.headers.get('content-type')).toBe('application/problem+json');
  expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(Number(limited.headers.get('retry-after'))).toBeLessThanOrEqual(10);
  const { status, headers, text } = await call(s, '/metrics', undefined, { token: other.token });
  expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
  for (const line of [
    'keyturn_waiting 1',
    'keyturn_ordered 0',
    'keyturn_in_doubt 0',
    'keyturn_requests_total{kind="write",status="200"} 1',
    'keyturn_refusals_total{code="CALLER_LIMITED"} 1',
    'keyturn_refusals_total{code="ID_MALFORMED"} 5',
    'keyturn_ready 1',
  ])
    expect(text.split('\n')).toContain(line);
  expect(text).toMatch(/^keyturn_waiting_oldest_seconds \d/m);
  expect(text).toMatch(/^keyturn_request_seconds_count\{kind="write"\} 1$/m);
  expect(text).toMatch(/^keyturn_event_loop_lag_seconds\{quantile="0\.99"\} \d/m);
  expect(text).not.toMatch(/bot|hello/);
});

it('each person is counted apart, whichever way they ask', async () => {
  const p = await authority();
  appendFileSync(join(p.root, 'keyturn.yaml'), '\nservice: { requests_minute: 3 }\n');
  const bo = (await human(p, 'bo')) as OpenKey;
  const s = { ...p, ...(await serving(p)), token: '', token_id: '' };
  const asked = async (key: OpenKey) => (await callSigned(s, key, '/v1/people/list')).status;
  for (let times = 0; times < 3; times += 1) expect(await asked(bo)).toBe(200);
  expect(await asked(bo)).toBe(429);
  expect(await asked(p.ada as OpenKey)).toBe(200);
});

it('a signed request that is one too many is refused before anything is kept of it', async () => {
  const p = await authority();
  appendFileSync(join(p.root, 'keyturn.yaml'), '\nservice: { requests_minute: 3 }\n');
  const s = { ...p, ...(await serving(p)), token: '', token_id: '' };
  const asked = async () => (await callSigned(s, p.ada as OpenKey, '/v1/people/list')).status;
  const statuses = [await asked(), await asked(), await asked(), await asked(), await asked()];
  expect(statuses).toEqual([200, 200, 200, 429, 429]);
  expect(readFileSync(p.keyturn.layout.nonces, 'utf8').match(/\n/g)).toHaveLength(3);
});
