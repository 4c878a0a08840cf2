import { describe, expect, it, onTestFinished } from 'vitest';
import { mayBeSameAccount } from '../../src/identity/account.ts';
import { accountAtService, Keyturn } from '../../src/keyturn.ts';
import { human, proposeSay } from '../journey/authority.ts';
import { expectRefusal } from '../support/refusal.ts';
import { acted, call, refusalIn, SAY, service, session } from './service.ts';

/** An account of a host, which is not that of the service. */
const OTHER = { host: 'elsewhere', machine: 'cd'.repeat(32), uid: 4711, user: 'bob' };

describe('the account of a human who signs over HTTP', () => {
  it('is not known: what an account of a host proposed without a key may be their own', async () => {
    const s = await service();
    const cookie = await session(s);
    const bob = await human(s, 'bob');
    const there = await Keyturn.open({ at: s.root, account: OTHER });
    onTestFinished(() => there.close());
    const intent = await proposeSay({ ...s, keyturn: there }, { issuer: 'bot' });
    const request = { intent_id: intent.intent_id, hash: intent.hash };
    for (const path of ['approve', 'turn'])
      expect(refusalIn(await acted(s, `/v1/intents/${path}`, request, bob, cookie))).toEqual([
        403,
        'POLICY_DENIED',
      ]);
    const asked = await call(s, '/v1/intents/whatIf', { ...request, by: 'bob', act: 'turn' }, { cookie });
    expect(asked.body.code).toBe('POLICY_DENIED');
    // At a terminal their account is known: that of the proposer is refused, and another one is not.
    await expectRefusal('POLICY_DENIED', () => there.intents.approve({ ...request, signer: bob }));
    await s.keyturn.intents.approve({ ...request, signer: bob });
  });

  it('is another than that of an agent with a token, and is not said to be that of the service', async () => {
    const s = await service();
    const cookie = await session(s);
    const bob = await human(s, 'bob');
    const { body } = await call(s, '/v1/intents/propose', SAY, { token: s.token });
    const request = { intent_id: body.intent_id, hash: body.hash };
    const asked = await call(s, '/v1/intents/whatIf', { ...request, by: 'bob', act: 'turn' }, { cookie });
    expect(asked.body.code).toBeNull();
    expect((await acted(s, '/v1/intents/approve', request, bob, cookie)).status).toBe(200);
    const { approvals } = await s.keyturn.intents.get({ intent_id: request.intent_id });
    expect(approvals).toMatchObject([{ by: 'bob', account: accountAtService('human', 'bob') }]);
  });

  it('is told apart from that of another human at the service alone', () => {
    const [ada, bob] = [accountAtService('human', 'ada'), accountAtService('human', 'bob')];
    const same = [
      [ada, ada],
      [ada, OTHER],
      [OTHER, ada],
      [ada, null],
    ] as const;
    expect(same.map(([a, b]) => mayBeSameAccount(a, b))).toEqual([true, true, true, true]);
    const others = [bob, accountAtService('token', 'bot'), accountAtService('key', 'ada')];
    expect(others.map((one) => mayBeSameAccount(ada, one))).toEqual([false, false, false]);
    expect(mayBeSameAccount(OTHER, accountAtService('token', 'bot'))).toBe(false);
  });
});
