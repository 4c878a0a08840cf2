import { describe, expect, it } from 'vitest';
import { limits } from '../../src/limits.ts';
import { agentPlace, prompted } from './agent-place.ts';

/** What a user is told: the result of a read, how far a failure came, and that a late yes does not count. */

let now = Date.parse('2026-03-02T12:00:00.000Z');
const place = agentPlace(() => new Date(now));

describe('what a user is told', () => {
  it('of a read is its result, and of a repeat that nothing was done now', { timeout: 60_000 }, async () => {
    const { keyturn } = place();
    const read = await keyturn.conversations.ask({ user_id: 'ada', utterance: 'greet everybody kindly' });
    expect(read).toMatchObject({
      kind: 'OUTCOME',
      user_visible_text: 'Done.',
      result: expect.stringMatching(/\S/),
    });
  });

  it('of a chain, before its first step, is every step with its values', async () => {
    const { keyturn } = place();
    const utterance = 'fill the weekly diary "milk"';
    const { user_visible_text } = prompted(await keyturn.conversations.ask({ user_id: 'ada', utterance }));
    for (const step of ['milk one', '→ 2. hello.show', '→ 3. note.add · text: "milk two"'])
      expect(user_visible_text).toContain(step);
  });

  it('of a failure is that it ran', { timeout: 60_000 }, async () => {
    const { keyturn } = place();
    const failed = await keyturn.conversations.ask({ user_id: 'ada', utterance: 'break the old engine' });
    expect(failed.user_visible_text).toMatch(
      /^It ran and failed\. What it did before it failed was not undone\./,
    );
  });

  it('is said in the language of the conversation', { timeout: 60_000 }, async () => {
    const { conversations } = place().keyturn;
    const told = async (utterance: string, language: string) =>
      (await conversations.ask({ user_id: 'ada', utterance, language })).user_visible_text;
    expect(await told('greet everybody kindly', 'fr')).toBe('Fait.');
    expect(await told('break the old engine', 'de')).toMatch(/^Es lief und schlug fehl\./);
    expect(await told('juggle seven flaming torches', 'es')).toMatch(/^Aquí nada puede hacer eso todavía\./);
    const prompt = prompted(
      await conversations.ask({
        user_id: 'ada',
        utterance: 'append a notebook line "nein"',
        language: 'de',
      }),
    );
    const { correlation_id, plan_id, step_id } = prompt;
    const no = { correlation_id, plan_id, step_id, user_id: 'ada', text: 'nein' };
    expect(await conversations.confirm(no)).toMatchObject({
      kind: 'CANCELLED',
      user_visible_text: 'Es wird nichts getan.',
    });
  });

  it('of a yes that comes too late is that nothing is done', { timeout: 60_000 }, async () => {
    const { keyturn, written } = place();
    const prompt = prompted(
      await keyturn.conversations.ask({ user_id: 'ada', utterance: 'append a notebook line "too late"' }),
    );
    now += limits.prompt_ttl_s_default * 1000 + 1000;
    const { correlation_id, plan_id, step_id } = prompt;
    const yes = { correlation_id, plan_id, step_id, user_id: 'ada', text: 'yes' };
    expect(await keyturn.conversations.confirm(yes)).toMatchObject({
      kind: 'CANCELLED',
      reason_code: 'CONFIRM_EXPIRED',
    });
    expect(written()).not.toContain('too late');
    expect(await keyturn.conversations.confirm(yes)).toMatchObject({ kind: 'CANCELLED' });
  });
});
