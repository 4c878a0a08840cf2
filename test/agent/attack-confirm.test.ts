import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AwaitsApprover, Confirm, Outcome } from '../../src/agent/answer-shape.ts';
import { agentPlans } from '../../src/agent/contracts.ts';
import { agentPlanMoved } from '../../src/agent/moves.ts';
import { refsOf } from '../../src/agent/plan.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { entriesAbout, objectOf, sizeOf } from '../support/ledger.ts';
import { expectRefusal } from '../support/refusal.ts';
import { agentPlace, askedFor, prompted, words, yes } from './agent-place.ts';

/** Words that must not count: a no that runs something, and a yes to other values than those that were shown. */

const place = agentPlace();

const stateOf = async (correlation_id: string, plan = -1) => {
  const state = await place().keyturn.conversations.status({ correlation_id });
  const { state: now, reason_code, steps } = state.plans.at(plan)!;
  return { plan: now, reason_code, steps: steps.map((step) => step.state) };
};

const answersIn = async (correlation_id: string) =>
  (await entriesAbout(place().keyturn, `agent:${correlation_id}`))
    .filter(({ kind }) => kind === 'agent.confirmed')
    .map(({ body }) => (body as { answer: string }).answer);

async function awaited(utterance: string): Promise<AwaitsApprover> {
  const { keyturn } = place();
  const answer = await yes(keyturn, await askedFor(keyturn, utterance));
  if (answer.kind !== 'AWAITS_APPROVER') throw new Error(`expected to wait, got ${JSON.stringify(answer)}`);
  return answer;
}

/** After the first of three steps: the second needs no yes, only the next turn. */
async function paused(word: string): Promise<{ first: Confirm; next: NonNullable<Outcome['next']> }> {
  const { keyturn } = place();
  const first = await askedFor(keyturn, `fill the weekly diary "${word}"`);
  const one = await yes(keyturn, first);
  if (one.kind !== 'OUTCOME' || one.next?.kind !== 'PAUSED') throw new Error(JSON.stringify(one));
  return { first, next: one.next };
}

describe('a no', () => {
  it('ends what an approver has signed already', async () => {
    const { keyturn, ada, written } = place();
    const waiting = await awaited('wipe the whole archive "signed"');
    const { intent_id, hash, correlation_id } = waiting;
    await keyturn.intents.approve({ intent_id, hash, signer: ada });
    expect(await words(keyturn, waiting, 'no')).toMatchObject({
      kind: 'CANCELLED',
      reason_code: 'CONFIRM_DECLINED',
      user_visible_text: 'Nothing is done.',
    });
    expect(await stateOf(correlation_id)).toMatchObject({ plan: 'CANCELLED', steps: ['SKIPPED'] });
    expect(await answersIn(correlation_id)).toEqual(['YES', 'NO']);
    expect((await keyturn.conversations.resume({ correlation_id })).kind).toBe('CANCELLED');
    expect(written()).not.toContain('! signed');
    await keyturn.conversations.replay({ correlation_id });
  });

  it.each(['stop', 'no'])('ends a plan between two steps, and what follows is not done: %s', async (no) => {
    const { keyturn, written } = place();
    const { first, next } = await paused(`between ${no}`);
    const { correlation_id } = first;
    const answer = await words(keyturn, next, no);
    expect(answer).toMatchObject({
      kind: 'CANCELLED',
      reason_code: 'PLAN_WITHDRAWN',
      user_visible_text: 'Nothing more is done.',
    });
    expect(await stateOf(correlation_id)).toEqual({
      plan: 'CANCELLED',
      reason_code: 'PLAN_WITHDRAWN',
      steps: ['SUCCEEDED', 'SKIPPED', 'SKIPPED'],
    });
    expect(await answersIn(correlation_id)).toEqual(['YES', 'NO']);
    expect((await keyturn.conversations.resume({ correlation_id })).kind).toBe('CANCELLED');
    expect(written()).not.toContain(`+ between ${no} two`);
    // What was done can still be taken back.
    expect((await keyturn.conversations.undo({ correlation_id, user_id: 'ada' })).kind).toBe('CONFIRM');
    expect((await keyturn.ledger.rebuild({ write: false })).differences).toEqual([]);
  });

  it('needs no name of a step, and one that comes late stops what is left', async () => {
    const { keyturn } = place();
    const one = (await paused('unnamed')).first;
    const { correlation_id, plan_id } = one;
    const bare = { correlation_id, plan_id, user_id: 'ada', text: 'no' };
    expect((await keyturn.conversations.confirm(bare)).kind).toBe('CANCELLED');
    const late = (await paused('late')).first;
    expect((await words(keyturn, late, 'no')).kind).toBe('CANCELLED');
  });

  it('ends a plan whose process died between the two halves of a dispatch', async () => {
    const { keyturn, written } = place();
    const prompt = await halfDispatched('halved');
    const { correlation_id } = prompt;
    expect(await stateOf(correlation_id)).toMatchObject({ plan: 'IN_PROGRESS', steps: ['READY'] });
    expect(await words(keyturn, prompt, 'no')).toMatchObject({ kind: 'CANCELLED' });
    expect(await stateOf(correlation_id)).toMatchObject({ plan: 'CANCELLED', steps: ['SKIPPED'] });
    expect((await keyturn.conversations.resume({ correlation_id })).kind).toBe('CANCELLED');
    expect(written()).not.toContain('+ halved');
    expect((await keyturn.ledger.rebuild({ write: false })).differences).toEqual([]);
  });
});

/** A step whose yes is recorded and whose plan was started, and nothing more. */
async function halfDispatched(word: string): Promise<Confirm> {
  const { keyturn, root } = place();
  const prompt = await askedFor(keyturn, `append a notebook line "${word}"`);
  const path = join(root, 'tools.yaml');
  renameSync(path, `${path}.away`);
  await expectRefusal('REGISTRY_MISSING', () => yes(keyturn, prompt));
  renameSync(`${path}.away`, path);
  const state = await keyturn.conversations.status({ correlation_id: prompt.correlation_id });
  const plan = agentPlans.open(await objectOf(keyturn, state.plans[0]!.plan));
  const clock = () => new Date();
  const store = await openSqliteStore({
    path: keyturn.layout.store,
    tenant: 'default',
    clock,
    mode: 'write',
  });
  const refs = refsOf(plan, plan.ordered_steps[0]!);
  await store.commit({ events: [agentPlanMoved(plan, ['READY', 'IN_PROGRESS'], 'PLAN_STARTED', refs)] });
  await store.close();
  return prompt;
}

describe('words that are neither a no nor the yes that is waited for', () => {
  it.each(['yes', 'wait, perhaps later', 'okay', ''])(
    'start nothing that an approver has signed: %j',
    async (text) => {
      const { keyturn, ada, written } = place();
      const waiting = await awaited(`wipe the whole archive "said ${text.length}"`);
      const { intent_id, hash, correlation_id } = waiting;
      await keyturn.intents.approve({ intent_id, hash, signer: ada });
      const before = await sizeOf(keyturn);
      expect(await words(keyturn, waiting, text)).toMatchObject({ kind: 'AWAITS_APPROVER', intent_id });
      expect(await sizeOf(keyturn)).toBe(before);
      expect(written()).not.toContain(`! said ${text.length}`);
      expect((await keyturn.conversations.resume({ correlation_id })).kind).toBe('OUTCOME');
    },
  );

  it.each(['yes', 'okay'])('start no step that needs no yes: %s', async (text) => {
    const { keyturn } = place();
    const { first, next } = await paused(`idle ${text}`);
    const before = await sizeOf(keyturn);
    expect(await words(keyturn, next, text)).toMatchObject({ kind: 'PAUSED', step_id: next.step_id });
    expect(await sizeOf(keyturn)).toBe(before);
    expect((await stateOf(first.correlation_id)).steps).toEqual(['SUCCEEDED', 'PENDING', 'PENDING']);
  });

  it('do not dispatch what a yes made ready before: only resume does', async () => {
    const { keyturn, written } = place();
    const prompt = await halfDispatched('ready');
    expect(await yes(keyturn, prompt)).toMatchObject({ kind: 'PAUSED', plan_id: prompt.plan_id });
    expect(await keyturn.conversations.get({ correlation_id: prompt.correlation_id })).toMatchObject({
      kind: 'PAUSED',
    });
    expect(written()).not.toContain('+ ready');
    expect(await keyturn.conversations.resume({ correlation_id: prompt.correlation_id })).toMatchObject({
      kind: 'OUTCOME',
      plan_state: 'COMPLETED',
    });
    expect(written()).toContain('+ ready');
  });
});

describe('a yes is for the values that were shown', () => {
  const askAgain = async (correlation_id: string, utterance: string) =>
    prompted(await place().keyturn.conversations.ask({ user_id: 'ada', utterance, correlation_id }));

  it('one that is delivered again does not confirm the next prompt of the conversation', async () => {
    const { keyturn, written } = place();
    const first = await askedFor(keyturn, 'append a notebook line "pay 5"');
    const done = (await yes(keyturn, first)) as Outcome;
    const second = await askAgain(first.correlation_id, 'append a notebook line "pay 5000"');
    expect(second.step_id).toBe(first.step_id);
    expect(second.plan_id).not.toBe(first.plan_id);
    expect(await yes(keyturn, first)).toMatchObject({
      kind: 'OUTCOME',
      is_duplicate: true,
      outcome_ref: done.outcome_ref,
    });
    expect(written()).not.toContain('+ pay 5000');
    expect(await stateOf(first.correlation_id)).toMatchObject({ plan: 'WAITING_CONFIRM' });
    expect((await yes(keyturn, second)).kind).toBe('OUTCOME');
    expect(written().filter((line) => line.startsWith('+ pay'))).toEqual(['+ pay 5', '+ pay 5000']);
  });

  it('a late yes to what was declined is answered with that, and a late no ends nothing else', async () => {
    const { keyturn, written } = place();
    const first = await askedFor(keyturn, 'append a notebook line "value a"');
    await words(keyturn, first, 'no');
    const second = await askAgain(first.correlation_id, 'append a notebook line "value b"');
    for (const text of ['yes', 'no', 'okay'])
      expect(await words(keyturn, first, text)).toMatchObject({ kind: 'CANCELLED' });
    expect(await stateOf(first.correlation_id)).toMatchObject({ plan: 'WAITING_CONFIRM' });
    expect(written()).not.toContain('+ value b');
    expect((await yes(keyturn, second)).kind).toBe('OUTCOME');
  });

  it('a plan or step that the conversation does not have is refused, whatever is said', async () => {
    const { keyturn, written } = place();
    const prompt = await askedFor(keyturn, 'append a notebook line "strange"');
    const other = await askedFor(keyturn, 'append a notebook line "stranger"');
    for (const text of ['yes', 'no', 'okay'])
      for (const over of [
        { plan_id: 'a'.repeat(64) },
        { plan_id: other.plan_id },
        { step_id: other.step_id },
      ])
        await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => words(keyturn, { ...prompt, ...over }, text));
    expect(await stateOf(prompt.correlation_id)).toMatchObject({ plan: 'WAITING_CONFIRM' });
    expect(written()).not.toContain('+ strange');
  });

  it('a yes to the prompt is no answer to the question that came after it', async () => {
    const { keyturn, written } = place();
    const prompt = await askedFor(keyturn, 'append a notebook line "danger"');
    const { correlation_id } = prompt;
    const question = { user_id: 'ada', utterance: 'strike out some earlier writing', correlation_id };
    expect(await keyturn.conversations.ask(question)).toMatchObject({ kind: 'CLARIFY' });
    // The question has no plan, so that no yes can name it, and none that names no plan is taken.
    const bare = { correlation_id, plan_id: '', user_id: 'ada', text: 'yes' };
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => keyturn.conversations.confirm(bare));
    expect(written()).not.toContain('+ danger');
    expect(await keyturn.conversations.get({ correlation_id })).toMatchObject({ plan_id: prompt.plan_id });
    expect((await yes(keyturn, prompt)).kind).toBe('OUTCOME');
  });
});

describe('a text without end', () => {
  it('is no yes, is not read, and leaves only its hash behind', async () => {
    const { keyturn } = place();
    const prompt = await askedFor(keyturn, 'append a notebook line "endless"');
    const said: string[] = [];
    for (const text of [`a${' '.repeat(60_000)}b`, 'x'.repeat(100_000), ` yes${' '.repeat(300)}`]) {
      expect(await words(keyturn, prompt, text)).toMatchObject({ reason_code: 'CONFIRMATION_AMBIGUOUS' });
      const state = await keyturn.conversations.status({ correlation_id: prompt.correlation_id });
      const proof = await objectOf(keyturn, state.plans[0]!.steps[0]!.confirmation!.proof);
      const { reason, text: digest } = JSON.parse(Buffer.from(proof).toString());
      expect(reason).toBe('TOO_LONG');
      said.push(digest);
    }
    await expectRefusal('INPUT_TOO_LARGE', () => words(keyturn, prompt, 'x'.repeat(3_000_000)));
    for (const digest of said.slice(0, 2))
      await expectRefusal('OBJECT_MISSING', () => objectOf(keyturn, digest));
    expect(Buffer.from(await objectOf(keyturn, said[2]!)).toString()).toContain(` yes${' '.repeat(300)}`);
    await keyturn.ledger.verify({ deep: true });
  });
});
