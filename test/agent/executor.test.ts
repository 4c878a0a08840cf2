import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, it } from 'vitest';
import type { Confirm } from '../../src/agent/answer.ts';
import { propose } from '../../src/journey/propose.ts';
import { Keyturn } from '../../src/keyturn.ts';
import { steady } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { agentPlace, askedFor, yes } from './agent-place.ts';
import { asCore, delayed, intentIdFor, yesAndBreak } from './by-hand.ts';

/** The executor believes nobody: neither what was proposed in its name, nor a yes that is not there any more. */

const place = agentPlace();

const intentOf = (prompt: Confirm) => intentIdFor(place().keyturn, prompt);

const effectOf = (text: string) => ({
  declared_goal: 'Append a notebook line',
  requested_actions: ['tool:note', 'simulation:note.add@1'],
  effect: { kind: 'tool', tool: 'note', arguments: { text } },
});

describe('an intent that somebody proposed beforehand under the id of a step', () => {
  const core = () => Keyturn.agentSigner('agent-core', join(place().root, '.keyturn/keys/agent-core.seed'));

  it('is what the step would have used: the id is known before', async () => {
    const { keyturn } = place();
    const prompt = await askedFor(keyturn, 'append a notebook line "known"');
    const intent_id = await intentOf(prompt);
    await yes(keyturn, prompt);
    expect((await keyturn.intent(intent_id)).status).toBe('succeeded');
  });

  it.each([
    ['with another effect', 'other', 'nobody in particular'],
    ['with the same effect, by somebody else', 'same', 'nobody in particular'],
    ['with another effect, and the key of the core', 'other', 'the core'],
    ['with the same effect and the key of the core, for nobody', 'same', 'the core'],
    ['with another effect and the key of the core, for the user', 'other', 'the core for ada'],
    ['with the same effect and the key of the core, for another user', 'same', 'the core for bob'],
  ])('%s, is not run', async (what, effect, who) => {
    const { keyturn, written } = place();
    const value = `forged ${what}`;
    const prompt = await askedFor(keyturn, `append a notebook line "${value}"`);
    const intent_id = await intentOf(prompt);
    const draft = { ...effectOf(effect === 'same' ? `+ ${value}` : '+ stolen'), intent_id };
    const for_whom = /^the core for (.+)$/.exec(who)?.[1];
    if (for_whom)
      await asCore(place().root, (context, signer) =>
        propose(context, { ...draft, issuer: 'agent-core' }, signer, for_whom),
      );
    else if (who === 'the core') await keyturn.propose({ ...draft, issuer: 'agent-core' }, core());
    else await keyturn.propose({ ...draft, issuer: 'ada' });
    expect(await yes(keyturn, prompt)).toMatchObject({ kind: 'REFUSED', reason_code: 'EFFECT_CHANGED' });
    expect((await keyturn.intent(intent_id)).runs).toEqual([]);
    expect(written()).not.toContain('+ stolen');
    expect(written()).not.toContain(`+ ${value}`);
    const { state } = await keyturn.agent.status(prompt.correlation_id);
    expect(state.plans[0]).toMatchObject({ state: 'FAILED', steps: [{ state: 'FAILED_TERMINAL' }] });
  });
});

describe('a process that breaks on its way from the yes to the run', () => {
  it('leaves no intent behind that is not dispatched: both are one commit', async () => {
    const { keyturn, root, written } = place();
    const states = new Set<string>();
    for (let at = 1; !states.has('SUCCEEDED'); at += 1) {
      const prompt = await askedFor(keyturn, `append a notebook line "breaks ${at}"`);
      await yesAndBreak(root, prompt, at);
      const { state } = await keyturn.agent.status(prompt.correlation_id);
      const step = state.plans[0]!.steps[0]!;
      const intent = await keyturn.intent(await intentOf(prompt)).catch(() => null);
      expect(intent === null, `${at}: ${step.state} with ${intent?.status}`).toBe(
        step.state === 'READY' || step.state === 'WAITING_CONFIRM',
      );
      states.add(step.state);
      // Before the dispatch nothing was lost: somebody goes on with it.
      if (step.state !== 'READY') continue;
      expect((await keyturn.agent.resume(prompt)).kind).toBe('OUTCOME');
      expect(written()).toContain(`+ breaks ${at}`);
    }
    expect([...states]).toEqual(['WAITING_CONFIRM', 'READY', 'EXECUTING', 'SUCCEEDED']);
  });
});

describe('a simulation that is disabled just before', () => {
  const disabled = (id: string) => () =>
    place().keyturn.simulations.disable({ id, reason: 'A test.', signer: place().ada });

  it('the dispatch is written is not dispatched, and that is recorded', async () => {
    const { keyturn, root } = place();
    const answer = await delayed(root, 'intent.proposed', disabled('hello.show'), (agent) =>
      agent.ask({ user_id: 'ada', utterance: 'greet everybody kindly' }),
    );
    expect(answer).toMatchObject({ kind: 'REFUSED', reason_code: 'SIMULATION_NOT_ACTIVE' });
    const { state } = await keyturn.agent.status(answer.correlation_id);
    expect(state.plans[0]).toMatchObject({ state: 'FAILED', steps: [{ state: 'FAILED_TERMINAL' }] });
    const { step_id } = state.plans[0]!.steps[0]!;
    const intent_id = await intentIdFor(keyturn, { correlation_id: answer.correlation_id, step_id });
    const kinds = (await keyturn.story(intent_id)).map(({ kind }) => kind);
    expect(kinds).toEqual(['intent.proposed']);
  });

  it('the run is claimed does not run, also where it is the template of the step', async () => {
    const { keyturn, root, written, ada } = place();
    // Its second step was disabled above, and a chain does not begin that cannot end.
    const change = { id: 'hello.show', reason: 'A test.', signer: ada };
    const refused = await keyturn.agent.ask({ user_id: 'ada', utterance: 'fill the weekly diary "half"' });
    expect(refused).toMatchObject({ kind: 'REFUSED', reason_code: 'ACTIVATION_DIFFERS' });
    await keyturn.simulations.register(change);
    await keyturn.simulations.activate(change);
    const prompt = await askedFor(keyturn, 'fill the weekly diary "claimed"');
    const answer = await delayed(root, 'execution.claimed', disabled('diary.week'), (agent) =>
      agent.confirm({ ...prompt, user_id: 'ada', text: 'yes' }),
    );
    expect(answer).toMatchObject({ kind: 'REFUSED', reason_code: 'SIMULATION_NOT_ACTIVE' });
    expect(written()).not.toContain('claimed');
    expect(await keyturn.rebuild({ write: false })).toMatchObject({ differences: [] });
  });
});

describe('a yes that vanishes after the dispatch was decided', () => {
  it('is missed at every look before the claim, and what it was for does not run', async () => {
    const codes = new Set<string>();
    // Timers ask for the time as well, so one sweep over the moments can miss the short one before the question.
    for (let sweep = 0; sweep < 10 && codes.size < 2; sweep += 1) {
      for (let moment = 1; ; moment += 1) {
        const { code, too_late } = await vanishing(moment, sweep);
        if (too_late) break;
        codes.add(code);
      }
    }
    // The proof of the rows finds it, and so does the question to the ledger that stands for the human at a terminal.
    expect([...codes].sort()).toEqual(['PROJECTION_DRIFT', 'declined']);
  });

  /** The process asks for the time between its steps; the attacker takes the yes away at the n-th one after dispatch. */
  async function vanishing(moment: number, sweep: number): Promise<{ code: string; too_late: boolean }> {
    const { keyturn, root, written } = place();
    const value = `vanished ${sweep} ${moment}`;
    const prompt = await askedFor(keyturn, `append a notebook line "${value}"`);
    const intent_id = await intentOf(prompt);
    const attack = attackOn(join(root, '.keyturn', 'store.db'), prompt, intent_id, moment);
    const other = await Keyturn.open({ at: root, ...steady(attack.clock) });
    const answer = await yes(other, prompt).catch((error: unknown) => error);
    await other.close();
    const done = attack.end();
    const story = await keyturn.story(intent_id);
    const is_claimed = story.some(({ kind }) => kind === 'execution.claimed');
    if (done === 'too late' || is_claimed) return { code: 'none', too_late: true };
    expect(answer).toMatchObject({ name: 'Refusal', code: 'AGENT_REFS_MISSING' });
    expect(written()).not.toContain(`+ ${value}`);
    // The ledger still has the yes. The row is put right from it, and a human decides about a step that never ran.
    await keyturn.rebuild({ write: true });
    await expectRefusal('RUN_IN_DOUBT', () => yes(keyturn, prompt));
    expect(written()).not.toContain(`+ ${value}`);
    const refused = story.findLast(({ kind }) => kind === 'execution.refused');
    // A no at the terminal, and what stands for it, is no refusal of the gate.
    return { code: refused ? String(refused.body.reason_code) : 'declined', too_late: false };
  }
});

function attackOn(path: string, { correlation_id, step_id }: Confirm, intent_id: string, moment: number) {
  const database = new DatabaseSync(path, { timeout: 0 });
  const isThere = (text: string, key: string) => database.prepare(text).get(key) !== undefined;
  const isDispatched = () =>
    isThere("SELECT 1 FROM agent_execution_ledger WHERE step_id = ? AND to_state = 'EXECUTING'", step_id);
  const isClaimed = () =>
    isThere(
      "SELECT 1 FROM projection WHERE name = 'intent' AND key = ? AND status NOT IN ('proposed', 'approved')",
      intent_id,
    );
  let left = moment;
  let done: 'not yet' | 'vanished' | 'too late' = 'not yet';
  const vanish = () => {
    try {
      if (!isDispatched()) return;
      left -= 1;
      if (left > 0) return;
      if (isClaimed()) {
        done = 'too late';
        return;
      }
      database
        .prepare(
          `UPDATE projection SET state = json_set(state, '$.plans[0].steps[0].confirmation', json('null'))
           WHERE name = 'agent' AND key = ?`,
        )
        .run(correlation_id);
      done = 'vanished';
    } catch {
      // The process is writing. There will be another moment.
    }
  };
  return {
    clock: () => {
      if (done === 'not yet') vanish();
      return new Date();
    },
    end: () => {
      database.close();
      return done === 'not yet' ? ('too late' as const) : done;
    },
  };
}
