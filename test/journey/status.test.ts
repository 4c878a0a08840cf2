import { describe, expect, it } from 'vitest';
import type { Result, Signer } from '../../src/keyturn.ts';
import { runSeen } from '../support/seen.ts';
import { agent, authority, call, granted, human, type Intent, proposeSay, yes } from './authority.ts';

const HOUR = 3_600_000;

type Status = Result<'system.status'>;
const ids = (list: readonly { readonly intent_id: string }[]) => list.map(({ intent_id }) => intent_id);
const codes = (list: Status['ungranted']) => list.map(({ intent_id, code }) => [intent_id, code]);

describe('the status of a project', () => {
  it('lists each intent that needs a human once, with what a person knows it by', async () => {
    const p = await authority();
    const { keyturn, ada } = p;
    const waiting = await proposeSay(p, { declared_goal: 'Wait.' });
    const bare = await proposeSay(p, { declared_goal: 'Order me.' });
    await keyturn.intents.approve({ ...bare, signer: ada });
    const ready = await granted(p, { declared_goal: 'Run me.' });
    const failed = await granted(p, { declared_goal: 'Fail.', ...call('fail') });
    await runSeen(keyturn, { ...failed, confirm: yes });
    const rejected = await proposeSay(p);
    await keyturn.intents.reject({ ...rejected, reason: 'No.', signer: ada });
    const status = await keyturn.system.status();
    expect(status).toMatchObject({ clock: null, frozen: [], in_doubt: [], stuck: [], approval_expired: [] });
    expect(status.waiting).toMatchObject([
      {
        ...waiting,
        goal: 'Wait.',
        tool: 'say',
        proposer: 'ada',
        proposer_verified: true,
        status_word: 'waiting',
      },
    ]);
    expect(ids(status.failed)).toEqual([failed.intent_id]);
    const { runs } = await keyturn.intents.get({ intent_id: failed.intent_id });
    expect(status.failed[0]!.since).toBe(runs[0]!.finished_at);
    expect(codes(status.ungranted)).toEqual([[bare.intent_id, 'ORDER_MISSING']]);
    expect(ids(status.approved)).toEqual([ready.intent_id]);
    expect(status.policies.words).toBeNull();
  });

  it('tells as many of each list as were asked for, and hides none behind another', async () => {
    const p = await authority();
    const ready = await granted(p, { declared_goal: 'Run me.' });
    for (let i = 0; i < 3; i++) await proposeSay(p);
    const bare = [await proposeSay(p), await proposeSay(p)];
    for (const one of bare) await p.keyturn.intents.approve({ ...one, signer: p.ada });
    const status = await p.keyturn.system.status({ limit: 1 });
    expect(status.waiting).toHaveLength(1);
    expect(ids(status.ungranted)).toEqual([bare[1]!.intent_id]);
    expect(ids(status.approved)).toEqual([ready.intent_id]);
  });

  it('agrees with the check of the gate about what may run', async () => {
    const p = await authority();
    const bob = await human(p, 'bob');
    const scout = await agent(p, 'scout');
    const by = async (signer: Signer): Promise<Intent> => {
      const intent = await proposeSay(p, {}, scout);
      await p.keyturn.intents.approve({ ...intent, signer });
      await p.keyturn.intents.grant({ ...intent, signer: p.ada, is_issued: true });
      return intent;
    };
    const [kept, lost] = [await by(p.ada), await by(bob)];
    expect(ids((await p.keyturn.system.status()).approved)).toEqual([lost.intent_id, kept.intent_id]);
    await p.keyturn.people.revoke({ name: 'bob', reason: 'gone', signer: p.ada });
    const status = await p.keyturn.system.status();
    expect(codes(status.approval_expired)).toEqual([[lost.intent_id, 'APPROVER_REVOKED']]);
    expect(ids(status.approved)).toEqual([kept.intent_id]);
    await p.keyturn.system.freeze({ scope: 'system', reason: 'a test', signer: p.ada });
    const frozen = await p.keyturn.system.status();
    expect(frozen).toMatchObject({ frozen: [{ scope: 'system', by: 'ada' }], approved: [] });
    expect(codes(frozen.ungranted)).toEqual([[kept.intent_id, 'FROZEN']]);
    for (const { intent_id, hash, code } of [...frozen.ungranted, ...frozen.approval_expired])
      expect(await p.keyturn.intents.check({ intent_id, hash })).toMatchObject({ eligible: false, code });
  });

  it('counts what expires, and passes over what has', async () => {
    let now = new Date();
    const p = await authority(() => now);
    const short = await proposeSay(p);
    await p.keyturn.intents.approve({ ...short, ttl_s: 600, signer: p.ada });
    const expiry = new Date(now.getTime() + 600_000).toISOString();
    const over = await proposeSay(p, { expiry });
    now = new Date(now.getTime() + HOUR);
    const status = await p.keyturn.system.status();
    expect(codes(status.approval_expired)).toEqual([[short.intent_id, 'APPROVAL_EXPIRED']]);
    expect(ids(status.waiting)).not.toContain(over.intent_id);
    expect(status.ungranted).toEqual([]);
  });

  it('says what is wrong with the clock', async () => {
    let now = new Date();
    const p = await authority(() => now);
    await proposeSay(p);
    now = new Date(now.getTime() - HOUR);
    expect((await p.keyturn.system.status()).clock).toMatchObject({ code: 'CLOCK_BEHIND' });
  });
});
