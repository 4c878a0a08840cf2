import { expect, it } from 'vitest';
import { expectRefusal } from '../support/refusal.ts';
import { agent, authority, kinds, PERMITS, policy, proposeSay, rules } from './authority.ts';

const GLASS = policy(
  'break_glass',
  'emergency',
  'permit (principal, action == Keyturn::Action::"break_glass", resource);',
);

const DAY_MS = 86_400_000;

it('a break-glass is neither signed nor recorded for an intent that has expired, as check says', async () => {
  const time = { ms: Date.parse('2026-03-02T10:00:00.000Z') };
  const p = await authority(() => new Date(time.ms));
  await rules(p, PERMITS + GLASS);
  await agent(p, 'scout');
  const intent = await proposeSay(p, { issuer: 'scout' });
  await p.keyturn.intents.approve({ ...intent, signer: p.ada });
  time.ms = Date.parse((await p.keyturn.intents.get({ intent_id: intent.intent_id })).expires_at) + DAY_MS;
  expect(await p.keyturn.intents.check(intent)).toMatchObject({ code: 'INTENT_EXPIRED' });
  const signer = { ...p.ada, sign: () => expect.fail('asked for a signature') };
  await expectRefusal('INTENT_EXPIRED', () =>
    p.keyturn.runs.breakGlass({ ...intent, reason: 'it burns', signer }),
  );
  expect(await kinds(p, intent.intent_id)).not.toContain('break_glass.used');
});
