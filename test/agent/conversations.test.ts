import { beforeAll, describe, expect, it } from 'vitest';
import type { AgentAnswer } from '../../src/agent/answer-shape.ts';
import { agentPlace, prompted, words, writeSimulation } from './agent-place.ts';
import { CAR_PARK, TALKS, type Talk } from './ten-languages.ts';

/**
 * One conversation in each language, with the real program: `docs/conversations.txt` is what was said. When it is not current:
 * `npx vitest run test/agent/conversations.test.ts -u`.
 */

const place = agentPlace();
const user_id = 'ada';

beforeAll(async () => {
  const { root, keyturn, ada: signer } = place();
  for (const one of CAR_PARK) writeSimulation(root, one);
  const reason = 'A car park.';
  for (const { id } of CAR_PARK) await keyturn.simulations.register({ id, reason, signer });
  for (const { id } of CAR_PARK) await keyturn.simulations.activate({ id, reason, signer });
});

const HEAD = `One conversation in each of the ten languages, as the program answers. Made by test/agent/conversations.test.ts, which fails
when this is not current. ">" is the user, "<" is the program; what it decided stands in brackets.
`;

const transcripts: string[] = [];

async function spokenIn(talk: Talk): Promise<string> {
  const { keyturn } = place();
  const lines = [`${talk.name} (${talk.language})`, ''];
  const tell = <T extends AgentAnswer>(said: string, answer: T): T => {
    const result = answer.kind === 'OUTCOME' && 'result' in answer ? answer.result : null;
    lines.push(
      `> ${said}`,
      ...`${answer.user_visible_text}${result ? `\n${result}` : ''}`.split('\n').map((line) => `< ${line}`),
    );
    lines.push(`  [${answer.kind} ${answer.reason_code}]`, '');
    return answer;
  };
  const asked = tell(talk.goal, await keyturn.conversations.ask({ user_id, utterance: talk.goal }));
  const { correlation_id } = asked;
  const answered = await keyturn.conversations.answer({ correlation_id, user_id, text: talk.value });
  const prompt = prompted(tell(talk.value, answered));
  tell(talk.acknowledged, await words(keyturn, prompt, talk.acknowledged));
  tell(talk.agreed, await words(keyturn, prompt, talk.agreed));
  tell(talk.denied, await keyturn.conversations.ask({ user_id, correlation_id, utterance: talk.denied }));
  tell(talk.read, await keyturn.conversations.ask({ user_id, utterance: talk.read }));
  return lines.join('\n');
}

describe('a conversation', () => {
  it.each(TALKS.map((talk) => [talk.name, talk] as const))(
    'in %s: asked, answered, not agreed, agreed, denied, read',
    async (_, talk) => {
      const before = place().written().length;
      const spoken = await spokenIn(talk);
      transcripts.push(spoken);
      const kinds = [...spoken.matchAll(/^ {2}\[([A-Z]+)/gmu)].map(([, kind]) => kind);
      expect(kinds.slice(0, 4)).toEqual(['CLARIFY', 'CONFIRM', 'CONFIRM', 'OUTCOME']);
      expect(kinds[4]).toBe('REFUSED');
      expect(spoken).toContain('[REFUSED NOTHING_ASKED]');
      expect(kinds[5]).toBe('OUTCOME');
      expect(place().written().length).toBe(before + 1);
    },
  );

  it('notes no wish for what is there and was denied', async () => {
    expect(await place().keyturn.simulations.wishes()).toMatchObject({ wishes: [] });
  });

  it('is kept as it was spoken', async () => {
    expect(transcripts).toHaveLength(TALKS.length);
    await expect(`${HEAD}\n${transcripts.join('\n')}`).toMatchFileSnapshot('../../docs/conversations.txt');
  });
});
