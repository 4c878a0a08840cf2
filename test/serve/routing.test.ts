import { expect, it } from 'vitest';
import { human, PERMITS, policy, rules } from '../journey/authority.ts';
import { call, SAY, service, session } from './service.ts';

const FINANCE = policy(
  'finance',
  'review',
  'permit (principal, action == Keyturn::Action::"review", resource) when { principal.roles.contains("finance") };',
);

it('a service tells people who is asked to look, in every answer the same, and an agent nothing of it', async () => {
  const s = await service();
  await human(s, 'bob', ['finance']);
  await rules(s, `${PERMITS}\n${FINANCE}`);
  const { token } = s;
  const { intent_id } = (await call(s, '/v1/intents/propose', SAY, { token })).body;
  const cookie = await session(s);
  const asked = async (path: string, request: object) => (await call(s, path, request, { cookie })).body;
  expect((await asked('/v1/intents/get', { intent_id })).reviewers).toEqual(['bob']);
  const listed = async (needs: string) =>
    (await asked('/v1/intents/list', { needs })).intents.map((one: { intent_id: string }) => one.intent_id);
  expect([await listed('bob'), await listed('ada')]).toEqual([[intent_id], []]);
  expect(await asked('/v1/intents/next', { needs: 'ada' })).toEqual({ intent_id: null, more: 0 });
  expect((await asked('/v1/system/status', {})).waiting).toMatchObject([{ intent_id, reviewers: ['bob'] }]);
  expect((await asked('/v1/intents/story', { intent_id })).intent.reviewers).toEqual(['bob']);
  expect((await call(s, '/v1/intents/get', { intent_id }, { token })).body).toMatchObject({
    intent_id,
    reviewers: null,
  });
});
