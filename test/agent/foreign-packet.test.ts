import { describe, expect, it } from 'vitest';
import { turnKey } from '../../src/agent/turn.ts';
import { createFinder } from '../../src/finder/finder.ts';
import type { SimulationMatchPacket } from '../../src/finder/packet.ts';
import { type Finder, Keyturn } from '../../src/keyturn.ts';
import { agentPlace, kindsOf, prompted, yes } from './agent-place.ts';

/** What the rules of this project did not find asks for a yes, also where the simulation needs none and the packet says so. */

const place = agentPlace();

/** Alone it runs at once: nothing in it needs a yes. */
const said = (correlation_id: string) => ({
  user_id: 'ada',
  correlation_id,
  turn_id: 'turn-1',
  utterance: 'greet everybody kindly',
});

async function packetIn(correlation_id: string): Promise<SimulationMatchPacket> {
  const { packet } = await place().keyturn.conversations.ask(said(`own-${correlation_id}`));
  const made = { ...packet, correlation_id, idempotency_key: turnKey(said(correlation_id)) };
  expect(made).toMatchObject({ kind: 'SIMULATION_MATCH', confirm_required: false });
  return made as SimulationMatchPacket;
}

/** No intent of this conversation exists: nothing was dispatched. */
async function expectNothingRan(correlation_id: string): Promise<void> {
  const { plans } = await place().keyturn.conversations.status({ correlation_id });
  expect(plans.flatMap(({ steps }) => steps.map(({ intent_id }) => intent_id))).toEqual([null]);
}

describe('a match that is handed over', () => {
  it('asks for a yes, though the rules would have run the same words at once', async () => {
    const { keyturn } = place();
    const packet = await packetIn('handed');
    const prompt = prompted(await keyturn.conversations.ask({ ...said('handed'), packet }));
    await expectNothingRan('handed');
    expect(await yes(keyturn, prompt)).toMatchObject({ kind: 'OUTCOME', plan_state: 'COMPLETED' });
  });

  it('is stored as it came, and a replay makes the same plan with the same yes of it', async () => {
    const { keyturn } = place();
    const packet = await packetIn('stored');
    const turn = await keyturn.conversations.ask({ ...said('stored'), packet });
    expect(turn.packet).toEqual(packet);
    await yes(keyturn, prompted(turn));
    const { decisions } = await keyturn.conversations.replay({ correlation_id: 'stored' });
    expect(decisions.at(-1)).toMatchObject({ decision: 'DISPATCH' });
  });
});

describe('a finder that stands in for that of the project', () => {
  it('asks for a yes, even if it says what the finder of the project says', async () => {
    const own = createFinder();
    const finder: Finder = { find: (request) => own.find(request) };
    const keyturn = await Keyturn.open({ at: place().root, finder });
    try {
      const turn = await keyturn.conversations.ask(said('stand-in'));
      expect(turn.packet).toMatchObject({ confirm_required: false });
      await expectNothingRan('stand-in');
      expect(await yes(keyturn, prompted(turn))).toMatchObject({ kind: 'OUTCOME' });
    } finally {
      await keyturn.close();
    }
  });
});

describe('a question of another finder', () => {
  it('does not make a run of an innocent answer', async () => {
    const p = place();
    const turn = { user_id: 'ada', turn_id: 'turn-1', utterance: 'break the engine' };
    const { packet } = await p.keyturn.conversations.ask({ ...turn, correlation_id: 'asked-by-us' });
    expect(packet).toMatchObject({ kind: 'CLARIFY' });
    const correlation_id = 'asked-by-others';
    const other = { ...packet, correlation_id, question: 'Do you like music?' };
    await p.keyturn.conversations.ask({ ...turn, correlation_id, packet: other });
    const answer = { user_id: 'ada', text: 'yes' };
    expect((await p.keyturn.conversations.answer({ ...answer, correlation_id })).kind).toBe('CONFIRM');
    await expectNothingRan(correlation_id);
    // The same answer to our own question runs: it was asked in the words of the simulation.
    const ours = await p.keyturn.conversations.answer({ ...answer, correlation_id: 'asked-by-us' });
    expect(ours.kind).toBe('OUTCOME');
    expect(await kindsOf(p, `agent:${correlation_id}`)).not.toContain('agent.confirmed');
  });
});
