import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { McpCaller } from '../../src/mcp/call.ts';
import { serveStdio } from '../../src/mcp/stdio.ts';
import { sizeOf } from '../support/ledger.ts';
import { expectRefusal } from '../support/refusal.ts';
import { type AgentPlace, agentPlace, prompted, yes } from './agent-place.ts';

/** A language model of the caller may find, and never decides. Here it is scripted, it lies, and it is absent. */

const place = agentPlace();
const user_id = 'ada';
const text = 'milk';
/** No rule finds this: no simulation has the word "scribble". */
const GOAL = `scribble ${text} on my page`;
/** Longer than the field of the simulation takes. */
const LONG = 'x'.repeat(90);
const TOO_LONG = `scribble ${LONG} on my page`;
const shown = (utterance: string, said = text) => ({
  field: 'text',
  text: said,
  start: utterance.indexOf(said),
});
const honest = (utterance = GOAL) => ({ simulation_id: 'note.add', fields: [shown(utterance)] });

describe('a model that finds', () => {
  it('leads to a prompt, runs on the yes alone, and is never asked by a replay', async () => {
    const { keyturn } = place();
    let asked = 0;
    const model = async ({ utterance }: { readonly utterance: string }) => {
      asked += 1;
      return honest(utterance);
    };
    const turn = await keyturn.conversations.ask({ user_id, utterance: GOAL, correlation_id: 'm-1', model });
    expect(turn.packet).toMatchObject({ reason_code: 'MATCH_PROPOSED', confirm_required: true });
    const done = await yes(keyturn, prompted(turn));
    expect(done.kind).toBe('OUTCOME');
    const { decisions } = await keyturn.conversations.replay({ correlation_id: 'm-1' });
    expect(decisions.some(({ decision }) => decision === 'DISPATCH')).toBe(true);
    expect(asked).toBe(1);
  });

  it('asks for a yes where the simulation would need none', async () => {
    const { keyturn } = place();
    const alone = await keyturn.conversations.ask({ user_id, utterance: 'show the hello' });
    const utterance = 'let me have the hello';
    const turn = await keyturn.conversations.ask({
      ...{ user_id, utterance },
      proposal: { simulation_id: 'hello.show', fields: [] },
    });
    expect(alone.kind).not.toBe('CONFIRM');
    expect(turn.kind).toBe('CONFIRM');
  });

  it('that has no answer leaves the goal to the rules', async () => {
    const { keyturn } = place();
    const turn = await keyturn.conversations.ask({ user_id, utterance: GOAL, model: async () => null });
    expect(turn.packet.reason_code).not.toBe('MATCH_PROPOSED');
  });
});

describe('a model that lies', () => {
  const denied = `do not scribble ${text} on my page`;
  it.each([
    [
      'shows a text that nobody said',
      GOAL,
      { ...honest(), fields: [{ field: 'text', text: 'beer', start: 9 }] },
    ],
    ['shows it in another place', GOAL, { ...honest(), fields: [{ field: 'text', text, start: 0 }] }],
    ['names a simulation that does not exist', GOAL, { ...honest(), simulation_id: 'no.such' }],
    ['names one that nobody activated', GOAL, { simulation_id: 'lamp.dim', fields: [] }],
    [
      'gives a field that there is not',
      GOAL,
      { ...honest(), fields: [...honest().fields, { ...shown(GOAL), field: 'more' }] },
    ],
    ['leaves out a field', GOAL, { ...honest(), fields: [] }],
    [
      'gives a value that its field does not take',
      TOO_LONG,
      { ...honest(), fields: [shown(TOO_LONG, LONG)] },
    ],
    ['gives a field twice', GOAL, { ...honest(), fields: [shown(GOAL), shown(GOAL)] }],
    ['does not hear the denial', denied, honest(denied)],
    [
      'does not hear the report',
      `yesterday Ana had scribbled ${text}`,
      honest(`yesterday Ana had scribbled ${text}`),
    ],
    ['does not hear the condition', `if it rains scribble ${text}`, honest(`if it rains scribble ${text}`)],
    ['does not hear two requests', `scribble ${text} and then go`, honest(`scribble ${text} and then go`)],
    [
      'names another than the words do',
      'append a notebook line "milk"',
      { simulation_id: 'hello.show', fields: [] },
    ],
  ])('and %s is refused, and nothing is recorded', async (_, utterance, proposal) => {
    const { keyturn } = place();
    const before = await sizeOf(keyturn);
    await expectRefusal('FINDER_PACKET_INVALID', () =>
      keyturn.conversations.ask({ user_id, utterance, proposal }),
    );
    const model = async () => proposal;
    await expectRefusal('FINDER_PACKET_INVALID', () =>
      keyturn.conversations.ask({ user_id, utterance, model }),
    );
    expect(await sizeOf(keyturn)).toBe(before);
  });
});

describe('a model that finds over MCP', () => {
  /** The gate over pipes, with the words of this user. */
  function gate({ keyturn }: AgentPlace) {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const caller: McpCaller = {
      ...{ name: user_id, signer: null, face: keyturn, ask: keyturn.conversations.ask },
      ...{ link: async () => null, hold_ms: 100, holders: new Map() },
    };
    const served = serveStdio({ input, output, open: async () => caller });
    onTestFinished(async () => {
      input.end();
      await served;
    });
    const answers = createInterface(output)[Symbol.asyncIterator]();
    return async (values: object) => {
      const params = { name: 'keyturn_ask', arguments: values };
      input.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })}\n`);
      const { result } = JSON.parse((await answers.next()).value);
      const [{ text: said }] = result.content;
      return { is_error: result.isError === true, said };
    };
  }

  it('leads to a prompt and to no run, and a lie to nothing', async () => {
    const ask = gate(place());
    const turn = await ask({ words: GOAL, proposal: honest() });
    expect(JSON.parse(turn.said)).toMatchObject({
      kind: 'CONFIRM',
      packet: { reason_code: 'MATCH_PROPOSED', confirm_required: true },
    });
    const lie = { ...honest(), fields: [{ field: 'text', text: 'beer', start: 9 }] };
    const lied = await ask({ words: GOAL, proposal: lie });
    expect(lied).toMatchObject({ is_error: true, said: expect.stringContaining('FINDER_PACKET_INVALID') });
    expect(JSON.parse((await ask({ words: 'show the hello' })).said).kind).not.toBe('CONFIRM');
  });
});
