import { expect, it } from 'vitest';
import { expectRefusal } from '../support/refusal.ts';
import { agent, authority, human, PERMITS, policy, proposeSay, rules } from './authority.ts';

const GLASS = policy(
  'break_glass',
  'emergency',
  'permit (principal, action == Keyturn::Action::"break_glass", resource);',
);
const THAWED = policy(
  'thawed',
  'intent',
  'forbid (principal, action == Keyturn::Action::"approve", resource) when { context.frozen };',
);

it('policies are told of a freeze once a human who broke the glass acts no more, as the gate is', async () => {
  const p = await authority();
  const { intents, runs, system, people } = p.keyturn;
  const [bob, cat] = [await human(p, 'bob'), await human(p, 'cat')];
  await rules(p, PERMITS + GLASS + THAWED);
  await agent(p, 'scout');
  const intent = await proposeSay(p, { issuer: 'scout' });
  await system.freeze({ scope: 'system', reason: 'fire', signer: p.ada });
  await expectRefusal('POLICY_DENIED', () => intents.approve({ ...intent, signer: p.ada }));
  for (const signer of [bob, cat]) await runs.breakGlass({ ...intent, reason: 'it burns', signer });
  expect((await intents.approve({ ...intent, signer: p.ada })).by).toBe('ada');
  await people.revoke({ name: 'bob', reason: 'stolen', signer: p.ada });
  await expectRefusal('POLICY_DENIED', () => intents.approve({ ...intent, signer: cat }));
});
