import { describe, expect, it } from 'vitest';
import { type ActKnown, expectedAct } from '../../src/display/expected.ts';
import { expectedActs } from '../../src/display/expected-acts.ts';
import { rebuiltAct } from '../../src/display/signed.ts';
import { Keyturn, type Signer } from '../../src/keyturn.ts';
import { agentPlace } from '../agent/agent-place.ts';
import { authority, proposeSay } from '../journey/authority.ts';
import { freshSigner } from '../support/keys.ts';

const REASON = { reason: 'a test' };
const place = agentPlace();

describe('what an act is expected to say', () => {
  it('is what the project draws up, for each verb, and not where a member is another', async () => {
    const { keyturn, ada } = await authority();
    const { intents, runs, people, agents, system } = keyturn;
    const { intent_id, hash } = await proposeSay({ keyturn, ada } as never, { issuer: 'ada' }, ada);
    const other = await proposeSay({ keyturn, ada } as never, { issuer: 'ada' }, ada);
    const { attempt, effect_digest } = await intents.get({ intent_id });
    const scout = freshSigner('scout');
    await people.enrol({ name: 'scout', principal: 'agent', public_key: scout.public_key, signer: ada });
    const { digest } = Keyturn.makeToken('scout');
    const { token_id } = await agents.addToken({ name: 'scout', digest, ...REASON, signer: ada });
    const host = freshSigner('host').public_key;
    const shown = { attempt, effect_digest };
    const { actions } = await intents.get({ intent_id });
    const action = actions[0]!;
    const freeze = { scope: 'tool', name: 'wait', ...REASON } as const;
    await system.freeze({ ...freeze, signer: ada });
    const { by, at: frozen_at } = (await system.get()).freezes[0]!;
    const lifts = { by, at: frozen_at };
    const delegating = { delegate: 'scout', actions: ['tool:say'], ttl_s: 60, ...REASON };
    const { delegation_id } = await agents.delegate({ ...delegating, signer: ada });
    type Row = readonly [verb: string, request: ActKnown, act: (signer: Signer) => Promise<unknown>];
    const act = <T extends object>(
      verb: string,
      request: T,
      run: (request: T & { signer: Signer }) => Promise<unknown>,
      seen: object = {},
    ): Row => [verb, { ...request, ...seen } as ActKnown, (signer) => run({ ...request, signer })];
    const rows = [
      act('intents.approve', { intent_id, hash }, intents.approve, { effect_digest }),
      act('intents.reject', { intent_id, hash, ...REASON }, intents.reject),
      act('intents.turn', { intent_id, hash, shown }, intents.turn, { ...shown, action }),
      act('intents.turn', { intent_id, hash, shown, audience: 'keyturn/x/gpu' }, intents.turn, {
        ...{ ...shown, action },
      }),
      act('system.freeze', { scope: 'system', ...REASON } as const, system.freeze),
      act('system.freeze', { scope: 'tenant', ...REASON } as const, system.freeze),
      act('system.unfreeze', { ...freeze, lifts }, system.unfreeze),
      act(
        'system.addExecutor',
        { public_key: host, name: 'other', labels: ['gpu'], ...REASON },
        system.addExecutor,
      ),
      act('people.assign', { name: 'scout', roles: ['build'], replaces: [], ...REASON }, people.assign),
      act(
        'people.enrol',
        {
          name: 'eve',
          principal: 'human' as const,
          public_key: freshSigner('eve').public_key,
          roles: ['ops'],
        },
        people.enrol,
      ),
      act(
        'people.enrol',
        { name: 'mute', principal: 'agent' as const, public_key: null, roles: [] },
        people.enrol,
      ),
      act('people.revoke', { name: 'scout', ...REASON }, people.revoke),
      act('agents.addToken', { name: 'scout', digest: 'a'.repeat(64), ...REASON }, agents.addToken),
      act('agents.revokeToken', { name: 'scout', token_id, ...REASON }, agents.revokeToken),
      act(
        'agents.delegate',
        {
          ...{ delegate: 'scout', delegate_key: scout.public_key, actions: ['tool:say'], approves: true },
          ...{ ttl_s: 60, ...REASON },
        },
        agents.delegate,
      ),
      act('agents.revokeDelegation', { delegation_id, ...REASON }, agents.revokeDelegation),
    ];
    for (const [verb, known, run] of rows) await expectSame(keyturn, ada, verb, known, run);
    const { capability_id } = await intents.turn({
      intent_id: other.intent_id,
      hash: other.hash,
      signer: ada,
    });
    await expectSame(
      keyturn,
      ada,
      ...act('runs.revokeCapability', { capability_id, ...REASON }, runs.revokeCapability),
    );
    const public_key = (await system.get()).executors[0]!.public_key;
    await expectSame(
      keyturn,
      ada,
      ...act('system.revokeExecutor', { public_key, ...REASON }, system.revokeExecutor),
    );
    await intents.approve({ intent_id, hash, signer: ada });
    const { audience } = await intents.offer({ intent_id, hash, by: 'ada' });
    const screen = { ...shown, action, audience };
    const granting = (request: object = {}) =>
      act('intents.grant', { intent_id, hash, shown, ...request } as never, intents.grant, screen);
    await expectSame(keyturn, ada, ...granting());
    await expectSame(keyturn, ada, ...granting({ ttl_s: 60 }));
    const [, , act_of_600] = granting({ ttl_s: 600 });
    const [, asked_60] = granting({ ttl_s: 60 });
    expect(await told(keyturn, ada, 'intents.grant', asked_60, act_of_600)).toEqual({
      differs: 'expires_at',
    });
    const [, elsewhere] = granting({ audience: 'keyturn/x/other' });
    expect(await told(keyturn, ada, 'intents.grant', { ...elsewhere, audience: 'b' }, act_of_600)).toEqual({
      differs: 'audience',
    });
    const fresh = await proposeSay({ keyturn, ada } as never, { issuer: 'ada' }, ada);
    const seen = await intents.get({ intent_id: fresh.intent_id });
    const approving = { intent_id: fresh.intent_id, hash: fresh.hash, effect_digest: seen.effect_digest };
    const approve = (ttl_s: number) => (signer: Signer) =>
      intents.approve({ intent_id: fresh.intent_id, hash: fresh.hash, ttl_s, signer });
    const asked = { ...approving, ttl_s: 60 };
    expect(await told(keyturn, ada, 'intents.approve', asked, approve(60))).toHaveProperty('text');
    expect(await told(keyturn, ada, 'intents.approve', asked, approve(61))).toEqual({
      differs: 'expires_at',
    });
  });

  it('is what the project draws up for a waiver, where there is a breach', async () => {
    const { keyturn, ada } = place();
    const { conversations, people } = keyturn;
    await people.assign({ name: 'ada', roles: ['builder'], ...REASON, signer: ada });
    await conversations.ask({ user_id: 'ada', utterance: 'break the old engine' });
    const until = new Date(Date.now() + 86_400_000).toISOString();
    const asked = { figures: ['execution_error_rate' as const], until, ...REASON };
    await expectSame(keyturn, ada, 'conversations.waive', asked, (signer) =>
      conversations.waive({ ...asked, signer }),
    );
  });

  it('is not told where the service alone would know it', () => {
    expect(expectedAct('intents.approve', { intent_id: 'x', hash: 'y' })).toBeNull();
    const order = { intent_id: 'x', hash: 'y', attempt: 1, effect_digest: 'z', action: 'tool:say' };
    expect(expectedAct('intents.grant', { ...order, audience: 'a' })).not.toBeNull();
    expect(expectedAct('intents.grant', { ...order, audience: 'a', scope: {} })).toBeNull();
    // Who is to run it, and what it is for, was on the screen.
    expect(expectedAct('intents.grant', order)).toBeNull();
    expect(expectedAct('intents.turn', { ...order, action: undefined })).toBeNull();
    // A digest is told only of what was shown: texts of policies, and definitions of tools.
    expect(expectedAct('policies.activate', REASON)).toBeNull();
    const delegation = { delegate: 'x', delegate_key: 'y', actions: ['tool:say'], approves: true, ttl_s: 60 };
    expect(expectedAct('agents.delegate', { ...delegation, ...REASON, grant: { uses: 1 } })).toBeNull();
    expect(expectedActs('ledger.erase', { digest: 'x', ...REASON })).toBeNull();
    expect(expectedActs('intents.edit', { intent_id: 'x' })).toBeNull();
    expect(expectedAct('people.enrol', { name: 'x', principal: 'human' })).toBeNull();
    expect(expectedAct('system.gc', REASON)).toBeNull();
    expect(expectedAct('toString', REASON)).toBeNull();
  });
});

/** What becomes of the act that the project draws up, where another was asked for. */
async function told(
  keyturn: Keyturn,
  { name, public_key: key }: Signer,
  verb: string,
  known: ActKnown,
  act: (signer: Signer) => Promise<unknown>,
) {
  const { statements, at } = await keyturn.draft({ name, public_key: key }, act);
  const signing = { origin: keyturn.host.origin, by: name, key, at };
  return rebuiltAct(statements[0]!, expectedAct(verb, known)!, signing);
}

async function expectSame(
  keyturn: Keyturn,
  { name, public_key: key }: Signer,
  verb: string,
  known: ActKnown,
  act: (signer: Signer) => Promise<unknown>,
): Promise<void> {
  const { statements, at } = await keyturn.draft({ name, public_key: key }, act);
  const signing = { origin: keyturn.host.origin, by: name, key, at };
  const [theirs] = statements;
  const expected = expectedAct(verb, known)!;
  expect(rebuiltAct(theirs!, expected, signing), verb).toMatchObject({ text: theirs });
  for (const member of Object.keys(expected.fixed)) {
    const changed = { ...expected, fixed: { ...expected.fixed, [member]: 'another' } };
    expect(rebuiltAct(theirs!, changed, signing), `${verb} ${member}`).toEqual({ differs: member });
  }
  if (expected.subject !== null)
    expect(rebuiltAct(theirs!, { ...expected, subject: 'another' }, signing)).toEqual({ differs: 'subject' });
  expect(rebuiltAct(theirs!, expected, { ...signing, origin: 'keyturn/x/y' })).toEqual({ differs: 'origin' });
  const kept = theirs!.replace(/"deadline":"[^"]+"/, '"deadline":"2099-01-01T00:00:00.000Z"');
  expect(rebuiltAct(kept, expected, signing)).toEqual({ differs: 'deadline' });
}
