import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { anotherHost, shared } from '../journey/postgres-host.ts';
import { postgres } from '../store/postgres-place.ts';
import { askedFor, furnish, prompted, writtenIn, yes } from './agent-place.ts';

/** The same core on a shared ledger: nothing in it knows which store it speaks to. */

const server = postgres();

describe('a conversation whose ledger is on a server', () => {
  it('leads from a goal through its yes to one effect, is undone, and is replayed', async () => {
    const p = await shared(server(), 'agent');
    await furnish(p);
    const { conversations } = p.keyturn;
    const prompt = await askedFor(p.keyturn, 'append a notebook line "milk"');
    expect(await yes(p.keyturn, prompt)).toMatchObject({ kind: 'OUTCOME', is_duplicate: false });
    expect(await yes(p.keyturn, prompt)).toMatchObject({ kind: 'OUTCOME', is_duplicate: true });
    const { correlation_id } = prompt;
    const back = prompted(await conversations.undo({ correlation_id, user_id: 'ada' }));
    expect(await yes(p.keyturn, back)).toMatchObject({ kind: 'OUTCOME', plan_state: 'COMPLETED' });
    expect(writtenIn(p.root)).toEqual(['+ milk', '~ milk']);
    expect(await conversations.ask({ user_id: 'ada', utterance: 'paint the moon green' })).toMatchObject({
      kind: 'MISSING_SIMULATION',
    });
    expect((await conversations.replay({ correlation_id })).decisions).toHaveLength(2);
    const { plans, moves } = await conversations.status({ correlation_id });
    expect(plans.map(({ state, steps }) => [state, ...steps.map((step) => step.state)])).toEqual([
      ['COMPLETED', 'SUCCEEDED'],
      ['COMPLETED', 'SUCCEEDED'],
    ]);
    expect(moves.length).toBeGreaterThan(12);
    expect(await p.keyturn.ledger.rebuild({ write: false })).toMatchObject({ differences: [] });
    await p.keyturn.ledger.verify({ deep: true });
  });

  it('that goes on at two hosts at once has its effect once', async () => {
    const p = await shared(server(), 'agent-hosts');
    await furnish(p);
    const other = await anotherHost(p);
    for (const name of ['note.sh', 'box', '.keyturn/keys'])
      cpSync(join(p.root, name), join(other.root, name), { recursive: true });
    const goal = {
      user_id: 'ada',
      utterance: 'greet everybody kindly',
      correlation_id: 'both',
      turn_id: 't',
    };
    const answers = await Promise.allSettled([
      p.keyturn.conversations.ask(goal),
      other.keyturn.conversations.ask(goal),
    ]);
    expect(answers.some(({ status }) => status === 'fulfilled')).toBe(true);
    const state = await other.keyturn.conversations.status({ correlation_id: 'both' });
    const { runs } = await p.keyturn.intents.get({ intent_id: state.plans[0]!.steps[0]!.intent_id! });
    expect(runs).toHaveLength(1);
    expect(await p.keyturn.ledger.rebuild({ write: false })).toMatchObject({ differences: [] });
  });
});
