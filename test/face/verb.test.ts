import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { apiPage } from '../../src/face/api.ts';
import { VERBS, type VerbName } from '../../src/face/verbs.ts';
import { Keyturn } from '../../src/keyturn.ts';
import { agent, authority, proposeSay } from '../journey/authority.ts';
import { expectRefusal } from '../support/refusal.ts';

describe('a request to a verb', () => {
  it('is refused where it is not what the schema says', async () => {
    const { keyturn } = await authority();
    const bad: readonly unknown[] = [
      { limit: 0 },
      { limit: 1001 },
      { limit: '5' },
      { status_word: 'open' },
      { since: 'yesterday' },
      { text: '' },
      { text: 'x'.repeat(201) },
      { unknown: 1 },
      { tool: null },
      { tool: ['say'] },
    ];
    for (const request of bad)
      await expectRefusal('SHAPE_INVALID', () => keyturn.intents.list(request as never));
    for (const request of [{ tool: () => 'say' }, JSON.parse('{"__proto__": {"tool": "say"}}')])
      await expectRefusal('JSON_NOT_PLAIN', () => keyturn.intents.list(request as never));
    await expectRefusal('JSON_BAD_STRING', () => keyturn.intents.list({ tool: '\ud800' }));
  });

  it('is refused by the code of the part that is malformed', async () => {
    const { keyturn, ada } = await authority();
    await expectRefusal('ID_MALFORMED', () => keyturn.intents.get({ intent_id: 'x' }));
    const { intent_id } = await proposeSay({ keyturn, ada } as never);
    const approve = () => keyturn.intents.approve({ intent_id, hash: 'x', signer: ada });
    await expectRefusal('HASH_MALFORMED', approve);
  });

  it('may name what is left out as undefined', async () => {
    const { keyturn } = await authority();
    expect(await keyturn.intents.list({ tool: undefined, cursor: undefined })).toEqual({
      intents: [],
      next: null,
      looked: 0,
    });
  });
});

describe('an answer of a verb', () => {
  it('is what the schema says, from a proposal to its withdrawal or rejection', async () => {
    const p = await authority();
    const scout = await agent(p, 'scout');
    const { intents } = p.keyturn;
    const fits = <V extends keyof typeof VERBS.intents>(verb: V, answer: unknown) =>
      expect(z.safeParse(VERBS.intents[verb].output(), answer), verb).toMatchObject({ success: true });
    const effect = { kind: 'tool', tool: 'say', arguments: { word: 'x' } } as const;
    const proposal = await intents.propose({ declared_goal: 'x', effect, issuer: 'ada' });
    fits('propose', proposal);
    const { intent_id, hash, receipt } = proposal;
    fits('approve', await intents.approve({ intent_id, hash, signer: p.ada }));
    for (const verb of ['get', 'result'] as const) fits(verb, await intents[verb]({ intent_id }));
    fits('waitFor', await intents.waitFor({ intent_id, until: 'decided' }));
    fits('list', await intents.list());
    fits('withdraw', await intents.withdraw({ intent_id, reason: 'x', receipt }));
    const second = await intents.propose({ declared_goal: 'x', effect, signer: scout });
    fits(
      'reject',
      await intents.reject({
        ...{ intent_id: second.intent_id, hash: second.hash },
        reason: 'x',
        signer: p.ada,
      }),
    );
  });
});

describe('the journey by its verbs', () => {
  const fits = (verb: VerbName, answer: unknown) => {
    const [namespace, name] = verb.split('.') as ['intents', 'get'];
    const { output } = VERBS[namespace][name];
    expect(z.safeParse(output(), answer), verb).toMatchObject({ success: true });
    expect(JSON.parse(JSON.stringify(answer)), verb).toEqual(answer);
  };

  it('answers plain JSON that fits the schema, from the review to what was printed', async () => {
    const p = await authority();
    const { intents, runs } = p.keyturn;
    const intent = await proposeSay(p);
    const { intent_id } = intent;
    const seen = await intents.review({ intent_id });
    fits('intents.review', seen);
    expect(seen).toMatchObject({
      intent: { status_word: 'waiting' },
      envelope: { declared_goal: 'Say hello.' },
    });
    const early = await intents.check(intent);
    fits('intents.check', early);
    expect(early).toMatchObject({ eligible: false, code: 'APPROVAL_MISSING', executed_at: null });
    const { attempt, effect_digest } = seen.intent;
    const turned = await intents.turn({ ...intent, shown: { attempt, effect_digest }, signer: p.ada });
    fits('intents.turn', turned);
    expect(turned.approved_until).not.toBeNull();
    fits('intents.check', await intents.check(intent));
    expect(await intents.check(intent)).toEqual({ ...intent, eligible: true });
    fits('runs.preview', await runs.preview(intent));
    const looked = await runs.look(intent);
    fits('runs.look', looked);
    expect(looked).toMatchObject({
      seen: turned.seen,
      capability: { by: 'ada', depth: 0, break_glass: false },
    });
    const report = await runs.run({ ...intent, seen: looked.seen });
    fits('runs.run', report);
    expect(report).toMatchObject({ result: 'success', stdout: 'hello\n', stderr: '', reason_code: null });
    const { execution_id } = report;
    const output = await runs.output({ execution_id });
    fits('runs.output', output);
    expect(output).toEqual({ stdout: 'hello\n', stderr: '' });
    const told = await runs.report({ execution_id });
    fits('runs.report', told);
    expect(told).toEqual({ run: report });
  });

  it('grants what was offered, and submits under a delegation', async () => {
    const p = await authority();
    const scout = await agent(p, 'scout');
    const { intents, agents } = p.keyturn;
    const { delegation_id: delegation } = await agents.delegate({
      delegate: 'scout',
      actions: ['tool:say'],
      approves: true,
      ttl_s: 3600,
      reason: 'x',
      signer: p.ada,
    });
    const intent = await proposeSay(p);
    fits('intents.previewSubmit', await intents.previewSubmit({ intent_id: intent.intent_id, delegation }));
    const submitted = await intents.submit({ ...intent, delegation, signer: scout });
    fits('intents.submit', submitted);
    expect(submitted).toMatchObject({ by: 'scout', approver: 'ada' });
    const offered = await intents.offer({ ...intent, by: 'ada' });
    fits('intents.offer', offered);
    const granted = await intents.grant({ ...intent, scope: offered.needs, is_issued: true, signer: p.ada });
    fits('intents.grant', granted);
    expect(granted).toMatchObject({ by: 'ada', issued: true, token: expect.any(String) });
  });

  it('takes what is no JSON from this process alone', async () => {
    const p = await authority();
    const intent = await proposeSay(p);
    const { seen } = await p.keyturn.intents.turn({ ...intent, signer: p.ada });
    const claimed: string[] = [];
    const onClaimed = (execution_id: string) => void claimed.push(execution_id);
    const { execution_id } = await p.keyturn.runs.run({ ...intent, seen, onClaimed });
    expect(claimed).toEqual([execution_id]);
    await expectRefusal('EXECUTION_NOT_FOUND', () =>
      p.keyturn.runs.output({ execution_id: intent.intent_id }),
    );
  });
});

describe('the class Keyturn', () => {
  /** What is no verb: it opens and closes, holds secrets in this process, or needs no project. */
  const NO_VERBS = {
    statics: ['init', 'open', 'createAgentKey', 'makeToken', 'agentSigner'],
    members: ['layout', 'config', 'host', 'as', 'unlock', 'draft', 'finish', 'close'],
  };

  it('has the namespaces of the table, and no other public member than these', async () => {
    const { keyturn } = await authority();
    const members = [...Object.getOwnPropertyNames(Keyturn.prototype), ...Object.keys(keyturn)];
    const known = ['constructor', ...Object.keys(VERBS), ...NO_VERBS.members];
    expect(members.toSorted()).toEqual(known.toSorted());
    const of_every_class = Object.getOwnPropertyNames(class {});
    const statics = Object.getOwnPropertyNames(Keyturn).filter((name) => !of_every_class.includes(name));
    expect(statics.toSorted()).toEqual(NO_VERBS.statics.toSorted());
  });
});

describe('docs/api.md', () => {
  it('begins with the page of the table; scripts/schemas.mjs writes it anew', () => {
    const page = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8');
    expect(page.slice(0, apiPage().length)).toBe(apiPage());
  });
});
