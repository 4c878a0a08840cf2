import { describe, expect, it } from 'vitest';
import { proofOf } from '../support/ledger.ts';
import type { Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { runSeen } from '../support/seen.ts';
import { agent, authority, granted, human, kinds, lastBody, proposeSay, yes } from './authority.ts';

const DAY_S = 86_400;

async function delegated(p: Project, delegate: string, over: object = {}): Promise<string> {
  const given = { delegate, actions: ['tool:say'], ttl_s: DAY_S, reason: 'small things', signer: p.ada };
  return (await p.keyturn.agents.delegate({ ...given, ...over })).delegation_id;
}

describe('a delegation that a human signed', () => {
  it('lets an agent submit what it covers; a human still approves', async () => {
    const p = await authority();
    const scout = await agent(p, 'scout');
    const delegation = await delegated(p, 'scout');
    const intent = await proposeSay(p, { issuer: 'scout' });
    await p.keyturn.intents.submit({ ...intent, signer: scout, delegation });
    await expectRefusal('APPROVAL_MISSING', () =>
      p.keyturn.intents.grant({ ...intent, signer: scout, delegation }),
    );
    await p.keyturn.intents.approve({ ...intent, signer: p.ada });
    await p.keyturn.intents.grant({ ...intent, signer: scout, delegation });
    expect((await runSeen(p.keyturn, { ...intent, confirm: yes })).result).toBe('success');
    expect((await p.keyturn.ledger.verify({ deep: true })).size).toBeGreaterThan(8);
    expect((await p.keyturn.ledger.rebuild({ write: false })).differences).toEqual([]);
  });

  it('that says so stands for the approval of the human who gave it', async () => {
    const p = await authority();
    const scout = await agent(p, 'scout');
    const delegation = await delegated(p, 'scout', { approves: true });
    const intent = await proposeSay(p, { issuer: 'scout' });
    await p.keyturn.intents.submit({ ...intent, signer: scout, delegation });
    expect((await p.keyturn.intents.get({ intent_id: intent.intent_id })).approvals).toMatchObject([
      { by: 'ada', assurance: 'delegation', delegation },
    ]);
    await p.keyturn.intents.grant({ ...intent, signer: scout, delegation });
    const report = await runSeen(p.keyturn, { ...intent, confirm: yes });
    expect(report.result).toBe('success');
    await p.keyturn.runs.replay({ execution_id: report.execution_id });
    const proof = await proofOf(p.keyturn, intent.intent_id);
    const { key: fingerprint } = await p.keyturn.ledger.head();
    const { auditProof } = await import('../../src/keyturn.ts');
    expect(auditProof(proof, { key: fingerprint }).entries.length).toBeGreaterThan(5);
  });

  it('covers no other action and nobody else', async () => {
    const p = await authority();
    const scout = await agent(p, 'scout');
    const thief = await agent(p, 'thief');
    const delegation = await delegated(p, 'scout', { actions: ['tool:wait', 'tool:w*'] });
    const intent = await proposeSay(p, { issuer: 'scout' });
    await expectRefusal('DELEGATION_OUT_OF_SCOPE', () =>
      p.keyturn.intents.submit({ ...intent, signer: scout, delegation }),
    );
    await expectRefusal('DELEGATION_OUT_OF_SCOPE', () =>
      p.keyturn.intents.submit({ ...intent, signer: thief, delegation }),
    );
    expect(await lastBody(p, intent.intent_id)).toMatchObject({ reason_code: 'DELEGATION_OUT_OF_SCOPE' });
    await expectRefusal('DELEGATION_UNKNOWN', () =>
      p.keyturn.intents.submit({ ...intent, signer: scout, delegation: intent.intent_id }),
    );
  });

  it('ends: by its time, by a revocation, and with the key of its human', async () => {
    let now = new Date('2026-03-02T10:00:00.000Z');
    const p = await authority(() => now);
    const bob = await human(p, 'bob');
    const scout = await agent(p, 'scout');
    const short = await delegated(p, 'scout', { ttl_s: 60 });
    const revoked = await delegated(p, 'scout');
    const orphan = await delegated(p, 'scout', { signer: bob, approves: true });
    const early = await proposeSay(p, {}, scout);
    await p.keyturn.intents.submit({ ...early, signer: scout, delegation: orphan });
    await p.keyturn.intents.grant({ ...early, signer: scout, delegation: orphan });
    now = new Date('2026-03-02T10:02:00.000Z');
    await p.keyturn.agents.revokeDelegation({ delegation_id: revoked, reason: 'enough', signer: p.ada });
    await p.keyturn.people.revoke({ name: 'bob', reason: 'left', signer: p.ada });
    const intent = await proposeSay(p, { issuer: 'scout' });
    const submit = (delegation: string) => () =>
      p.keyturn.intents.submit({ ...intent, signer: scout, delegation });
    await expectRefusal('DELEGATION_EXPIRED', submit(short));
    await expectRefusal('DELEGATION_REVOKED', submit(revoked));
    await expectRefusal('DELEGATION_REVOKED', submit(orphan));
    await expectRefusal('APPROVER_REVOKED', () => runSeen(p.keyturn, { ...early, confirm: yes }));
    expect(await kinds(p, intent.intent_id)).toEqual(['intent.proposed', ...Array(3).fill('intent.refused')]);
  });

  it('can be passed on, never wider, never longer, never back', async () => {
    const p = await authority();
    const scout = await agent(p, 'scout');
    const helper = await agent(p, 'helper');
    const given = await delegated(p, 'scout', { actions: ['tool:s*', 'plan'] });
    const on = (over: object) =>
      delegated(p, 'helper', { signer: scout, delegation: given, ttl_s: 3600, ...over });
    await expectRefusal('DELEGATION_WIDENED', () => on({ actions: ['tool:*'] }));
    await expectRefusal('DELEGATION_WIDENED', () => on({ actions: ['tool:say', 'tool:wait'] }));
    await expectRefusal('DELEGATION_WIDENED', () => on({ approves: true }));
    await expectRefusal('DELEGATION_WIDENED', () => on({ ttl_s: 2 * DAY_S }));
    await expectRefusal('DELEGATION_CYCLE', () => on({ delegate: 'scout' }));
    await expectRefusal('DELEGATION_CYCLE', () => on({ delegate: 'ada' }));
    const passed = await on({});
    await expectRefusal('DELEGATION_CYCLE', () =>
      delegated(p, 'scout', { signer: helper, delegation: passed, ttl_s: 60 }),
    );
    const intent = await proposeSay(p, { issuer: 'helper' });
    await p.keyturn.intents.submit({ ...intent, signer: helper, delegation: passed });
    await p.keyturn.agents.revokeDelegation({ delegation_id: given, reason: 'enough', signer: p.ada });
    const next = await proposeSay(p, { issuer: 'helper' });
    await expectRefusal('DELEGATION_REVOKED', () =>
      p.keyturn.intents.submit({ ...next, signer: helper, delegation: passed }),
    );
  });

  it('cannot be given by an agent, to somebody without a key, or for ever', async () => {
    const p = await authority();
    const scout = await agent(p, 'scout');
    await agent(p, 'helper');
    await p.keyturn.people.enrol({ name: 'mute', principal: 'agent', public_key: null, signer: p.ada });
    await expectRefusal('NOT_HUMAN', () => delegated(p, 'helper', { signer: scout }));
    await expectRefusal('CREDENTIAL_UNKNOWN', () => delegated(p, 'mute'));
    await expectRefusal('TIME_MALFORMED', () => delegated(p, 'helper', { ttl_s: 400 * DAY_S }));
    await expectRefusal('DELEGATION_EXPIRED', () => delegated(p, 'helper', { ttl_s: -1 }));
  });
});

describe('who is who', () => {
  it('one key speaks for one name: a human cannot approve their own proposal through a second one', async () => {
    const p = await authority();
    await expectRefusal('KEY_ENROLLED_TWICE', () =>
      p.keyturn.people.enrol({
        name: 'ada2',
        principal: 'human',
        public_key: p.ada.public_key,
        signer: p.ada,
      }),
    );
    await expectRefusal('KEY_ENROLLED_TWICE', () =>
      p.keyturn.people.enrol({
        name: 'robot',
        principal: 'agent',
        public_key: p.ada.public_key,
        signer: p.ada,
      }),
    );
    await human(p, 'bob');
    const intent = await proposeSay(p);
    await expectRefusal('SELF_APPROVAL', () => p.keyturn.intents.approve({ ...intent, signer: p.ada }));
  });

  it('a proposal can be signed by its proposer, and only by them', async () => {
    const p = await authority();
    const scout = await agent(p, 'scout');
    const draft = {
      declared_goal: 'x',
      issuer: 'scout',
      effect: { kind: 'tool' as const, tool: 'say', arguments: { word: 'a' } },
    };
    const { intent_id } = await p.keyturn.intents.propose({ ...draft, signer: scout });
    expect((await p.keyturn.intents.get({ intent_id })).proposer_verified).toBe(true);
    const { intent_id: claimed } = await p.keyturn.intents.propose(draft);
    expect((await p.keyturn.intents.get({ intent_id: claimed })).proposer_verified).toBe(false);
    await expectRefusal('KEY_FILE_INVALID', () => p.keyturn.intents.propose({ ...draft, signer: p.ada }));
    const forged = { ...p.ada, name: 'scout', public_key: scout.public_key };
    await expectRefusal('SIGNATURE_INVALID', () => p.keyturn.intents.propose({ ...draft, signer: forged }));
    expect((await p.keyturn.ledger.verify({ deep: true })).size).toBe(8);
  });

  it('a human says who has which role, and policies see it from then on', async () => {
    const p = await authority();
    await p.keyturn.people.assign({
      name: 'ada',
      roles: ['ops', 'dev', 'ops'],
      reason: 'she does both',
      signer: p.ada,
    });
    const [ada] = (await p.keyturn.people.list()).principals;
    expect(ada?.roles).toEqual(['dev', 'ops']);
    const scout = await agent(p, 'scout');
    await expectRefusal('NOT_HUMAN', () =>
      p.keyturn.people.assign({ name: 'scout', roles: ['ops'], reason: 'x', signer: scout }),
    );
    await granted(p);
  });
});
