import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, it } from 'vitest';
import type { Intent, Project } from '../support/project.ts';
import { create, enrolled, planOf, planProjects, proposed } from './plan-story.ts';

const REGISTRY = `version: 1
tools:
  - name: pay
    summary: Pays.
    executable: ./pay.sh
    args: ["{to}", "{amount}", { when: note, args: ["{note}"] }]
    parameters:
      to: { type: string, max_length: 100 }
      amount: { type: integer, default: 10, required: false }
      note: { type: string, required: false }
    sandbox: none
    undo: none
`;

const projects = planProjects();

/** ada founded it, and two agents propose. */
async function shop(): Promise<Project> {
  const p = await projects({}, REGISTRY);
  program(p, 'exit 0');
  for (const name of ['bot', 'scout'])
    await p.keyturn.people.enrol({ name, principal: 'agent', public_key: null, signer: p.ada });
  return p;
}

function program({ root }: Project, body: string): void {
  writeFileSync(join(root, 'pay.sh'), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
}

async function paying({ keyturn }: Project, args: object, more: object = {}) {
  const effect = { kind: 'tool' as const, tool: 'pay', arguments: { ...args } };
  return keyturn.intents.propose({ issuer: 'bot', declared_goal: 'Pay.', effect, ...more });
}

const BOT = { issuer: 'bot' };

const approve = ({ keyturn, ada }: Project, { intent_id, hash }: Intent, signer = ada) =>
  keyturn.intents.approve({ intent_id, hash, signer });

async function ran({ keyturn, ada }: Project, { intent_id, hash }: Intent): Promise<void> {
  await keyturn.intents.grant({ intent_id, hash, signer: ada });
  const { seen } = await keyturn.runs.look({ intent_id, hash });
  await keyturn.runs.run({ intent_id, hash, seen });
}

const earlier = ({ keyturn }: Project, { intent_id }: Intent, name = 'ada') =>
  keyturn.intents.earlier({ intent_id, name });

describe('the last one that you approved', () => {
  it('is none before the first, and none for a human who approved nothing', async () => {
    const p = await shop();
    const first = await paying(p, { to: 'Ann' });
    expect(await earlier(p, first)).toBeNull();
    await approve(p, first);
    await enrolled(p, 'eve');
    expect(await earlier(p, first)).toBeNull();
    expect(await earlier(p, await paying(p, { to: 'Ann' }), 'eve')).toBeNull();
  });

  it('is the same where only the words differ', async () => {
    const p = await shop();
    const first = await paying(p, { to: 'Ann' });
    await approve(p, first);
    const next = await paying(
      p,
      { to: 'Ann', amount: 10 },
      { declared_goal: 'Trust me, it is another one.' },
    );
    expect(await earlier(p, next)).toMatchObject({ intent_id: first.intent_id, differences: [] });
  });

  it('is told argument by argument, defaults too, and with who asks', async () => {
    const p = await shop();
    await approve(p, await paying(p, { to: 'Ann', note: 'rent' }));
    const next = await paying(p, { to: 'Bob', amount: 250 }, { issuer: 'scout' });
    expect((await earlier(p, next))?.differences).toEqual([
      { what: 'asked by', before: '"bot"', now: '"scout"' },
      { what: 'amount', before: '10', now: '250' },
      { what: 'note', before: '"rent"', now: null },
      { what: 'to', before: '"Ann"', now: '"Bob"' },
    ]);
  });

  it('says when the program or its entry in the registry is another one', async () => {
    const p = await shop();
    await approve(p, await paying(p, { to: 'Ann' }));
    program(p, 'exit 1');
    expect((await earlier(p, await paying(p, { to: 'Ann' })))?.differences).toEqual([
      { what: 'the program itself', before: null, now: null },
    ]);
  });

  it('says when alternates are others', async () => {
    const p = await shop();
    await approve(p, await paying(p, { to: 'Ann' }));
    const alternates = [{ kind: 'tool' as const, tool: 'pay', arguments: { to: 'Bob' } }];
    const next = await paying(p, { to: 'Ann' }, { alternates });
    expect((await earlier(p, next))?.differences?.map(({ what }) => what)).toEqual(['alternates']);
  });

  it('is the one approved last, not the one proposed last', async () => {
    const p = await shop();
    const [ann, bob] = [await paying(p, { to: 'Ann' }), await paying(p, { to: 'Bob' })];
    await approve(p, bob);
    await approve(p, ann);
    expect(await earlier(p, await paying(p, { to: 'Cid' }))).toMatchObject({ intent_id: ann.intent_id });
  });

  it('is compared path by path for a plan of the same id', async () => {
    const p = await shop();
    await approve(p, await proposed(p, planOf([create('A1', 'a.txt'), create('A2', 'b.txt')]), BOT));
    const next = await proposed(p, planOf([create('A1', 'a.txt', 'other\n'), create('A2', 'c.txt')]), BOT);
    expect((await earlier(p, next))?.differences).toEqual([
      { what: 'a.txt', before: 'changed', now: 'changed' },
      { what: 'b.txt', before: 'changed', now: 'left alone' },
      { what: 'c.txt', before: 'left alone', now: 'changed' },
    ]);
    const again = await proposed(p, planOf([create('A1', 'a.txt'), create('A2', 'b.txt')]), BOT);
    expect((await earlier(p, again))?.differences).toEqual([]);
  });

  it('is not compared once it was erased', async () => {
    const p = await shop();
    const first = await paying(p, { to: 'Ann' });
    await approve(p, first);
    await ran(p, first);
    expect((await earlier(p, await paying(p, { to: 'Ann' })))?.differences).toEqual([]);
    await p.keyturn.ledger.erase({ digest: first.hash, reason: 'It held a name.', signer: p.ada });
    expect(await earlier(p, await paying(p, { to: 'Ann' }))).toMatchObject({
      intent_id: first.intent_id,
      differences: null,
    });
  });

  it('comes from signed entries: a row that claims an approval is passed over', async () => {
    const p = await shop();
    const [real, forged] = [await paying(p, { to: 'Ann' }), await paying(p, { to: 'Mallory' })];
    await approve(p, real);
    const db = new DatabaseSync(join(p.root, '.keyturn', 'store.db'));
    const rows = db.prepare("SELECT id, key, state FROM projection WHERE name = 'intent'").all() as {
      id: number;
      key: string;
      state: string;
    }[];
    const of = (id: string) => rows.find(({ key }) => key === id)!;
    const approvals = JSON.parse(of(real.intent_id).state).approvals.map((one: object) => ({
      ...one,
      signed_at: '2999-01-01T00:00:00.000Z',
    }));
    const state = JSON.stringify({ ...JSON.parse(of(forged.intent_id).state), approvals });
    db.prepare('UPDATE projection SET state = ? WHERE id = ?').run(state, of(forged.intent_id).id);
    db.close();
    expect(await earlier(p, await paying(p, { to: 'Mallory' }))).toMatchObject({
      intent_id: real.intent_id,
    });
  });
});

async function twin({ keyturn }: Project, { intent_id }: { readonly intent_id: string }) {
  return (await keyturn.intents.twin({ intent_id })).intent_id;
}

describe('the same request while one is pending', () => {
  it('is pointed out, whatever the goal says', async () => {
    const p = await shop();
    const first = await paying(p, { to: 'Ann' });
    expect(await twin(p, first)).toBeNull();
    const second = await paying(p, { to: 'Ann' }, { declared_goal: 'Pay her.' });
    expect(await twin(p, second)).toBe(first.intent_id);
    expect(second.intent_id).not.toBe(first.intent_id);
  });

  it('is not one with other arguments, of another proposer, or after it is over', async () => {
    const p = await shop();
    const first = await paying(p, { to: 'Ann' });
    expect(await twin(p, await paying(p, { to: 'Bob' }))).toBeNull();
    expect(await twin(p, await paying(p, { to: 'Ann' }, { issuer: 'scout' }))).toBeNull();
    const { intent_id, receipt } = first;
    await p.keyturn.intents.withdraw({ intent_id, receipt, reason: 'No need.' });
    expect(await twin(p, await paying(p, { to: 'Ann' }))).toBeNull();
  });

  it('is still pointed out once it was approved, until it ran', async () => {
    const p = await shop();
    const { intent_id, hash } = await paying(p, { to: 'Ann' });
    await approve(p, { intent_id, hash });
    const second = await paying(p, { to: 'Ann' });
    expect(await twin(p, second)).toBe(intent_id);
    await p.keyturn.intents.withdraw({
      intent_id: second.intent_id,
      receipt: second.receipt,
      reason: 'Twice.',
    });
    await ran(p, { intent_id, hash });
    expect(await twin(p, await paying(p, { to: 'Ann' }))).toBeNull();
  });

  it('under one idempotency key is the same intent, and no twin', async () => {
    const p = await shop();
    const key = { idempotency_key: 'a-key-of-one-payment' };
    const first = await paying(p, { to: 'Ann' }, key);
    expect(await paying(p, { to: 'Ann' }, key)).toMatchObject({
      intent_id: first.intent_id,
      repeated: true,
    });
    expect(await twin(p, first)).toBeNull();
  });
});
