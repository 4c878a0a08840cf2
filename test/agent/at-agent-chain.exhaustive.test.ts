import { mkdirSync, renameSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AgentAnswer, Confirm, Outcome } from '../../src/agent/answer-shape.ts';
import { Refusal } from '../../src/refusal.ts';
import { expectRefusal } from '../support/refusal.ts';
import { agentPlace, askedFor, prompted, SIMULATIONS, words, writeSimulation, yes } from './agent-place.ts';

/** 003 section 3.2: several steps, one a turn, each with its own yes, and undone in reverse. */

const place = agentPlace();

function outcome(answer: AgentAnswer): Outcome {
  if (answer.kind !== 'OUTCOME') throw new Error(`expected an outcome, got ${JSON.stringify(answer)}`);
  return answer;
}

const states = async (correlation_id: string, plan = 0) => {
  const state = await place().keyturn.conversations.status({ correlation_id });
  return state.plans[plan]!.steps.map((step) => step.state);
};

describe('a plan of several steps', () => {
  it('runs one step a turn, in order, and asks for a yes before each impactful one', async () => {
    const { keyturn, written } = place();
    const first = await askedFor(keyturn, 'fill the weekly diary "w"');
    const { correlation_id } = first;
    expect(first.user_visible_text).toContain('w one');
    const one = outcome(await yes(keyturn, first));
    expect(one).toMatchObject({ plan_state: 'PAUSED', next: { kind: 'PAUSED' } });
    expect(one.outcome.next_step).toBe(one.next!.step_id);
    expect(await states(correlation_id)).toEqual(['SUCCEEDED', 'PENDING', 'PENDING']);
    expect(written()).toContain('+ w one');

    const two = outcome(await keyturn.conversations.resume({ correlation_id }));
    expect(two).toMatchObject({ plan_state: 'WAITING_CONFIRM', next: { kind: 'CONFIRM' } });
    expect(written()).not.toContain('+ w two');
    // A yes that was meant for the first prompt does not confirm the third step.
    expect((await yes(keyturn, first)).kind).toBe('CONFIRM');
    await expectRefusal('CLARIFICATION_NEEDED', () =>
      keyturn.conversations.confirm({ correlation_id, plan_id: first.plan_id, user_id: 'ada', text: 'yes' }),
    );
    expect(written()).not.toContain('+ w two');

    const three = outcome(
      await yes(keyturn, prompted(await keyturn.conversations.resume({ correlation_id }))),
    );
    expect(three).toMatchObject({ plan_state: 'COMPLETED', next: null, outcome: { next_step: null } });
    expect(written().filter((line) => line.startsWith('+ w'))).toEqual(['+ w one', '+ w two']);
    expect((await keyturn.conversations.replay({ correlation_id })).decisions).toHaveLength(3);
  });

  it('stops at the first failure, and skips what would have followed', async () => {
    const { keyturn } = place();
    const first = await askedFor(keyturn, 'tear the weekly diary "t"');
    const { correlation_id } = first;
    await yes(keyturn, first);
    const failed = outcome(await keyturn.conversations.resume({ correlation_id }));
    expect(failed).toMatchObject({ plan_state: 'FAILED', reason_code: 'TOOL_EXIT_NONZERO', next: null });
    expect(await states(correlation_id)).toEqual(['SUCCEEDED', 'FAILED_RETRYABLE', 'SKIPPED']);
    expect(await keyturn.conversations.resume({ correlation_id })).toMatchObject({ is_duplicate: true });
  });

  it('goes on in another process from what the ledger says', async () => {
    const p = place();
    const first = await askedFor(p.keyturn, 'fill the weekly diary "r"');
    const { correlation_id } = first;
    await yes(p.keyturn, first);
    const other = await p.again();
    expect(outcome(await other.conversations.resume({ correlation_id })).plan_state).toBe('WAITING_CONFIRM');
    expect(await states(correlation_id)).toEqual(['SUCCEEDED', 'SUCCEEDED', 'WAITING_CONFIRM']);
  });

  it('commits a step once when two processes resume it together', async () => {
    const p = place();
    const first = await askedFor(p.keyturn, 'fill the weekly diary "p"');
    const { correlation_id } = first;
    await yes(p.keyturn, first);
    const other = await p.again();
    const both = await Promise.allSettled([
      p.keyturn.conversations.resume({ correlation_id }),
      other.conversations.resume({ correlation_id }),
    ]);
    const lost = both.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    for (const reason of lost) {
      expect(reason).toBeInstanceOf(Refusal);
      expect(['AGENT_TRANSITION_ILLEGAL', 'RUN_IN_DOUBT']).toContain(reason.code);
    }
    const { moves: ledger } = await p.keyturn.conversations.status({ correlation_id });
    const second = ledger.filter(({ to_state }) => to_state === 'EXECUTING');
    expect(second.length).toBe(2);
    expect(new Set(second.map(({ step_id }) => step_id)).size).toBe(2);
  });

  it('stops when its template is disabled on the way', async () => {
    const { keyturn, ada, root, written } = place();
    const diary = SIMULATIONS.find((one) => (one as { id: string }).id === 'diary.week') as object;
    writeSimulation(root, {
      ...diary,
      id: 'diary.month',
      phrases: { en: ['compose the monthly chronicle'] },
      summary: { en: 'Compose the monthly chronicle' },
    });
    const change = { id: 'diary.month', reason: 'A test.', signer: ada };
    await keyturn.simulations.register(change);
    await keyturn.simulations.activate(change);
    const first = await askedFor(keyturn, 'compose the monthly chronicle "m"');
    await yes(keyturn, first);
    await keyturn.simulations.disable(change);
    const { correlation_id } = first;
    const stopped = await keyturn.conversations.resume({ correlation_id });
    expect(stopped).toMatchObject({ kind: 'REFUSED', reason_code: 'SIMULATION_NOT_ACTIVE' });
    expect(await states(correlation_id)).toEqual(['SUCCEEDED', 'FAILED_TERMINAL', 'SKIPPED']);
    expect(written()).not.toContain('+ m two');
  });
});

describe('undoing a plan', () => {
  it('runs the rollback simulation of each step, the last one first, each with its own yes', async () => {
    const { keyturn, written } = place();
    let answer: AgentAnswer = await askedFor(keyturn, 'fill the weekly diary "u"');
    const { correlation_id } = answer;
    while (answer.kind === 'CONFIRM' || (answer.kind === 'OUTCOME' && answer.next !== null))
      answer =
        answer.kind === 'CONFIRM'
          ? await yes(keyturn, answer)
          : await keyturn.conversations.resume({ correlation_id });
    expect(outcome(answer).plan_state).toBe('COMPLETED');

    const last = prompted(await keyturn.conversations.undo({ correlation_id, user_id: 'ada' }));
    expect(last.user_visible_text).toContain('u two');
    const half = outcome(await yes(keyturn, last));
    expect(half.next).toMatchObject({ kind: 'CONFIRM' });
    const whole = outcome(await yes(keyturn, prompted(half.next as AgentAnswer)));
    expect(whole.plan_state).toBe('COMPLETED');
    expect(written().filter((line) => line.includes(' u '))).toEqual([
      '+ u one',
      '+ u two',
      '~ u two',
      '~ u one',
    ]);
    const state = await keyturn.conversations.status({ correlation_id });
    expect(state.plans[1]!.rolls_back).toBe(state.plans[0]!.plan_id);
    const again = await expectRefusal('ROLLBACK_NOT_DUE', () =>
      keyturn.conversations.undo({ correlation_id, user_id: 'ada' }),
    );
    expect(again.message).toContain('undone before');
    expect((await keyturn.conversations.replay({ correlation_id })).decisions).toHaveLength(5);
  });

  it('undoes only what was done, also after a failure', async () => {
    const { keyturn, written } = place();
    const first = await askedFor(keyturn, 'tear the weekly diary "f"');
    const { correlation_id } = first;
    await yes(keyturn, first);
    await keyturn.conversations.resume({ correlation_id });
    const undo = prompted(await keyturn.conversations.undo({ correlation_id, user_id: 'ada' }));
    expect(outcome(await yes(keyturn, undo)).plan_state).toBe('COMPLETED');
    expect(written().filter((line) => line.includes(' f '))).toEqual(['+ f first', '~ f first']);
  });

  it('a no does not end it: it can be asked for again, under other names, and is done once', async () => {
    const { keyturn, written } = place();
    const done = await yes(keyturn, await askedFor(keyturn, 'append a notebook line "nil"'));
    const { correlation_id } = outcome(done);
    const undo = () => keyturn.conversations.undo({ correlation_id, user_id: 'ada' });
    const prompts: Confirm[] = [];
    for (let i = 0; i < 3; i += 1) {
      prompts.push(prompted(await undo()));
      if (i === 2) break;
      expect(await words(keyturn, prompts[i]!, 'no')).toMatchObject({ kind: 'CANCELLED' });
    }
    expect(new Set(prompts.map(({ plan_id }) => plan_id)).size).toBe(3);
    expect(new Set(prompts.map(({ step_id }) => step_id)).size).toBe(3);
    // A yes to a prompt that was declined does nothing.
    await yes(keyturn, prompts[0]!);
    expect(written()).not.toContain('~ nil');
    expect(outcome(await yes(keyturn, prompts[2]!)).plan_state).toBe('COMPLETED');
    await expectRefusal('ROLLBACK_NOT_DUE', undo);
    expect(written().filter((line) => line === '~ nil')).toHaveLength(1);
    expect((await keyturn.conversations.replay({ correlation_id })).decisions).toHaveLength(2);
    expect((await keyturn.ledger.rebuild({ write: false })).differences).toEqual([]);
  });

  it('after a failure half way only the rest is undone', async () => {
    const { keyturn, written, root } = place();
    let answer: AgentAnswer = await askedFor(keyturn, 'fill the weekly diary "h"');
    const { correlation_id } = answer;
    answer = await yes(keyturn, prompted(answer));
    answer = outcome(await keyturn.conversations.resume({ correlation_id })).next as AgentAnswer;
    await yes(keyturn, prompted(answer));
    const undo = async () => prompted(await keyturn.conversations.undo({ correlation_id, user_id: 'ada' }));
    const half = outcome(await yes(keyturn, await undo()));
    // The tool cannot write where a folder is.
    const [lines, aside] = [join(root, 'box', 'lines'), join(root, 'aside')];
    renameSync(lines, aside);
    mkdirSync(lines);
    const failed = outcome(await yes(keyturn, prompted(half.next as AgentAnswer)));
    expect(failed.plan_state).toBe('FAILED');
    rmdirSync(lines);
    renameSync(aside, lines);
    const rest = await undo();
    expect(rest.user_visible_text).toContain('h one');
    expect(outcome(await yes(keyturn, rest))).toMatchObject({ plan_state: 'COMPLETED', next: null });
    expect(written().filter((line) => line.startsWith('~ h '))).toEqual(['~ h two', '~ h one']);
  });

  it('is refused where nothing was done', async () => {
    const { keyturn } = place();
    const { correlation_id } = await askedFor(keyturn, 'append a notebook line "never"');
    await expectRefusal('ROLLBACK_NOT_DUE', () =>
      keyturn.conversations.undo({ correlation_id, user_id: 'ada' }),
    );
    await expectRefusal('ACCESS_SCOPE_VIOLATION', () =>
      keyturn.conversations.undo({ correlation_id, user_id: 'bob' }),
    );
  });
});
