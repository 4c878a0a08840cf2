import { describe, expect, it } from 'vitest';
import type { AgentAnswer, Confirm } from '../../src/agent/answer-shape.ts';
import type { Signer } from '../../src/identity/act.ts';
import { Keyturn } from '../../src/keyturn.ts';
import { Refusal } from '../../src/refusal.ts';
import { steady } from '../support/project.ts';
import { confirmer } from '../support/racers.ts';
import { agentPlace, askedFor, yes } from './agent-place.ts';

/** One goal, one effect: also where a user asks again, in another process or conversation, and whatever broke in between. */

const place = agentPlace();

const count = (line: string) =>
  place()
    .written()
    .filter((one) => one === line).length;

describe('AT-AGENT-05-idempotent-retry-safe', () => {
  it('of several processes that say yes together one runs it, and no other does', async () => {
    const { keyturn, root } = place();
    const prompt = await askedFor(keyturn, 'append a notebook line "raced"');
    const racers = [1, 2, 3].map(() => confirmer(root, prompt));
    await Promise.all(racers.map(({ ready }) => ready));
    for (const { go } of racers) go();
    const answers = await Promise.all(racers.map(({ answer }) => answer));
    expect(answers.filter((answer) => answer === 'OUTCOME')).toHaveLength(1);
    for (const answer of answers)
      expect(['OUTCOME', 'OUTCOME again', 'PAUSED', 'AGENT_TRANSITION_ILLEGAL', 'RUN_IN_DOUBT']).toContain(
        answer,
      );
    expect(count('+ raced')).toBe(1);
    expect(await yes(keyturn, prompt)).toMatchObject({ kind: 'OUTCOME', is_duplicate: true });
  });
});

/** What breaks: the process, at the n-th time that it looks at the clock after the yes. */
class Crash extends Error {}

describe('a process that breaks anywhere between the yes and the outcome', () => {
  it('leaves at most one effect, and whoever comes next finishes, refuses in doubt, or returns what was done', async () => {
    const { keyturn, root, ada } = place();
    const seen = new Set<string>();
    for (let at = 1; ; at += 1) {
      const prompt = await askedFor(keyturn, `append a notebook line "crash ${at}"`);
      let left = Number.POSITIVE_INFINITY;
      const clock = () => {
        left -= 1;
        if (left < 0) throw new Crash();
        return new Date();
      };
      const breaking = await Keyturn.open({ at: root, ...steady(clock) });
      await breaking.conversations.status({ correlation_id: prompt.correlation_id });
      left = at - 1;
      const ended = await yes(breaking, prompt).catch((error: unknown) => error);
      left = Number.POSITIVE_INFINITY;
      await breaking.close();
      // A yes that was taken is not taken twice: after a crash the conversation is resumed.
      const said = await yes(keyturn, prompt).catch((error: unknown) => error);
      const paused = !(said instanceof Error) && (said as AgentAnswer).kind === 'PAUSED';
      const done = paused
        ? await keyturn.conversations
            .resume({ correlation_id: prompt.correlation_id })
            .catch((error: unknown) => error)
        : said;
      if (paused) expect(count(`+ crash ${at}`)).toBe((done as AgentAnswer).kind === 'OUTCOME' ? 1 : 0);
      seen.add(done instanceof Refusal ? done.code : (done as AgentAnswer).kind);
      expect(count(`+ crash ${at}`)).toBeLessThanOrEqual(1);
      if (done instanceof Refusal) {
        expect(done.code).toBe('RUN_IN_DOUBT');
        await settle(prompt, ada);
      } else if ((done as AgentAnswer).kind === 'OUTCOME') expect(count(`+ crash ${at}`)).toBe(1);
      if (!(ended instanceof Error)) break;
    }
    expect([...seen]).toEqual(expect.arrayContaining(['OUTCOME', 'RUN_IN_DOUBT']));
    expect((await keyturn.ledger.rebuild({ write: false })).differences).toEqual([]);
  }, 600_000);

  /** A run that this very process claimed stays in doubt while it lives. An intent that never ran can be rejected. */
  async function settle(prompt: Confirm, signer: Signer) {
    const { keyturn } = place();
    const state = await keyturn.conversations.status({ correlation_id: prompt.correlation_id });
    const { intent_id, hash, runs } = await keyturn.intents.get({
      intent_id: state.plans[0]!.steps[0]!.intent_id!,
    });
    if (runs.length > 0) return;
    await keyturn.intents.reject({ intent_id, hash, reason: 'It never ran.', signer });
    expect(await keyturn.conversations.resume({ correlation_id: prompt.correlation_id })).toMatchObject({
      kind: 'REFUSED',
      reason_code: 'INTENT_REJECTED',
    });
    expect((await keyturn.conversations.status({ correlation_id: prompt.correlation_id })).next).toBeNull();
  }
});
