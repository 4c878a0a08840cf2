import { describe, expect, it, onTestFinished } from 'vitest';
import { reviewScreen } from '../../src/cli/screen.ts';
import { storyLines } from '../../src/cli/story.ts';
import { Keyturn } from '../../src/keyturn.ts';
import { type Intent, type Project, project, ready } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';

const REGISTRY = `version: 1
tools:
  - name: pay
    summary: Pays.
    executable: /usr/bin/true
    args: ["{to}", { when: note, args: ["{note}"] }]
    parameters:
      to: { type: string, max_length: 20 }
      note: { type: string, required: false }
    sandbox: none
    undo: compensating
    undone_by: { tool: refund, arguments: { from: "{to}", why: "{note}", sure: true } }
  - name: refund
    summary: Takes it back.
    executable: /usr/bin/true
    args: ["{from}", { when: why, args: ["{why}"] }, { when: sure, args: [sure] }]
    parameters:
      from: { type: string, max_length: 20 }
      why: { type: string, required: false }
      sure: { type: boolean, default: false }
    sandbox: none
    undo: none
`;

async function paid(p: Project, args: object): Promise<Intent> {
  const intent = await proposedPay(p, args);
  await ready(p, intent);
  const { seen } = await p.keyturn.runs.look(intent);
  await p.keyturn.runs.run({ ...intent, seen });
  return intent;
}

async function proposedPay({ keyturn }: Project, args: object): Promise<Intent> {
  const effect = { kind: 'tool' as const, tool: 'pay', arguments: { ...args } };
  const { intent_id, hash } = await keyturn.intents.propose({ declared_goal: 'Pay.', effect });
  return { intent_id, hash };
}

describe('a declared undo', () => {
  it('is told by the result of a successful run, with the values that the run had', async () => {
    const p = await project(REGISTRY);
    const { intent_id } = await paid(p, { to: 'Ann', note: 'rent' });
    expect((await p.keyturn.intents.result({ intent_id })).undo).toEqual({
      tool: 'refund',
      arguments: { from: 'Ann', why: 'rent', sure: true },
    });
  });

  it('becomes an intent of its own, which a human approves and which runs', async () => {
    const p = await project(REGISTRY);
    const { intent_id: undoes } = await paid(p, { to: 'Ann' });
    const undo = await p.keyturn.intents.undo({ intent_id: undoes });
    expect(undo).toMatchObject({ tool: 'refund', undoes, replaces: null });
    const review = await p.keyturn.intents.review({ intent_id: undo.intent_id });
    expect(review.envelope).toMatchObject({ undoes });
    expect(review.effect).toMatchObject({ arguments: { from: 'Ann', sure: true } });
    const look = { paint: (_: unknown, text: string) => text, now: new Date(), columns: 200 };
    expect(reviewScreen(review, look).join('\n')).toMatch(new RegExp(`^Undoes: +the run of ${undoes}$`, 'm'));
    const { intent_id, hash } = undo;
    await ready(p, { intent_id, hash });
    const { seen } = await p.keyturn.runs.look({ intent_id, hash });
    expect(await p.keyturn.runs.run({ intent_id, hash, seen })).toMatchObject({ result: 'success' });
  });

  it('is shown before the first yes', async () => {
    const p = await project(REGISTRY);
    const { intent_id } = await proposedPay(p, { to: 'Ann' });
    const { shown } = await p.keyturn.intents.review({ intent_id });
    const { value } = shown.fields.find(({ label }) => label === 'Undone by')!;
    expect(value.map(({ text }) => text).join('')).toMatch(/^refund from = "?Ann/);
  });

  it('is not due before a run, nor where none was declared', async () => {
    const p = await project(REGISTRY);
    const { intent_id } = await proposedPay(p, { to: 'Ann' });
    await expectRefusal('UNDO_NOT_DUE', () => p.keyturn.intents.undo({ intent_id }));
    expect((await p.keyturn.intents.result({ intent_id })).undo).toBeNull();
    const first = await paid(p, { to: 'Ann' });
    const undo = await p.keyturn.intents.undo({ intent_id: first.intent_id });
    const intent = { intent_id: undo.intent_id, hash: undo.hash };
    await ready(p, intent);
    const { seen } = await p.keyturn.runs.look(intent);
    await p.keyturn.runs.run({ ...intent, seen });
    await expectRefusal('UNDO_UNDECLARED', () => p.keyturn.intents.undo({ intent_id: intent.intent_id }));
  });

  it('cannot be claimed by a proposal that asks for something else', async () => {
    const p = await project(REGISTRY);
    const { intent_id: undoes } = await paid(p, { to: 'Ann' });
    const claim = (tool: string, args: object, more = {}) =>
      p.keyturn.intents.propose({
        declared_goal: 'Undo it.',
        effect: { kind: 'tool', tool, arguments: { ...args } },
        undoes,
        ...more,
      });
    await expectRefusal('UNDO_UNDECLARED', () => claim('refund', { from: 'Mallory', sure: true }));
    await expectRefusal('UNDO_UNDECLARED', () => claim('pay', { to: 'Ann' }));
    const unknown = '00000000-0000-4000-8000-000000000000';
    await expectRefusal('INTENT_NOT_FOUND', () =>
      claim('refund', { from: 'Ann', sure: true }, { undoes: unknown }),
    );
    expect(await claim('refund', { from: 'Ann', sure: true })).toMatchObject({ tool: 'refund' });
  });

  it('is proposed once, while it waits, whoever asks for it', async () => {
    const p = await project(REGISTRY);
    const { intent_id } = await paid(p, { to: 'Ann' });
    const first = await p.keyturn.intents.undo({ intent_id });
    const refusal = await expectRefusal('UNDO_UNDER_WAY', () =>
      p.keyturn.intents.undo({ intent_id, signer: p.ada }),
    );
    expect(refusal.facts).toMatchObject({ undone_by: first.intent_id });
    const undone_by = { intent_id: first.intent_id, is_done: false };
    expect(await p.keyturn.intents.result({ intent_id })).toMatchObject({ undo: null, undone_by });
    const by_hand = { kind: 'tool' as const, tool: 'refund', arguments: { from: 'Ann', sure: true } };
    await expectRefusal('UNDO_UNDER_WAY', () =>
      p.keyturn.intents.propose({ declared_goal: 'Undo it.', effect: by_hand, undoes: intent_id }),
    );
    const { hash } = first;
    await p.keyturn.intents.reject({ intent_id: first.intent_id, hash, reason: 'no', signer: p.ada });
    expect(await p.keyturn.intents.result({ intent_id })).toMatchObject({
      undo: { tool: 'refund' },
      undone_by: null,
    });
    await p.keyturn.intents.undo({ intent_id });
  });

  it('is proposed no more once it ran, and the story of what it undid says so', async () => {
    const p = await project(REGISTRY);
    const { intent_id } = await paid(p, { to: 'Ann' });
    const told = async () => storyLines(await p.keyturn.intents.story({ intent_id }), new Date()).join('\n');
    expect(await told()).not.toMatch(/undone by [0-9a-f]/i);
    const undo = await p.keyturn.intents.undo({ intent_id });
    const later = { intent_id: undo.intent_id, hash: undo.hash };
    expect(await told()).toContain(`to be undone by ${undo.intent_id}`);
    await ready(p, later);
    const { seen } = await p.keyturn.runs.look(later);
    await p.keyturn.runs.run({ ...later, seen });
    expect(await told()).toContain(`Undone by ${undo.intent_id}`);
    const undone_by = { intent_id: undo.intent_id, is_done: true };
    expect(await p.keyturn.intents.result({ intent_id })).toMatchObject({ undo: null, undone_by });
    await expectRefusal('UNDONE_BEFORE', () => p.keyturn.intents.undo({ intent_id }));
  });

  it('is proposed by one of two processes that ask for it at once', async () => {
    const p = await project(REGISTRY);
    const { intent_id } = await paid(p, { to: 'Ann' });
    const other = await Keyturn.open({ at: p.root });
    onTestFinished(() => other.close());
    const both = [p.keyturn, other, p.keyturn, other].map((one) => one.intents.undo({ intent_id }));
    const codes = (await Promise.allSettled(both)).map((one) =>
      one.status === 'fulfilled' ? 'proposed' : one.reason.code,
    );
    expect(codes.sort()).toEqual(['UNDO_UNDER_WAY', 'UNDO_UNDER_WAY', 'UNDO_UNDER_WAY', 'proposed']);
  });

  it.each([
    ['a tool that is not there', 'tool: refund,', 'tool: gone,'],
    ['a parameter that is not there', '"{to}", why', '"{who}", why'],
    ['an argument that the other tool has not', 'sure: true', 'certain: true'],
    ['too few arguments', 'from: "{to}", ', ''],
    ['no undo', 'undo: compensating', 'undo: none'],
  ])('with %s is refused with the registry', async (_, from, to) => {
    const text = REGISTRY.replace(from, to);
    expect(text).not.toBe(REGISTRY);
    const p = await project(text);
    await expectRefusal('REGISTRY_MALFORMED', () => proposedPay(p, { to: 'Ann' }));
  });
});
