import { describe, expect, it } from 'vitest';
import { Keyturn, type Signer } from '../../src/keyturn.ts';
import { limits } from '../../src/limits.ts';
import { newestOf } from '../support/ledger.ts';
import { expectRefusal } from '../support/refusal.ts';
import { agent, authority } from './authority.ts';

describe('a token', () => {
  it('is known by its digest, until it is revoked', async () => {
    const p = await authority();
    await agent(p, 'scout');
    const { token, digest } = Keyturn.makeToken('scout');
    const asked = { name: 'scout', reason: 'a test', signer: p.ada };
    const { token_id } = await p.keyturn.agents.addToken({ ...asked, digest });
    expect(await p.keyturn.host.callerWith(token)).toBe('scout');
    for (const other of ['', 'scout', token.slice(0, -1), Keyturn.makeToken('scout').token])
      expect(await p.keyturn.host.callerWith(other)).toBeNull();
    expect(JSON.stringify(await newestOf(p.keyturn, 1000))).not.toContain(token.split('.')[1]);
    await p.keyturn.agents.revokeToken({ ...asked, token_id });
    expect(await p.keyturn.host.callerWith(token)).toBeNull();
    await expectRefusal('KEY_REVOKED', () => p.keyturn.agents.revokeToken({ ...asked, token_id }));
    await expectRefusal('KEY_ENROLLED_TWICE', () => p.keyturn.agents.addToken({ ...asked, digest }));
    await p.keyturn.ledger.verify({ deep: true });
    expect((await p.keyturn.ledger.rebuild({ write: false })).differences).toEqual([]);
  });

  it('is of an enrolled agent, which has only so many, and ends with it', async () => {
    const p = await authority();
    const scout = await agent(p, 'scout');
    const add = (name: string, signer: Signer = p.ada) => {
      const { token, digest } = Keyturn.makeToken(name);
      return p.keyturn.agents.addToken({ name, digest, reason: 'a test', signer }).then(() => token);
    };
    await expectRefusal('TOKEN_INVALID', () => add('ada'));
    await expectRefusal('PRINCIPAL_UNKNOWN', () => add('nobody'));
    await expectRefusal('NOT_HUMAN', () => add('scout', scout));
    const token = await add('scout');
    for (let i = 1; i < limits.tokens; i++) await add('scout');
    await expectRefusal('TOKEN_TOO_MANY', () => add('scout'));
    await p.keyturn.people.revoke({ name: 'scout', reason: 'left', signer: p.ada });
    expect(await p.keyturn.host.callerWith(token)).toBeNull();
  });
});
