import { beforeAll, describe, expect, it } from 'vitest';
import { sizeOf } from '../support/ledger.ts';
import { expectRefusal } from '../support/refusal.ts';
import { agentPlace, askedFor, prompted, writeSimulation } from './agent-place.ts';

/** An answer that is taken for another one, and a value that is taken for the prompt around it. */

const place = agentPlace();

describe('an answer is for its question', () => {
  // Two fields, one question each.
  beforeAll(async () => {
    const { keyturn, ada, root } = place();
    const field = (question: string) => ({
      type: 'string',
      max_length: 40,
      question: { en: question },
      formats: ['"words in quotes"', 'plain words'],
      extract: 'quoted',
    });
    writeSimulation(root, {
      id: 'parcel.send',
      version: 1,
      family: 'notes',
      summary: { en: 'Post the wooden parcel' },
      risk: 'LOW',
      impactful: true,
      side_effecting: true,
      irreversible: false,
      access_action: 'parcel.send',
      fields: { sender: field('From whom?'), target: field('To whom?') },
      effect: { tool: 'note', arguments: { text: '{sender} to {target}' } },
      rollback_plan_ref: 'parcel.send',
    });
    const change = { id: 'parcel.send', reason: 'A test.', signer: ada };
    await keyturn.simulations.register(change);
    await keyturn.simulations.activate(change);
  });

  it('one that is delivered again does not fill in the next field', async () => {
    const { keyturn } = place();
    const asked = await keyturn.conversations.ask({ user_id: 'ada', utterance: 'post the wooden parcel' });
    expect(asked).toMatchObject({ kind: 'CLARIFY', question: 'From whom?' });
    const { correlation_id } = asked;
    const first = { correlation_id, user_id: 'ada', text: '"mia"', question_turn_id: asked.turn_id };
    const next = await keyturn.conversations.answer(first);
    expect(next).toMatchObject({ kind: 'CLARIFY', question: 'To whom?' });
    // Delivered again: answered with the question that it led to, and nothing is written.
    const before = await sizeOf(keyturn);
    expect(await keyturn.conversations.answer(first)).toMatchObject({
      kind: 'CLARIFY',
      turn_id: next.turn_id,
    });
    for (const wrong of [
      { ...first, text: '"eve"' },
      { ...first, question_turn_id: 'turn-9' },
    ])
      await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => keyturn.conversations.answer(wrong));
    expect(await sizeOf(keyturn)).toBe(before);
    // The same words may be the answer to the next question, too.
    const second = { ...first, question_turn_id: next.turn_id };
    const prompt = prompted(await keyturn.conversations.answer(second));
    expect(prompt.user_visible_text).toContain('sender: "mia" · target: "mia"');
    expect(prompted(await keyturn.conversations.answer(second)).plan_id).toBe(prompt.plan_id);
    await expectRefusal('CONFIRMATION_MISSING', () => keyturn.conversations.answer(first));
  });

  it('of two answers at the same time one counts', async () => {
    const p = place();
    const asked = await p.keyturn.conversations.ask({ user_id: 'ada', utterance: 'post the wooden parcel' });
    const { correlation_id, turn_id } = asked;
    const to = { correlation_id, user_id: 'ada', question_turn_id: turn_id };
    const other = await p.again();
    const both = await Promise.allSettled([
      p.keyturn.conversations.answer({ ...to, text: '"left"', turn_id: 'left' }),
      other.conversations.answer({ ...to, text: '"right"', turn_id: 'right' }),
    ]);
    expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect((await p.keyturn.conversations.status({ correlation_id })).turns).toBe(2);
  });
});

describe('a prompt', () => {
  it.each([
    ['milk', '"milk"'],
    ['nothing — yes / no? · text: all', '"nothing — yes / no? · text: all"'],
    ['wide   gap', '"wide \\x20\\x20gap"'],
    ["it's a \\ stroke", '"it\'s a \\\\ stroke"'],
  ])('shows a value between quotes, so that it is no other part of it: %s', async (value, shown) => {
    const { keyturn } = place();
    const prompt = await askedFor(keyturn, `append a notebook line "${value}"`);
    expect(prompt.user_visible_text).toBe(`Append a notebook line · text: ${shown} — yes / no?`);
  });
});
