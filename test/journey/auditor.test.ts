import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Event } from '../../src/event/event.ts';
import type { Signer } from '../../src/identity/act.ts';
import { keyCredential } from '../../src/identity/credential.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { act, begun, keyOf } from '../store/facts.ts';
import type { Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { agent, authority, human, lastBody, proposeSay } from './authority.ts';

const DAY_S = 86_400;

const assign = ({ keyturn, ada }: Project, name: string, roles: string[], signer: Signer = ada) =>
  keyturn.people.assign({ name, roles, reason: 'x', signer });

async function requireSound({ keyturn }: Project): Promise<void> {
  await keyturn.ledger.verify({ deep: true });
  expect((await keyturn.ledger.rebuild({ write: false })).differences).toEqual([]);
}

/** Writes past the library, as another program that has the store open could. */
async function commitDirectly({ keyturn }: Project, event: Event): Promise<void> {
  const clock = () => new Date();
  const store = await openSqliteStore({
    path: keyturn.layout.store,
    tenant: 'default',
    clock,
    mode: 'write',
  });
  await store.commit({ events: [event] }).finally(() => store.close());
}

describe('an auditor', () => {
  it('acts on nothing', async () => {
    const p = await authority();
    const eve = await human(p, 'eve', ['auditor']);
    await agent(p, 'scout');
    const intent = await proposeSay(p, { issuer: 'scout' });
    const { intent_id } = intent;
    const by = { reason: 'x', signer: eve };
    const { keyturn } = p;
    const acts: readonly (() => Promise<unknown>)[] = [
      () => keyturn.intents.approve({ ...intent, signer: eve }),
      () => keyturn.intents.reject({ ...intent, ...by }),
      () => keyturn.intents.turn({ ...intent, signer: eve }),
      () => keyturn.system.freeze({ scope: 'system', ...by }),
      () => keyturn.policies.activate(by),
      () => keyturn.runs.breakGlass({ ...intent, ...by }),
      () => keyturn.runs.retry({ intent_id, ...by }),
      () => keyturn.people.revoke({ name: 'scout', ...by }),
      () => keyturn.people.enrol({ name: 'x', principal: 'agent', public_key: null, signer: eve }),
      () => keyturn.agents.delegate({ delegate: 'scout', actions: ['tool:say'], ttl_s: DAY_S, ...by }),
      () => keyturn.system.gc({ runs: [], objects: [], ...by }),
      () => keyturn.intents.edit({ intent_id, arguments: { word: 'bye' }, signer: eve }),
      () => keyturn.runs.stop({ execution_id: randomUUID(), ...by }),
      () => keyturn.ledger.archive({ older_than_s: 0, out: join(scratch(), 'old.jsonl'), ...by }),
      () => keyturn.agents.addToken({ name: 'scout', digest: 'ab'.repeat(32), ...by }),
      () => proposeSay(p, { issuer: 'eve' }),
      () => proposeSay(p, {}, eve),
      // Only a commit refuses this one: it is no way back.
      () => assign(p, 'eve', [], eve),
    ];
    for (const act of acts) await expectRefusal('AUDITOR_ACTS', act);
    expect((await keyturn.intents.get({ intent_id })).status).toBe('proposed');
    await requireSound(p);
  });

  it('has nothing proposed in their name, also past the library', async () => {
    const p = await authority();
    await human(p, 'eve', ['auditor']);
    await agent(p, 'scout');
    const { intent_id } = await proposeSay(p, { issuer: 'scout' });
    const body = await lastBody(p, intent_id);
    const again = (proposer: string, proposer_kind: string) =>
      commitDirectly(p, {
        kind: 'intent.proposed',
        subject: randomUUID(),
        body: { ...body, proposer, proposer_kind },
      } as Event);
    await expectRefusal('AUDITOR_ACTS', () => again('eve', 'human'));
    await again('scout', 'agent');
  });

  it('acts again once another human assigned other roles', async () => {
    const p = await authority();
    const eve = await human(p, 'eve', ['auditor', 'lead']);
    const intent = await proposeSay(p);
    await expectRefusal('AUDITOR_ACTS', () => p.keyturn.intents.approve({ ...intent, signer: eve }));
    await assign(p, 'eve', ['lead']);
    expect((await p.keyturn.intents.approve({ ...intent, signer: eve })).by).toBe('eve');
    await requireSound(p);
  });

  it('is a human: an agent cannot have the role', async () => {
    const p = await authority();
    await agent(p, 'scout');
    await expectRefusal('NOT_HUMAN', () => assign(p, 'scout', ['auditor']));
    const bot = { name: 'bot', principal: 'agent', public_key: null, roles: ['auditor'] } as const;
    await expectRefusal('NOT_HUMAN', () => p.keyturn.people.enrol({ ...bot, signer: p.ada }));
  });
});

describe('the last human who can act', () => {
  it('cannot become an auditor, and an auditor is no other human', async () => {
    const p = await authority();
    await expectRefusal('LAST_HUMAN', () => assign(p, 'ada', ['auditor']));
    await human(p, 'eve', ['auditor']);
    await expectRefusal('LAST_HUMAN', () => assign(p, 'ada', ['auditor']));
    await expectRefusal('LAST_HUMAN', () =>
      p.keyturn.people.revoke({ name: 'ada', reason: 'x', signer: p.ada }),
    );
    await human(p, 'ben');
    await assign(p, 'ada', ['auditor']);
    await requireSound(p);
  });

  it('approves what they proposed, whatever auditors there are', async () => {
    const p = await authority();
    await human(p, 'eve', ['auditor']);
    const intent = await proposeSay(p);
    expect((await p.keyturn.intents.approve({ ...intent, signer: p.ada })).by).toBe('ada');
  });

  it('can take the last credential of an auditor', async () => {
    const p = await authority();
    const { public_key } = await human(p, 'eve', ['auditor']);
    await p.keyturn.people.revokeCredential({ name: 'eve', public_key, reason: 'x', signer: p.ada });
    await requireSound(p);
  });

  it('is not founded as an auditor', async () => {
    const path = join(scratch(), 'store.db');
    const store = await openSqliteStore({ path, tenant: 'default', clock: () => new Date(), mode: 'create' });
    await store.commit({ events: [begun()] });
    const credential = keyCredential(keyOf('ada'));
    const first = (roles: string[]) =>
      act('key.enrolled', 'ada', { principal: 'human', credential, own: null, roles }, 'ada');
    await expectRefusal('LAST_HUMAN', () => store.commit({ events: [first(['auditor'])] }));
    await store.commit({ events: [first(['lead'])] });
    await store.close();
  });
});

describe('whoever becomes an auditor', () => {
  it('no longer counts as one who approved', async () => {
    const p = await authority();
    const ben = await human(p, 'ben');
    const intent = await proposeSay(p);
    await p.keyturn.intents.approve({ ...intent, signer: ben });
    await assign(p, 'ben', ['auditor']);
    await expectRefusal('APPROVER_REVOKED', () => p.keyturn.intents.grant({ ...intent, signer: p.ada }));
    await requireSound(p);
  });

  it('no longer stands behind what they ordered or delegated', async () => {
    const p = await authority();
    const ben = await human(p, 'ben');
    const scout = await agent(p, 'scout');
    const given = { delegate: 'scout', actions: ['tool:say'], ttl_s: DAY_S, reason: 'x', signer: ben };
    const { delegation_id: delegation } = await p.keyturn.agents.delegate(given);
    const ordered = await proposeSay(p);
    await p.keyturn.intents.turn({ ...ordered, signer: ben });
    const intent = await proposeSay(p, { issuer: 'scout' });
    await assign(p, 'ben', ['auditor']);
    await expectRefusal('DELEGATION_REVOKED', () =>
      p.keyturn.intents.submit({ ...intent, signer: scout, delegation }),
    );
    expect((await p.keyturn.intents.check(ordered)).eligible).toBe(false);
  });

  it('takes back nothing that they proposed, also with its receipt', async () => {
    const p = await authority();
    await human(p, 'ben');
    const { intent_id, receipt } = await p.keyturn.intents.propose({
      declared_goal: 'Say hello.',
      effect: { kind: 'tool', tool: 'say', arguments: { word: 'hello' } },
      issuer: 'ben',
    });
    await assign(p, 'ben', ['auditor']);
    await expectRefusal('AUDITOR_ACTS', () =>
      p.keyturn.intents.withdraw({ intent_id, reason: 'x', receipt }),
    );
    expect((await p.keyturn.intents.get({ intent_id })).status).toBe('proposed');
    await assign(p, 'ben', []);
    await p.keyturn.intents.withdraw({ intent_id, reason: 'x', receipt });
    await requireSound(p);
  });

  it('cannot use what was delegated to them', async () => {
    const p = await authority();
    const ben = await human(p, 'ben');
    const given = { delegate: 'ben', actions: ['tool:say'], ttl_s: DAY_S, reason: 'x', signer: p.ada };
    const { delegation_id: delegation } = await p.keyturn.agents.delegate(given);
    await agent(p, 'scout');
    const intent = await proposeSay(p, { issuer: 'scout' });
    await assign(p, 'ben', ['auditor']);
    await expectRefusal('KEY_REVOKED', () =>
      p.keyturn.intents.submit({ ...intent, signer: ben, delegation }),
    );
  });
});

describe('a caller who is an auditor', () => {
  it('reads what everybody proposed, and is refused at every verb that writes', async () => {
    const p = await authority();
    await human(p, 'eve', ['auditor']);
    await agent(p, 'scout');
    const { intent_id } = await proposeSay(p, { issuer: 'scout' });
    const eve = p.keyturn.as({ name: 'eve' });
    expect((await eve.intents.list()).intents.map((one) => one.intent_id)).toEqual([intent_id]);
    expect((await eve.people.list()).principals).toHaveLength(3);
    const { VERBS } = await import('../../src/face/verbs.ts');
    for (const [namespace, verbs] of Object.entries(VERBS))
      for (const [name, { kind }] of Object.entries(verbs)) {
        if (kind === 'read') continue;
        const methods = eve[namespace as 'intents'] as unknown as Record<string, () => Promise<unknown>>;
        await expectRefusal('AUDITOR_ACTS', () => methods[name]!());
      }
  });
});
