import { describe, expect, it } from 'vitest';
import { openSealed } from '../../src/canonical/sealed.ts';
import { LEXICON_VERSION } from '../../src/finder/lexicon/lexicon.ts';
import { entriesAbout, objectOf } from '../support/ledger.ts';
import { agentPlace, askedFor, prompted, words } from './agent-place.ts';

/** 003 section 7: an explicit yes in the words of the lexicon, in the language of the conversation, with its proof. */

const place = agentPlace();

describe('AT-AGENT-10-multilingual-confirmation-lexicon-enforced', () => {
  it.each(['okay', 'ok', 'fine', 'sure', 'maybe later', 'yes but only half', '', 'si', 'уes', 'yes​'])(
    'an answer that is no clear yes asks again and dispatches nothing: %j',
    async (text) => {
      const { keyturn, written } = place();
      const prompt = await askedFor(keyturn, 'append a notebook line "vague"');
      const { correlation_id } = prompt;
      const answer = await words(keyturn, prompt, text);
      expect(answer).toMatchObject({ kind: 'CONFIRM', reason_code: 'CONFIRMATION_AMBIGUOUS' });
      expect(written()).not.toContain('+ vague');
      const state = await keyturn.conversations.status({ correlation_id });
      expect(state.plans[0]!.steps[0]).toMatchObject({
        state: 'WAITING_CONFIRM',
        confirmation: { answer: 'AMBIGUOUS' },
      });
    },
  );

  it('a vague answer spoils nothing: the yes after it counts', async () => {
    const { keyturn, written } = place();
    const prompt = await askedFor(keyturn, 'append a notebook line "later"');
    await words(keyturn, prompt, 'okay');
    const done = await words(keyturn, prompt, 'Yes.');
    expect(done.kind).toBe('OUTCOME');
    expect(written()).toContain('+ later');
  });

  it('the conversation has a language, and its yes is the one that counts', async () => {
    const { keyturn, written } = place();
    const utterance = 'añadir una línea al cuaderno "leche"';
    const prompt = prompted(await keyturn.conversations.ask({ user_id: 'ada', utterance, language: 'es' }));
    expect(prompt).toMatchObject({ language: 'es', user_visible_text: expect.stringContaining('Añadir') });
    for (const text of ['si, pero mañana', 'vale'])
      expect(await words(keyturn, prompt, text)).toMatchObject({
        kind: 'CONFIRM',
        reason_code: 'CONFIRMATION_AMBIGUOUS',
      });
    expect(written()).not.toContain('+ leche');
    const done = await words(keyturn, prompt, 'Sí');
    expect(done.kind).toBe('OUTCOME');
    expect(written()).toContain('+ leche');
  });

  it('the proof holds token, language, lexicon and the hash of what was said, and the ledger no word of it', async () => {
    const { keyturn } = place();
    const prompt = await askedFor(keyturn, 'append a notebook line "secretword"');
    const { correlation_id } = prompt;
    await words(keyturn, prompt, 'I confirm');
    const state = await keyturn.conversations.status({ correlation_id });
    const bytes = await objectOf(keyturn, state.plans[0]!.steps[0]!.confirmation!.proof);
    const proof = JSON.parse(Buffer.from(bytes).toString());
    expect(proof).toMatchObject({
      answer: 'YES',
      token: 'i confirm',
      language: 'en',
      confirm_lexicon_version_ref: LEXICON_VERSION,
      user_id: 'ada',
    });
    expect(Buffer.from(openSealed(await objectOf(keyturn, proof.text))).toString()).toBe('I confirm');
    const story = JSON.stringify(await entriesAbout(keyturn, `agent:${correlation_id}`));
    expect(story).not.toMatch(/secretword|i confirm|notebook/i);
  });
});
