import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { VERBS } from '../../src/face/verbs.ts';
import { agentPlace, askedFor, named, prompted, yes } from '../agent/agent-place.ts';
import { sealedCursor } from '../support/cursor.ts';
import { expectRefusal } from '../support/refusal.ts';

const place = agentPlace();

/** Every verb whose answer was looked at, so that none is forgotten. */
const looked = new Set<string>();

function fits(namespace: 'conversations' | 'simulations', verb: string, answer: unknown): void {
  looked.add(`${namespace}.${verb}`);
  const { output } = (VERBS[namespace] as Record<string, { output: () => z.ZodType }>)[verb]!;
  const { error } = z.safeParse(output(), answer);
  expect(error?.issues ?? [], `${namespace}.${verb}`).toEqual([]);
}

describe('an answer of a verb of the agent core', () => {
  it('is what the schema says, for each verb of simulations', async () => {
    const { keyturn, ada } = place();
    const { simulations } = keyturn;
    const change = { id: 'lamp.dim', reason: 'A test.', signer: ada };
    fits('simulations', 'get', await simulations.get({ id: 'lamp.dim' }));
    fits('simulations', 'register', await simulations.register(change));
    fits('simulations', 'bound', await simulations.bound({ id: 'lamp.dim' }));
    fits('simulations', 'activate', await simulations.activate(change));
    for (const id of ['lamp.dim', 'diary.week', 'note.add'])
      fits('simulations', 'get', await simulations.get({ id }));
    fits('simulations', 'list', await simulations.list());
    fits('simulations', 'check', await simulations.check({ id: 'lamp.dim' }));
    fits('simulations', 'try', await simulations.try({ utterance: 'dim the corridor lamp' }));
    fits('simulations', 'scaffold', await simulations.scaffold({ tool: 'say' }));
    fits('simulations', 'deprecate', await simulations.deprecate(change));
    fits('simulations', 'disable', await simulations.disable(change));
    await keyturn.conversations.ask({ user_id: 'ada', utterance: 'build a telescope' });
    const wished = await simulations.wishes();
    expect(wished.wishes).toHaveLength(1);
    fits('simulations', 'wishes', wished);
    fits('simulations', 'news', await simulations.news({ user_id: 'ada' }));
  });

  it('is what the schema says, for each verb of conversations and each kind of answer', async () => {
    const { keyturn, ada } = place();
    const { conversations } = keyturn;
    const user_id = 'ada';
    const kinds = new Set<string>();
    const asked = async (utterance: string) => {
      const turn = await conversations.ask({ user_id, utterance });
      kinds.add(turn.kind);
      fits('conversations', 'ask', turn);
      fits('conversations', 'status', await conversations.status({ correlation_id: turn.correlation_id }));
      return turn;
    };
    for (const utterance of ['build a telescope', 'greet everybody kindly', 'break the old engine', ''])
      await asked(utterance);
    const question = await asked('append a notebook line');
    const { correlation_id } = question;
    const answered = await conversations.answer({ correlation_id, user_id, text: 'milk' });
    fits('conversations', 'answer', answered);
    const prompt = prompted(answered);
    fits('conversations', 'get', await conversations.get({ correlation_id }));
    const said = { ...named(prompt), user_id };
    fits('conversations', 'confirm', await conversations.confirm({ ...said, text: 'perhaps' }));
    fits('conversations', 'confirm', await conversations.confirm({ ...said, text: 'yes' }));
    const undo = await conversations.undo({ correlation_id, user_id });
    fits('conversations', 'undo', undo);
    fits('conversations', 'confirm', await yes(keyturn, prompted(undo)));
    const chain = await askedFor(keyturn, 'fill the weekly diary "seen"');
    fits('conversations', 'confirm', await yes(keyturn, chain));
    fits('conversations', 'resume', await conversations.resume({ correlation_id: chain.correlation_id }));
    const no = prompted(await asked('append a notebook line "no"'));
    const cancelled = await conversations.confirm({ ...named(no), user_id, text: 'no' });
    kinds.add(cancelled.kind);
    fits('conversations', 'confirm', cancelled);
    const wipe = await yes(keyturn, prompted(await asked('wipe the whole archive "all"')));
    kinds.add(wipe.kind);
    fits('conversations', 'confirm', wipe);
    for (const id of [correlation_id, chain.correlation_id, wipe.correlation_id]) {
      fits('conversations', 'status', await conversations.status({ correlation_id: id }));
      fits('conversations', 'get', await conversations.get({ correlation_id: id }));
      fits('conversations', 'replay', await conversations.replay({ correlation_id: id }));
    }
    expect([...kinds].sort()).toEqual([
      'AWAITS_APPROVER',
      'CANCELLED',
      'CLARIFY',
      'CONFIRM',
      'MISSING_SIMULATION',
      'OUTCOME',
      'REFUSED',
    ]);
    fits('conversations', 'list', await conversations.list());
    fits('conversations', 'snapshot', await conversations.snapshot());
    const turn = { correlation_id, turn_id: 'turn-1', user_id, utterance: 'x' };
    fits('conversations', 'turnKey', await conversations.turnKey(turn));
    fits('conversations', 'slo', await conversations.slo());
    const until = new Date(Date.now() + 3_600_000).toISOString();
    await keyturn.people.assign({ name: 'ada', roles: ['builder'], reason: 'x', signer: ada });
    // How fast the machine is that runs the tests is not asked here.
    const breached = (await conversations.slo()).figures.filter(({ is_breached }) => is_breached);
    const figures = breached.map(({ figure }) => figure);
    fits('conversations', 'waive', await conversations.waive({ figures, until, reason: 'x', signer: ada }));
    fits('conversations', 'requireSlo', await conversations.requireSlo());
  });

  it('was looked at for every verb but the way to the executor, which has tests of its own', () => {
    const all = (['simulations', 'conversations'] as const).flatMap((namespace) =>
      Object.keys(VERBS[namespace]).map((verb) => `${namespace}.${verb}`),
    );
    expect(all.filter((verb) => !looked.has(verb))).toEqual(['conversations.dispatch']);
  });
});

describe('conversations.list', () => {
  const ids = ({ conversations }: { conversations: readonly { correlation_id: string }[] }) =>
    conversations.map(({ correlation_id }) => correlation_id);

  it('has the newest first, by user and by status, in pages that a cursor goes on with', async () => {
    const { conversations } = place().keyturn;
    for (const [i, user_id] of ['mia', 'tom', 'mia', 'tom', 'mia'].entries())
      await conversations.ask({
        user_id,
        correlation_id: `listed-${i}`,
        utterance: 'append a notebook line "x"',
      });
    await conversations.ask({
      user_id: 'mia',
      correlation_id: 'listed-5',
      utterance: 'append a notebook line',
    });
    expect(ids(await conversations.list({ limit: 3 }))).toEqual(['listed-5', 'listed-4', 'listed-3']);
    expect(ids(await conversations.list({ user: 'tom' }))).toEqual(['listed-3', 'listed-1']);
    expect(ids(await conversations.list({ user: 'mia', status: 'WAITING_CLARIFY' }))).toEqual(['listed-5']);
    const refused = await conversations.list({ status: 'REFUSED', limit: 2 });
    expect(ids(refused)).toEqual(['listed-4', 'listed-3']);
    const more = { status: 'REFUSED' as const, limit: 3, cursor: refused.next! };
    expect(ids(await conversations.list(more))).toEqual(['listed-2', 'listed-1', 'listed-0']);
    expect(await conversations.list({ user: 'nobody' })).toEqual({
      conversations: [],
      next: null,
      looked: 0,
    });
    expect(ids(await conversations.list({ text: 'LINE "X', user: 'tom' }))).toEqual(['listed-3', 'listed-1']);
    expect(ids(await conversations.list({ text: 'to' }))).toEqual(
      expect.arrayContaining(['listed-3', 'listed-1']),
    );
    expect(await conversations.list({ text: 'no such text' })).toMatchObject({
      conversations: [],
      next: null,
    });
  });

  it('moves a conversation to the status that it comes to', async () => {
    const { keyturn } = place();
    const prompt = await askedFor(keyturn, 'append a notebook line "moved"');
    const is = async (status: 'WAITING_CONFIRM' | 'COMPLETED') =>
      ids(await keyturn.conversations.list({ status })).includes(prompt.correlation_id);
    expect([await is('WAITING_CONFIRM'), await is('COMPLETED')]).toEqual([true, false]);
    const { correlation_id } = prompt;
    const { simulation } = (await keyturn.conversations.status({ correlation_id })).plans[0]!;
    expect(ids(await keyturn.conversations.list({ text: simulation.toUpperCase() }))).toContain(
      correlation_id,
    );
    await yes(keyturn, prompt);
    expect([await is('WAITING_CONFIRM'), await is('COMPLETED')]).toEqual([false, true]);
    expect(await keyturn.ledger.rebuild({ write: false })).toMatchObject({ differences: [] });
  });

  it('ends at the times that are asked for', async () => {
    const { conversations } = place().keyturn;
    const [newest, before] = (await conversations.list({ limit: 2 })).conversations;
    expect(ids(await conversations.list({ since: newest!.begun_at }))).toEqual([newest!.correlation_id]);
    expect(ids(await conversations.list({ until: newest!.begun_at, limit: 1 }))).toEqual([
      before!.correlation_id,
    ]);
    expect(ids(await conversations.list({ since: '2999-01-01T00:00:00.000Z' }))).toEqual([]);
  });

  it('refuses a cursor of another list, one from the future, and what is no filter', async () => {
    const { conversations, intents, system } = place().keyturn;
    const { next } = await conversations.list({ user: 'mia', limit: 1 });
    const { origin } = await system.get();
    const sealed = (seq: number) => sealedCursor('conversations', origin, seq, { user: 'mia' });
    expect(sealed(Number.parseInt(next!.split('-')[0]!, 36))).toBe(next);
    await expectRefusal('CURSOR_INVALID', () =>
      conversations.list({ user: 'mia', cursor: sealed(1_000_000) }),
    );
    for (const request of [{ cursor: next! }, { user: 'tom', cursor: next! }, { cursor: '0-0' }])
      await expectRefusal('CURSOR_INVALID', () => conversations.list(request));
    await expectRefusal('CURSOR_INVALID', () => intents.list({ cursor: next! }));
    for (const bad of [{ status: 'done' }, { limit: 0 }, { text: '' }, { user_id: 'mia' }])
      await expectRefusal('SHAPE_INVALID', () => conversations.list(bad as never));
  });
});
