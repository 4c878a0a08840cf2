import { describe, expect, it } from 'vitest';
import { sizeOf } from '../support/ledger.ts';
import { agent, authority, human, named, proposeSay } from './authority.ts';

const NOTHING = { code: null, words: null, advice: null };

describe('what would refuse the act of a human', () => {
  it('is nothing where they can turn the key, which then also approves; and less once they have approved', async () => {
    const p = await authority();
    await agent(p, 'scout');
    const intent = named(await proposeSay(p, { issuer: 'scout' }));
    const ask = (act: 'approve' | 'turn') => p.keyturn.intents.whatIf({ ...intent, by: 'ada', act });
    expect(await ask('approve')).toEqual({ ...NOTHING, approves: true });
    expect(await ask('turn')).toEqual({ ...NOTHING, approves: true });
    await p.keyturn.intents.approve({ ...intent, signer: p.ada });
    expect(await ask('turn')).toEqual({ ...NOTHING, approves: false });
  });

  it('is said with its code before any gesture, and nothing of it is recorded', async () => {
    const p = await authority();
    await human(p, 'bob');
    const own = named(await proposeSay(p));
    const size = await sizeOf(p.keyturn);
    const ask = (over: object) =>
      p.keyturn.intents.whatIf({ ...own, by: 'ada', act: 'turn', ...over } as never);
    expect(await ask({})).toMatchObject({ code: 'SELF_APPROVAL', approves: false });
    expect(await ask({ by: 'nobody' })).toMatchObject({ code: 'PRINCIPAL_UNKNOWN' });
    expect(await ask({ hash: '0'.repeat(64) })).toMatchObject({ code: 'HASH_MISMATCH' });
    expect(await sizeOf(p.keyturn)).toBe(size);
    await p.keyturn.system.freeze({ scope: 'system', reason: 'a test', signer: p.ada });
    expect(await ask({ by: 'bob' })).toMatchObject({ code: 'FROZEN', words: expect.any(String) });
    await p.keyturn.intents.reject({ ...own, reason: 'no', signer: p.ada });
    expect(await ask({ by: 'bob' })).toMatchObject({ code: 'INTENT_REJECTED' });
  });
});
