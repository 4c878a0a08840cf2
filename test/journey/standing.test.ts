import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { intentFacts } from '../../src/agent/intent.ts';
import { excerptOfExport } from '../../src/audit/excerpt.ts';
import { ordering } from '../../src/console/order.ts';
import { approvalOf } from '../../src/console/words.ts';
import type { IntentState } from '../../src/gate/state.ts';
import type { Context } from '../../src/journey/context.ts';
import { openAsked } from '../../src/journey/effect.ts';
import { auditProof, excerptOfProof, type Principal, type Signer, storyInFile } from '../../src/keyturn.ts';
import type { Refusal } from '../../src/refusal.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { exported, proofOf } from '../support/ledger.ts';
import { type Project, writeRegistry } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { runSeen } from '../support/seen.ts';
import { AUTHORITY_TOOLS, agent, authority, human, type Intent, proposeSay, yes } from './authority.ts';
import { planOf, specOf } from './plan-story.ts';

/** Where an intent stands is one value: whatever tells of it, tells the same. */

const HOUR = 3_600_000;

const FILE = {
  ...{ action_id: 'A1', action_type: 'FILE_CREATE', target: 'Makefile' },
  operation: { type: 'create', content: 'all:\n' },
};

/** A plan that writes what runs later needs two humans: bob signs for ten minutes, and eve for longer. */
const needsTwo = () => proposedPlan(FILE);

const GREETS = `${AUTHORITY_TOOLS}pipelines:
  - { name: greet, summary: Says hello., steps: [{ tool: say, arguments: { word: hello } }] }
`;
const STEP = {
  ...{ action_id: 'A1', action_type: 'PIPELINE_RUN', target: 'greet', reversible: false },
  operation: { type: 'pipeline_run', pipeline: 'greet' },
};

/** Proposed by an agent, in a project of three humans. */
async function proposedPlan(action: object) {
  const time = { ms: Date.parse('2026-03-02T10:00:00.000Z') };
  const now = () => new Date(time.ms);
  const p = await authority(now);
  const [bob, eve] = [await human(p, 'bob'), await human(p, 'eve')];
  const scout = await agent(p, 'scout');
  writeRegistry(p.root, GREETS);
  const { intent_id, hash } = await p.keyturn.intents.propose({
    declared_goal: 'Build it.',
    effect: { kind: 'plan', ...(await specOf(p, planOf([action]))) },
    signer: scout,
  });
  const sign = (signer: Signer, ttl_s = 86_400) =>
    p.keyturn.intents.approve({ intent_id, hash, ttl_s, signer });
  return { ...p, bob, eve, now, time, sign, intent: { intent_id, hash } };
}

type Team = Awaited<ReturnType<typeof proposedPlan>>;

const WORDS = ['waiting', 'approval expired', 'approved'] as const;

/** What each reader says of the intent, in one shape. */
async function readings({ keyturn, intent, now }: Team) {
  const { intent_id } = intent;
  const { code } = { code: null, ...(await keyturn.intents.check(intent)) };
  const got = await keyturn.intents.get({ intent_id });
  const listed = (await keyturn.intents.list({})).intents[0]!;
  const status = await keyturn.system.status();
  const lists = ['waiting', 'approval_expired', 'ungranted', 'approved'] as const;
  const asked = async (filter: object) => (await keyturn.intents.list(filter)).intents.length === 1;
  const people: Record<string, unknown> = {};
  for (const name of ['ada', 'bob', 'eve']) {
    const { mine } = ordering()(new Map([[intent_id, listed]]), name, now().getTime());
    people[name] = {
      needs: await asked({ needs: name }),
      next: (await keyturn.intents.next({ needs: name })).intent_id === intent_id,
      console: mine.length === 1,
    };
  }
  return {
    code,
    words: [
      ...[got, listed, (await keyturn.intents.story({ intent_id })).intent],
      ...[await keyturn.intents.result({ intent_id }), (await keyturn.intents.review({ intent_id })).intent],
      ...lists.flatMap((list): readonly { status_word: string }[] => status[list]),
    ].map(({ status_word }) => status_word),
    filtered: await Promise.all(WORDS.map((status_word) => asked({ status_word }))),
    status: lists.filter((list) => status[list].length > 0),
    status_codes: [...status.approval_expired, ...status.ungranted].map((one) => one.code),
    approvers: got.approvers,
    missing: [got.missing, listed.missing],
    queue: (await keyturn.host.queue()).waiting,
    console: approvalOf(listed, 'ada').why,
    agent_core: await agentCore(keyturn, got, now()),
    people,
  };
}

const codeOf = (act: Promise<unknown>): Promise<string | null> =>
  act.then(
    () => null,
    (error: Refusal) => error.code,
  );

/** What each act of ada on the intent would be refused with; null for one that is done. */
async function acts({ keyturn, ada, intent }: Team) {
  const { intents } = keyturn;
  const what_if = await intents.whatIf({ ...intent, by: 'ada', act: 'turn' });
  return {
    what_if: what_if.code,
    offer: await codeOf(intents.offer({ ...intent, by: 'ada' })),
    run: await codeOf(runSeen(keyturn, { ...intent, confirm: yes })),
    grant: await codeOf(intents.grant({ ...intent, signer: ada })),
  };
}

/** Whether the agent core would go on, for a user who is none of the approvers. */
async function agentCore(
  keyturn: Team['keyturn'],
  state: Parameters<typeof intentFacts>[0],
  now: Date,
): Promise<boolean> {
  const { principals } = await keyturn.people.list();
  const known = new Map(principals.map((one) => [one.name, one as unknown as Principal]));
  const authorities = { principal: (name: string) => known.get(name) ?? null, delegation: () => null };
  return intentFacts(state, { authorities, humans: 3, user_id: 'zoe', now }).approved;
}

const LOST: Record<string, [(t: Team) => Promise<unknown>, string, { bob: boolean }]> = {
  expired: [async ({ time }) => (time.ms += HOUR), 'APPROVAL_EXPIRED', { bob: true }],
  revoked: [
    ({ keyturn, ada }) => keyturn.people.revoke({ name: 'bob', reason: 'stolen', signer: ada }),
    'APPROVER_REVOKED',
    { bob: false },
  ],
  'that of an auditor': [
    ({ keyturn, ada }) =>
      keyturn.people.assign({ name: 'bob', roles: ['auditor'], reason: 'x', signer: ada }),
    'APPROVER_REVOKED',
    { bob: false },
  ],
};

const wanted = (is: boolean) => ({ needs: is, next: is, console: is });

const BEFORE_RUN: Record<string, [(p: Project, bob: Signer, intent: Intent) => Promise<unknown>, string]> = {
  'whose human was revoked': [
    ({ keyturn }, bob) => keyturn.people.revoke({ name: 'ada', reason: 'lost', signer: bob }),
    'APPROVER_REVOKED',
  ],
  'whose intent was rejected': [
    ({ keyturn }, bob, intent) => keyturn.intents.reject({ ...intent, reason: 'no', signer: bob }),
    'INTENT_REJECTED',
  ],
};

describe('where an order stands', () => {
  it.each(Object.entries(BEFORE_RUN))(
    'is void in every list, count and file for one %s',
    async (_, [end, code]) => {
      const p = await authority();
      const { keyturn } = p;
      const bob = await human(p, 'bob');
      const intent = await proposeSay(p, {}, bob);
      await keyturn.intents.turn({ ...intent, signer: p.ada });
      const { key } = await keyturn.ledger.head();
      const gotten = async () => {
        const got = await keyturn.intents.get({ intent_id: intent.intent_id });
        const { status_word, approvers, missing, ordered_until } = got;
        return { status_word, approvers, missing, ordered_until };
      };
      const words = async () => {
        const here = await keyturn.intents.story({ intent_id: intent.intent_id });
        const proof = await proofOf(keyturn, intent.intent_id, { with_objects: true });
        const source = () => Readable.from([exportedNow]);
        const exportedNow = await exported(keyturn);
        const now = new Date();
        const files = [
          excerptOfProof(auditProof(proof, { key })),
          await excerptOfExport(source, { key, subjects: [intent.intent_id], limit: 9 }),
        ];
        for (const file of files) {
          const told = await storyInFile({ ...file, now });
          const { reviewers: _here, ...intentHere } = here.intent;
          expect(here.intent).toMatchObject(await gotten());
          const { reviewers: _file, ...intentThere } = told.intent;
          expect(intentThere).toEqual(intentHere);
          expect(told.capability_words).toEqual(here.capability_words);
        }
        const { capabilities } = await keyturn.runs.capabilities();
        const { ordered, unserved } = await keyturn.host.queue();
        const [{ status_word }] = here.capability_words as never as [{ status_word: string }];
        expect(capabilities.map((one) => one.status_word)).toEqual([status_word]);
        const found = await keyturn.runs.capabilities({ status_word: status_word as never });
        expect(found.capabilities).toHaveLength(1);
        return { status_word, is_usable: here.intent.ordered_until !== null, ordered, unserved };
      };
      const usable = { status_word: 'ordered', is_usable: true, ordered: 1, unserved: 1 };
      expect(await words()).toEqual(usable);
      await end(p, bob, intent);
      expect(await keyturn.intents.check(intent)).toMatchObject({ code });
      expect(await words()).toEqual({ status_word: 'void', is_usable: false, ordered: 0, unserved: 0 });
      for (const status_word of ['ordered', 'lapsed'] as const)
        expect((await keyturn.runs.capabilities({ status_word })).capabilities).toEqual([]);
    },
  );
});

describe('where an intent stands whose pipeline uses a tool', () => {
  it('is one answer while that tool is frozen, and after it', async () => {
    const t = await proposedPlan(STEP);
    await t.sign(t.bob);
    const { scope, name } = { scope: 'tool', name: 'say' } as const;
    await t.keyturn.system.freeze({ scope, name, reason: 'odd', signer: t.ada });
    const code = 'FROZEN';
    expect(await readings(t)).toMatchObject({ code, status: ['ungranted'], status_codes: [code] });
    expect(await acts(t)).toEqual({ what_if: code, offer: code, run: code, grant: code });
    await t.keyturn.system.unfreeze({ scope, name, reason: 'it was nothing', signer: t.ada });
    expect(await readings(t)).toMatchObject({ code: 'ORDER_MISSING', status: ['ungranted'] });
    expect(await acts(t)).toEqual({ what_if: null, offer: null, run: 'ORDER_MISSING', grant: null });
    expect(await readings(t)).toMatchObject({ code: null, status: ['approved'] });
    t.time.ms += 1000;
    await t.keyturn.system.freeze({ scope, name, reason: 'odd', signer: t.ada });
    expect(await readings(t)).toMatchObject({ code, status: ['ungranted'], status_codes: [code] });
    expect((await acts(t)).run).toBe(code);
  });

  it('is refused where the proposal names other tools than its effect', async () => {
    const { keyturn, intent } = await proposedPlan(STEP);
    const state = await keyturn.intents.get({ intent_id: intent.intent_id });
    const choices = state.choices.map((one) => ({ ...one, tools: [state.tool] }));
    const [path, clock] = [keyturn.layout.store, () => new Date()];
    const store = await openSqliteStore({ path, tenant: 'default', clock, mode: 'read' });
    const context = { store, memory: { asked: new Map() } } as unknown as Context;
    const opened = (told: object) => openAsked(context, { ...state, ...told } as IntentState);
    expect((await opened({})).effect.kind).toBe('plan');
    await expectRefusal('EFFECT_CHANGED', () => opened({ choices }));
    await store.close();
  });
});

describe('where an intent stands that two humans have to approve', () => {
  it.each(Object.entries(LOST))('is one answer where one approval is %s', async (_, [lose, code, can]) => {
    const t = await needsTwo();
    expect((await t.sign(t.bob, 600)).missing).toBe(1);
    await lose(t);
    // Two have signed by now, and one counts.
    expect((await t.sign(t.eve)).missing).toBe(1);
    const { people, ...found } = await readings(t);
    expect(found).toEqual({
      code,
      words: Array(6).fill('approval expired'),
      filtered: [false, true, false],
      status: ['approval_expired'],
      status_codes: [code],
      approvers: ['eve'],
      missing: [1, 1],
      queue: 1,
      console: '1 of 2 approved.',
      agent_core: false,
    });
    expect(people).toMatchObject({ ada: wanted(true), eve: wanted(false) });
    expect(people.bob).toMatchObject({ needs: can.bob, next: can.bob });

    expect((await t.sign(t.ada)).missing).toBe(0);
    expect(await readings(t)).toMatchObject({
      code: 'ORDER_MISSING',
      words: Array(6).fill('approved'),
      filtered: [false, false, true],
      status: ['ungranted'],
      status_codes: ['ORDER_MISSING'],
      approvers: ['ada', 'eve'],
      missing: [0, 0],
      agent_core: true,
      people: { ada: { needs: false, next: false }, bob: { needs: false, next: false } },
    });
  });

  it('is one answer while one approval is there, and after it expired', async () => {
    const t = await needsTwo();
    await t.sign(t.bob, 600);
    const waits = { code: 'APPROVAL_MISSING', words: Array(6).fill('waiting'), agent_core: false };
    expect(await readings(t)).toMatchObject({
      ...{ ...waits, approvers: ['bob'], missing: [1, 1], console: '1 of 2 approved.' },
      people: { ada: wanted(true), bob: wanted(false), eve: wanted(true) },
    });
    t.time.ms += HOUR;
    expect(await readings(t)).toMatchObject({
      ...{ ...waits, approvers: [], missing: [2, 2], console: '0 of 2 approved.' },
      people: { ada: wanted(true), bob: wanted(true), eve: wanted(true) },
    });
  });
});
