import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Confirm } from '../../src/agent/answer-shape.ts';
import { parseDraft } from '../../src/intent/envelope.ts';
import { propose } from '../../src/journey/propose.ts';
import { Keyturn } from '../../src/keyturn.ts';
import type { Store } from '../../src/store/store.ts';
import { entriesAbout } from '../support/ledger.ts';
import { steady } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { agentPlace, askedFor, named, prompted, SIMULATIONS, writeSimulation, yes } from './agent-place.ts';
import { asCore, conversationsIn, delayed, intentIdFor, yesAndBreak } from './by-hand.ts';

/** The executor relies on no caller: neither on what was proposed in its name, nor on a yes that is not there any more. */

const place = agentPlace();

const intentOf = (prompt: Confirm) => intentIdFor(place().keyturn, prompt);

const effectOf = (text: string) => ({
  declared_goal: 'Append a notebook line',
  requested_actions: ['tool:note', 'simulation:note.add@1'],
  effect: { kind: 'tool' as const, tool: 'note', arguments: { text } },
});

describe('an intent that somebody proposed beforehand under the id of a step', () => {
  const core = () => Keyturn.agentSigner('agent-core', join(place().root, '.keyturn/keys/agent-core.seed'));

  it('is what the step would have used: the id is known before', async () => {
    const { keyturn } = place();
    const prompt = await askedFor(keyturn, 'append a notebook line "known"');
    const intent_id = await intentOf(prompt);
    await yes(keyturn, prompt);
    expect((await keyturn.intents.get({ intent_id })).status).toBe('succeeded');
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
        propose(context, parseDraft({ ...draft, issuer: 'agent-core' }), signer, for_whom),
      );
    else if (who === 'the core')
      await keyturn.intents.propose({ ...draft, issuer: 'agent-core', signer: core() });
    else await keyturn.intents.propose({ ...draft, issuer: 'ada' });
    expect(await yes(keyturn, prompt)).toMatchObject({ kind: 'REFUSED', reason_code: 'EFFECT_CHANGED' });
    expect((await keyturn.intents.get({ intent_id })).runs).toEqual([]);
    expect(written()).not.toContain('+ stolen');
    expect(written()).not.toContain(`+ ${value}`);
    const state = await keyturn.conversations.status({ correlation_id: prompt.correlation_id });
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
      const state = await keyturn.conversations.status({ correlation_id: prompt.correlation_id });
      const step = state.plans[0]!.steps[0]!;
      const intent = await keyturn.intents.get({ intent_id: await intentOf(prompt) }).catch(() => null);
      expect(intent === null, `${at}: ${step.state} with ${intent?.status}`).toBe(
        step.state === 'READY' || step.state === 'WAITING_CONFIRM',
      );
      states.add(step.state);
      // Before the dispatch nothing was lost: a caller can resume it.
      if (step.state !== 'READY') continue;
      expect((await keyturn.conversations.resume({ correlation_id: prompt.correlation_id })).kind).toBe(
        'OUTCOME',
      );
      expect(written()).toContain(`+ breaks ${at}`);
    }
    expect([...states]).toEqual(['WAITING_CONFIRM', 'READY', 'EXECUTING', 'SUCCEEDED']);
  });
});

describe('the way from a yes to its end', () => {
  /** What the user is told after a yes, and which entries each commit since the prompt has. */
  async function said(utterance: string) {
    const commits: string[][] = [];
    const { root } = place();
    const counting = (store: Store): Store => ({
      ...store,
      commit: (commit) => {
        commits.push(commit.events.map(({ kind }) => kind));
        return store.commit(commit);
      },
    });
    const answer = await asCore(
      root,
      async (context) => {
        const conversations = conversationsIn(root, context);
        const prompt = prompted(await conversations.ask({ user_id: 'ada', utterance }));
        return conversations.confirm({ ...named(prompt), user_id: 'ada', text: 'yes' });
      },
      counting,
    );
    return { answer, commits: commits.slice(1) };
  }

  const CONFIRMED = ['agent.confirmed', 'agent.moved', 'agent.moved'];

  it('from the goal to the recorded end takes six commits: a dispatch brings its intent and its order', async () => {
    const { commits } = await said('append a notebook line "six"');
    expect(commits).toEqual([
      CONFIRMED,
      ['intent.proposed', 'intent.delegated', 'order.given', 'agent.access', 'agent.moved', 'agent.moved'],
      ['capability.issued', 'execution.claimed'],
      ['execution.finished'],
      ['agent.moved', 'agent.moved'],
    ]);
  });

  it('proposes what needs an approver in the commit that waits for one', async () => {
    const { commits, answer } = await said('wipe the whole archive "one commit"');
    expect(answer.kind).toBe('AWAITS_APPROVER');
    expect(commits).toEqual([
      CONFIRMED,
      ['intent.proposed', 'intent.delegated', 'agent.access', 'agent.moved'],
    ]);
  });

  it('records in one commit what the policies do not accept, with their decision, and replays it', async () => {
    const { keyturn, root, ada, written } = place();
    const path = join(root, 'policies', 'no-notes.cedar');
    const about = '@id("no-notes") @version("1") @scope("intent") @rationale("A test.")';
    const rule = 'forbid (principal, action == Keyturn::Action::"submit", resource)';
    writeFileSync(path, `${about}\n${rule} when { context.proposer == "agent-core" };\n`);
    await keyturn.policies.activate({ reason: 'A test.', signer: ada });
    onTestFinished(async () => {
      rmSync(path);
      await keyturn.policies.activate({ reason: 'A test.', signer: ada });
    });
    const { commits, answer } = await said('append a notebook line "forbidden"');
    expect(answer).toMatchObject({ kind: 'REFUSED', reason_code: 'POLICY_DENIED' });
    const failed = ['intent.proposed', 'intent.refused', 'agent.access', 'agent.moved', 'agent.moved'];
    expect(commits).toEqual([CONFIRMED, failed]);
    expect(written()).not.toContain('+ forbidden');
    const { decisions } = await keyturn.conversations.replay({ correlation_id: answer.correlation_id });
    expect(decisions).toMatchObject([{ decision: 'NO_DISPATCH', reason_code: 'POLICY_DENIED' }]);
    // The answer stays the same: it is in the state of the step.
    expect(await keyturn.conversations.resume({ correlation_id: answer.correlation_id })).toMatchObject({
      kind: 'REFUSED',
      reason_code: 'POLICY_DENIED',
    });
  });
});

describe('an intent that cannot even be proposed', () => {
  it('fails its step each time it is asked for, and both are replayed', async () => {
    const { keyturn, root, ada } = place();
    const stairs = {
      ...(SIMULATIONS[0] as object),
      id: 'stairs.count',
      summary: { en: 'Count the garden stairs' },
      phrases: { en: ['count the garden stairs'] },
      ...{ impactful: false, side_effecting: false },
      // The tool takes a number, and the simulation gives it any words.
      effect: { tool: 'wait', arguments: { seconds: '{text}' } },
    };
    writeSimulation(root, stairs);
    const change = { id: stairs.id, reason: 'A test.', signer: ada };
    await keyturn.simulations.register(change);
    await keyturn.simulations.activate(change);
    const ask = { user_id: 'ada', utterance: 'count the garden stairs "many"', correlation_id: 'stairs' };
    for (const turn_id of ['turn-1', 'turn-2'])
      expect(await keyturn.conversations.ask({ ...ask, turn_id })).toMatchObject({
        kind: 'REFUSED',
        reason_code: 'ARGUMENT_INVALID',
      });
    const { decisions } = await keyturn.conversations.replay({ correlation_id: 'stairs' });
    expect(decisions.map(({ reason_code }) => reason_code)).toEqual(['ARGUMENT_INVALID', 'ARGUMENT_INVALID']);
  });
});

describe('a simulation that is disabled just before', () => {
  const disabled = (id: string) => () =>
    place().keyturn.simulations.disable({ id, reason: 'A test.', signer: place().ada });

  it('the dispatch is written is not dispatched, and that is recorded', async () => {
    const { keyturn, root } = place();
    const answer = await delayed(root, 'intent.proposed', disabled('hello.show'), (conversations) =>
      conversations.ask({ user_id: 'ada', utterance: 'greet everybody kindly' }),
    );
    expect(answer).toMatchObject({ kind: 'REFUSED', reason_code: 'SIMULATION_NOT_ACTIVE' });
    const state = await keyturn.conversations.status({ correlation_id: answer.correlation_id });
    expect(state.plans[0]).toMatchObject({ state: 'FAILED', steps: [{ state: 'FAILED_TERMINAL' }] });
    const { step_id } = state.plans[0]!.steps[0]!;
    const intent_id = await intentIdFor(keyturn, { correlation_id: answer.correlation_id, step_id });
    // It was decided anew from what is so now, and nothing is proposed that is not dispatched.
    expect(await entriesAbout(keyturn, intent_id)).toEqual([]);
    expect(
      (await keyturn.conversations.replay({ correlation_id: answer.correlation_id })).decisions,
    ).toMatchObject([{ decision: 'NO_DISPATCH', reason_code: 'SIMULATION_NOT_ACTIVE' }]);
  });

  it('the run is claimed does not run, also where it is the template of the step', async () => {
    const { keyturn, root, written, ada } = place();
    // Its second step was disabled above, and a chain does not begin that cannot end.
    const change = { id: 'hello.show', reason: 'A test.', signer: ada };
    const refused = await keyturn.conversations.ask({
      user_id: 'ada',
      utterance: 'fill the weekly diary "half"',
    });
    expect(refused).toMatchObject({ kind: 'REFUSED', reason_code: 'ACTIVATION_DIFFERS' });
    await keyturn.simulations.register(change);
    await keyturn.simulations.activate(change);
    const prompt = await askedFor(keyturn, 'fill the weekly diary "claimed"');
    const answer = await delayed(root, 'execution.claimed', disabled('diary.week'), (conversations) =>
      conversations.confirm({ ...named(prompt), user_id: 'ada', text: 'yes' }),
    );
    expect(answer).toMatchObject({ kind: 'REFUSED', reason_code: 'SIMULATION_NOT_ACTIVE' });
    expect(written()).not.toContain('claimed');
    expect(await keyturn.ledger.rebuild({ write: false })).toMatchObject({ differences: [] });
  });
});

describe('a yes that vanishes after the dispatch was decided', () => {
  it('is missed at every look before the claim, and what it was for does not run', async () => {
    const codes = new Set<string>();
    for (let moment = 1; ; moment += 1) {
      const { code, too_late } = await vanishing(moment);
      if (too_late) break;
      codes.add(code);
    }
    // The proof of the rows finds it.
    expect([...codes]).toEqual(['PROJECTION_DRIFT']);
  });

  /** The process asks for the time between its steps; the attacker takes the yes away at the n-th one after dispatch. */
  async function vanishing(moment: number): Promise<{ code: string; too_late: boolean }> {
    const { keyturn, root, written } = place();
    const value = `vanished ${moment}`;
    const prompt = await askedFor(keyturn, `append a notebook line "${value}"`);
    const intent_id = await intentOf(prompt);
    const attack = attackOn(join(root, '.keyturn', 'store.db'), prompt, intent_id, moment);
    const other = await Keyturn.open({ at: root, ...steady(attack.clock) });
    const answer = await yes(other, prompt).catch((error: unknown) => error);
    await other.close();
    const done = attack.end();
    const story = await entriesAbout(keyturn, intent_id);
    const is_claimed = story.some(({ kind }) => kind === 'execution.claimed');
    if (done === 'too late' || is_claimed) return { code: 'none', too_late: true };
    expect(answer).toMatchObject({ name: 'Refusal', code: 'AGENT_REFS_MISSING' });
    expect(written()).not.toContain(`+ ${value}`);
    // The ledger still has the yes. The row is put right from it, and a human decides about a step that never ran.
    await keyturn.ledger.rebuild({ write: true });
    await expectRefusal('RUN_IN_DOUBT', () => yes(keyturn, prompt));
    expect(written()).not.toContain(`+ ${value}`);
    const refused = story.findLast(({ kind }) => kind === 'execution.refused');
    return { code: String(refused?.body.reason_code), too_late: false };
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
