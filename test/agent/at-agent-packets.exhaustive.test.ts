import { describe, expect, it } from 'vitest';
import { turnKey } from '../../src/agent/turn.ts';
import type { SimulationMatchPacket } from '../../src/finder/packet.ts';
import { intakeLimits } from '../../src/limits.ts';
import { newestOf, objectOf } from '../support/ledger.ts';
import { expectRefusal } from '../support/refusal.ts';
import { agentPlace, kindsOf, prompted, writeSimulation, yes } from './agent-place.ts';

/** What happens on the packets that lead to no plan: a question, a refusal, and a wish for what does not exist. */

let now = Date.parse('2026-03-02T12:00:00.000Z');
const place = agentPlace(() => new Date(now));
const HOUR_MS = 3_600_000;

describe('AT-AGENT-06-clarify-one-question-rule', () => {
  it('one question is relayed word by word, and nothing else happens', async () => {
    const p = place();
    const asked = await p.keyturn.conversations.ask({ user_id: 'ada', utterance: 'append a notebook line' });
    if (asked.kind !== 'CLARIFY' || asked.packet.kind !== 'CLARIFY') throw new Error(asked.kind);
    expect(asked.question).toBe('Which words?');
    expect(asked.question).toBe(asked.packet.question);
    expect(asked).toMatchObject({ attempt_index: 1, user_visible_text: asked.packet.question });
    expect(await kindsOf(p, `agent:${asked.correlation_id}`)).toEqual(['agent.received']);
  });

  it('the answer leads to the plan, with the goal as it was said first', async () => {
    const { keyturn, written } = place();
    const { correlation_id } = await keyturn.conversations.ask({
      user_id: 'ada',
      utterance: 'append a notebook line',
    });
    const prompt = prompted(
      await keyturn.conversations.answer({ correlation_id, user_id: 'ada', text: '"answered"' }),
    );
    expect(prompt.user_visible_text).toContain('answered');
    const state = await keyturn.conversations.status({ correlation_id });
    const goal = JSON.parse(Buffer.from(await objectOf(keyturn, state.turn.goal)).toString());
    expect(goal).toMatchObject({
      raw_user_utterance: 'append a notebook line',
      attempt_counter: 1,
      confirm_state: 'REQUIRED',
      normalized_intent: { answer: { missing_field: 'text', text: '"answered"' } },
    });
    await yes(keyturn, prompt);
    expect(written()).toContain('+ answered');
  });

  it('two questions at most, then the finder refuses, and so does the core', async () => {
    const p = place();
    const { keyturn } = p;
    const { correlation_id } = await keyturn.conversations.ask({
      user_id: 'ada',
      utterance: 'append a notebook line',
    });
    const long = 'x'.repeat(200);
    const again = await keyturn.conversations.answer({ correlation_id, user_id: 'ada', text: long });
    expect(again).toMatchObject({ kind: 'CLARIFY', attempt_index: 2 });
    const last = await keyturn.conversations.answer({ correlation_id, user_id: 'ada', text: long });
    expect(last).toMatchObject({ kind: 'REFUSED', reason_code: 'CLARIFY_EXCEEDED' });
    expect(await kindsOf(p, `agent:${correlation_id}`)).toEqual(Array(3).fill('agent.received'));
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () =>
      keyturn.conversations.answer({ correlation_id, user_id: 'ada', text: 'more' }),
    );
    expect(
      (await keyturn.conversations.replay({ correlation_id })).decisions.map(({ decision }) => decision),
    ).toEqual(Array(3).fill('NO_DISPATCH'));
  });

  it('an answer that is sent again is taken once, and nobody answers for somebody else', async () => {
    const { keyturn } = place();
    const { correlation_id } = await keyturn.conversations.ask({
      user_id: 'ada',
      utterance: 'append a notebook line',
    });
    await expectRefusal('ACCESS_SCOPE_VIOLATION', () =>
      keyturn.conversations.answer({ correlation_id, user_id: 'bob', text: 'mine' }),
    );
    const answer = { correlation_id, user_id: 'ada', turn_id: 't2', text: '"same"' };
    const first = prompted(await keyturn.conversations.answer(answer));
    expect(prompted(await keyturn.conversations.answer(answer)).plan_id).toBe(first.plan_id);
  });

  it('a question of another finder cannot be continued without its packet', async () => {
    const { keyturn } = place();
    const turn = { user_id: 'ada', utterance: 'append a notebook line', turn_id: 'turn-1' };
    const { packet } = await keyturn.conversations.ask({ ...turn, correlation_id: 'ours' });
    const other = { ...packet, correlation_id: 'theirs', candidate_context_ref: 'a'.repeat(64) };
    expect((await keyturn.conversations.ask({ ...turn, correlation_id: 'theirs', packet: other })).kind).toBe(
      'CLARIFY',
    );
    await expectRefusal('CLARIFICATION_NEEDED', () =>
      keyturn.conversations.answer({ correlation_id: 'theirs', user_id: 'ada', text: 'x' }),
    );
  });
});

describe('a question about nothing', () => {
  it('is refused when it is answered, whatever stored object it names', async () => {
    const { keyturn } = place();
    const turn = { user_id: 'ada', utterance: 'append a notebook line', turn_id: 'turn-1' };
    const { packet } = await keyturn.conversations.ask({ ...turn, correlation_id: 'question' });
    const state = await keyturn.conversations.status({ correlation_id: 'question' });
    const objects = [state.turn.goal, state.turn.finder_packet];
    for (const [i, candidate_context_ref] of objects.entries()) {
      const correlation_id = `odd-${i}`;
      const odd = { ...packet, correlation_id, candidate_context_ref };
      expect((await keyturn.conversations.ask({ ...turn, correlation_id, packet: odd })).kind).toBe(
        'CLARIFY',
      );
      await expectRefusal('FINDER_PACKET_INVALID', () =>
        keyturn.conversations.answer({ correlation_id, user_id: 'ada', text: 'x' }),
      );
    }
  });
});

describe('a match of another finder', () => {
  const utterance = 'append a notebook line "milk"';
  const said = (correlation_id: string) => ({
    user_id: 'ada',
    utterance,
    correlation_id,
    turn_id: 'turn-1',
  });
  /** What our own finder would say in that conversation. */
  async function matchIn(correlation_id: string): Promise<SimulationMatchPacket> {
    const { packet } = await place().keyturn.conversations.ask(said(`template-${correlation_id}`));
    if (packet.kind !== 'SIMULATION_MATCH') throw new Error(packet.kind);
    return { ...packet, correlation_id, idempotency_key: turnKey(said(correlation_id)) };
  }

  it('is taken as it is when it is about what was said', async () => {
    const packet = await matchIn('honest');
    expect(prompted(await place().keyturn.conversations.ask({ ...said('honest'), packet })).kind).toBe(
      'CONFIRM',
    );
  });

  const span = { field: 'text', source: 'utterance', start: 24, end: 28, text: 'milk', value: 'milk' };
  it.each([
    ['made for other words', { idempotency_key: 'a'.repeat(64) }],
    ['that makes the key of a step in another way', { idempotency_recipe_ref: 'whatever' }],
    ['of another family', { intent_family: 'other' }],
    ['that is not sure', { confidence_bp: 8999 }],
    ['with words beyond the end', { evidence_spans: [{ ...span, start: 9000, end: 9004 }] }],
    ['with words that nobody said', { evidence_spans: [{ ...span, text: 'EVIL' }] }],
    ['with no words at all', { evidence_spans: [{ ...span, start: 0, end: 0, text: '', value: 'EVIL' }] }],
    ['with an answer that nobody gave', { evidence_spans: [{ ...span, source: 'answer' }] }],
    ['with an earlier answer that nobody gave', { evidence_spans: [{ ...span, source: 'earlier' }] }],
  ])('%s is refused, and nothing is written', async (what, over) => {
    const { keyturn } = place();
    const correlation_id = what.replaceAll(' ', '-');
    const packet = { ...(await matchIn(correlation_id)), ...over };
    await expectRefusal('FINDER_PACKET_INVALID', () =>
      keyturn.conversations.ask({ ...said(correlation_id), packet }),
    );
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => keyturn.conversations.status({ correlation_id }));
  });

  it('that comes with an answer shows what the answer says', async () => {
    const { keyturn } = place();
    const turn = { ...said('answered'), utterance: 'append a notebook line' };
    await keyturn.conversations.ask(turn);
    const answer = { user_id: 'ada', correlation_id: 'answered', turn_id: 'turn-2', text: 'oat milk' };
    const idempotency_key = turnKey({ ...turn, turn_id: 'turn-2', clarify: { answer: answer.text } });
    const match = { ...(await matchIn('answered')), turn_id: 'turn-2', idempotency_key };
    const shown = (start: number, end: number) => ({
      ...match,
      confidence_bp: 7000,
      evidence_spans: [{ ...span, source: 'answer', start, end }],
    });
    await expectRefusal('FINDER_PACKET_INVALID', () =>
      keyturn.conversations.answer({ ...answer, packet: shown(0, 4) }),
    );
    expect(prompted(await keyturn.conversations.answer({ ...answer, packet: shown(4, 8) })).kind).toBe(
      'CONFIRM',
    );
  });

  it('that calls it HIGH needs an approver, though the definition does not', async () => {
    const { keyturn, written } = place();
    const packet = { ...(await matchIn('high')), risk_tier: 'HIGH' };
    const prompt = prompted(await keyturn.conversations.ask({ ...said('high'), packet }));
    expect((await yes(keyturn, prompt)).kind).toBe('AWAITS_APPROVER');
    expect(written()).not.toContain('+ milk');
  });
});

describe('a packet that refuses', () => {
  it('stops with the words of the finder, recorded and without a plan', async () => {
    const p = place();
    const refused = await p.keyturn.conversations.ask({ user_id: 'ada', utterance: 'append \u202e a line' });
    expect(refused).toMatchObject({ kind: 'REFUSED', reason_code: 'UTTERANCE_UNSAFE' });
    expect(await kindsOf(p, `agent:${refused.correlation_id}`)).toEqual(['agent.received']);
  });
});

describe('AT-AGENT-07-missing-simulation-escalates-to-dev-intake', () => {
  it('a wish is recorded once a day for each user, and ranked', async () => {
    const { keyturn } = place();
    const wish = { user_id: 'ada', utterance: 'launch a rocket towards mars' };
    expect(await keyturn.conversations.ask(wish)).toMatchObject({
      kind: 'MISSING_SIMULATION',
      intake: 'RECORDED',
    });
    expect(await keyturn.conversations.ask(wish)).toMatchObject({ intake: 'RECORDED_BEFORE' });
    expect(await keyturn.conversations.ask({ ...wish, user_id: 'bob' })).toMatchObject({
      intake: 'RECORDED',
    });
    now += 25 * HOUR_MS;
    expect(await keyturn.conversations.ask(wish)).toMatchObject({ intake: 'RECORDED' });
    const [first, ...others] = (await keyturn.simulations.wishes()).wishes;
    expect([first!, ...others].map(({ worthiness_bp }) => worthiness_bp)).toEqual(
      [first!, ...others].map(({ worthiness_bp }) => worthiness_bp).sort((a, b) => b - a),
    );
    const rocket = [first!, ...others].find(({ wish }) => wish?.includes('rocket'));
    expect(rocket).toMatchObject({ count: 3, users: 2, category: 'NEW_CAPABILITY' });
  });

  it('what exists as a draft is linked to it', async () => {
    const { keyturn } = place();
    const linked = await keyturn.conversations.ask({ user_id: 'ada', utterance: 'dim the corridor lamp' });
    expect(linked).toMatchObject({ intake: 'LINKED_TO_DRAFT' });
    expect(
      (await keyturn.simulations.wishes()).wishes.some(({ linked_draft }) => linked_draft === 'lamp.dim'),
    ).toBe(true);
  });

  it('whoever wished for it is told once when it is active', async () => {
    const { keyturn, ada, root } = place();
    const wish = { user_id: 'cleo', utterance: 'polish all brass trumpets' };
    await keyturn.conversations.ask(wish);
    expect((await keyturn.simulations.news({ user_id: 'cleo' })).news).toEqual([]);
    writeSimulation(root, {
      id: 'trumpet.polish',
      version: 1,
      family: 'notes',
      summary: { en: 'Polish all brass trumpets' },
      risk: 'LOW',
      impactful: false,
      side_effecting: false,
      irreversible: false,
      access_action: 'trumpet.polish',
      effect: { tool: 'say', arguments: { word: 'shiny' } },
    });
    const change = { id: 'trumpet.polish', reason: 'Somebody wished for it.', signer: ada };
    await keyturn.simulations.register(change);
    expect((await keyturn.simulations.news({ user_id: 'cleo' })).news).toEqual([]);
    await keyturn.simulations.activate(change);
    const { news } = await keyturn.conversations.ask({
      user_id: 'cleo',
      utterance: 'greet everybody kindly',
    });
    expect(news).toMatchObject([{ simulation: 'trumpet.polish' }]);
    expect((await keyturn.simulations.news({ user_id: 'cleo' })).news).toEqual([]);
    expect((await keyturn.simulations.news({ user_id: 'ada' })).news).toEqual([]);
  });

  it('one user has a few new wishes an hour, the tenant some more, and a day has an end', async () => {
    const { keyturn } = place();
    now += 30 * HOUR_MS;
    let asked = 0;
    const wish = async (user_id: string) => {
      asked += 1;
      const answer = await keyturn.conversations.ask({
        user_id,
        utterance: `juggle ${WORDS[asked]} pumpkins overseas`,
      });
      return answer.kind === 'MISSING_SIMULATION' ? answer.intake : answer.kind;
    };
    for (let i = 0; i < intakeLimits.user_hour; i += 1) expect(await wish('dora')).toBe('RECORDED');
    expect(await wish('dora')).toBe('LIMITED');
    for (let i = intakeLimits.user_hour; i < intakeLimits.tenant_hour; i += 1)
      expect(await wish(`user-${i}`)).toBe('RECORDED');
    expect(await wish('late')).toBe('LIMITED');
    now += 2 * HOUR_MS;
    expect(await wish('late')).toBe('RECORDED');
    const recorded = async () =>
      (await keyturn.simulations.wishes()).wishes.filter(
        ({ last_at }) => now - Date.parse(last_at) < 24 * HOUR_MS,
      );
    for (let i = 0; (await recorded()).length < intakeLimits.tenant_day; i += 1) {
      if (i % 15 === 0) now += 1.1 * HOUR_MS;
      expect(await wish(`many-${i}`)).toBe('RECORDED');
    }
    now += 1.1 * HOUR_MS;
    expect(await wish('too-many')).toBe('LIMITED');
    // Sent again, it is answered as it was.
    const turn = { user_id: 'eve', utterance: 'juggle zzyx pumpkins', correlation_id: 'limit', turn_id: 't' };
    for (let i = 0; i < 2; i += 1)
      expect(await keyturn.conversations.ask(turn)).toMatchObject({
        intake: 'LIMITED',
        reason_code: 'INTAKE_LIMITED',
      });
  });
});

const LETTERS = 'bcdfghjklmnprstvwz';
const WORDS = Array.from({ length: 200 }, (_, i) => {
  const letter = (k: number) => LETTERS[Math.floor(i / 18 ** k) % 18]!;
  return `${letter(0)}a${letter(1)}o${letter(0)}i${letter(1)}u${letter(0)}k`;
});

describe('AT-AGENT-12-missing-simulation-never-calls-simulation-executor', () => {
  it('a missing simulation leaves the turn and the wish behind: no plan, no intent, no run', async () => {
    const p = place();
    now += 48 * HOUR_MS;
    const before = (await newestOf(p.keyturn, 1))[0]!.seq;
    const missing = await p.keyturn.conversations.ask({
      user_id: 'ada',
      utterance: 'knit a woollen submarine',
    });
    expect(missing.kind).toBe('MISSING_SIMULATION');
    const kinds = (await newestOf(p.keyturn, 20)).filter(({ seq }) => seq > before).map(({ kind }) => kind);
    expect(kinds).toEqual(['agent.received', 'intake.recorded']);
    const { correlation_id } = missing;
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => p.keyturn.conversations.resume({ correlation_id }));
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () =>
      p.keyturn.conversations.confirm({
        correlation_id,
        plan_id: 'a'.repeat(64),
        user_id: 'ada',
        text: 'yes',
      }),
    );
    expect((await p.keyturn.conversations.replay({ correlation_id })).decisions).toMatchObject([
      { decision: 'NO_DISPATCH', plan_id: null },
    ]);
  });
});
