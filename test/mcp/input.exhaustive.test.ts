import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { questionsOf } from '../../src/mcp/input.ts';
import { agent, PERMITS, policy, rules } from '../journey/authority.ts';
import { turned } from '../mcp-call/servers.ts';
import { expectRefusal } from '../support/refusal.ts';
import { piped } from './piped.ts';
import { STATELESS_META, textOf } from './stage.ts';

const LONG = { timeout: 90_000 };
const SOON = { timeout: 20_000 };
const CAN_ASK = {
  ...STATELESS_META,
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {}, extensions: {} },
};
const TOOL = 'test_input_required_result_request_state';

/** The gate before a server that asks for input in its answers. */
async function asking(pass: readonly string[]) {
  const gate = await piped(
    { pass },
    { hold_ms: 20_000, script: resolve('test/mcp/conformance/fixture.mjs') },
  );
  const { p, send, answer } = gate;
  const waiting = async () => (await p.keyturn.intents.list({ status_word: 'waiting' })).intents;
  const turn = async () => {
    await expect.poll(waiting, SOON).toHaveLength(1);
    const { intent_id } = (await waiting())[0]!;
    await turned(p, intent_id);
    return intent_id;
  };
  /** A call that a human turns the key of. */
  const called = async (id: number, params: object, tool = TOOL) => {
    send(id, 'tools/call', { name: `odd__${tool}`, arguments: {}, ...params });
    const intent_id = await turn();
    return { intent_id, ...(await answer(id)) };
  };
  return { ...gate, called, waiting };
}

describe('a server that may ask the client of its caller', () => {
  it(
    'has its question passed on with its name; what is answered is another call, which a human approves',
    LONG,
    async () => {
      const { p, send, called, waiting } = await asking(['input']);
      const { result, intent_id: first } = await called(1, { _meta: CAN_ASK });
      expect(result).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) });
      expect(result.inputRequests.confirm.params.message).toBe('The server odd asks: Go on?');
      const answered = {
        _meta: CAN_ASK,
        inputResponses: { confirm: { action: 'accept', content: { ok: 'yes' } } },
        requestState: result.requestState,
      };
      // A client that no human watches accepts at once: that approves nothing.
      send(2, 'tools/call', { name: `odd__${TOOL}`, arguments: {}, ...answered });
      await expect.poll(waiting, SOON).toHaveLength(1);
      const [{ intent_id: second } = { intent_id: '' }] = await waiting();
      expect(second).not.toBe(first);
      const { shown } = await p.keyturn.intents.story({ intent_id: second });
      expect(JSON.stringify(shown)).toContain('Client answers');
      expect(JSON.stringify(shown)).toContain('accept');
      expect((await turned(p, second)).result).toBe('success');
    },
  );

  it(
    'is told what the client can do, and only that; its errors reach the client as errors',
    LONG,
    async () => {
      const { called } = await asking(['input']);
      const tool = 'test_missing_capability';
      const { error } = await called(1, { _meta: CAN_ASK }, tool);
      expect(error).toMatchObject({ code: -32021, data: { requiredCapabilities: { sampling: {} } } });
      const sampling = { 'io.modelcontextprotocol/clientCapabilities': { sampling: {} } };
      const { result } = await called(2, { _meta: { ...STATELESS_META, ...sampling } }, tool);
      expect(textOf(result)).toBe('It can sample.');
    },
  );

  it('has what the client answers and gives back read by policies, as its own words', LONG, async () => {
    const { p } = await asking(['input']);
    const no = 'forbid (principal, action, resource) when { context.client_said like "*no such*" };';
    await rules(p, [PERMITS, policy('said', 'intent', no), policy('said_too', 'capability', no)].join('\n'));
    const bot = p.keyturn.as({ name: 'bot' });
    const answered = async (responses: object | null, state: string | null) => {
      const input = { capabilities: {}, responses, state };
      const effect = { kind: 'mcp', server: 'odd', tool: TOOL, arguments: {}, input };
      return bot.mcp.call({ declared_goal: 'act', effect } as never);
    };
    const approve = async ({ intent_id }: { readonly intent_id: string }) => {
      const { hash } = await p.keyturn.intents.get({ intent_id });
      await p.keyturn.intents.approve({ intent_id, hash, signer: p.ada });
      return p.keyturn.intents.grant({ intent_id, hash, signer: p.ada });
    };
    await approve(await answered({ confirm: { action: 'accept' } }, 'a state'));
    await approve(await answered(null, null));
    const denied = [
      await answered({ confirm: { action: 'accept', content: { ok: 'no such thing' } } }, null),
      await answered(null, 'no such state'),
    ];
    for (const begun of denied) await expectRefusal('POLICY_DENIED', () => approve(begun));
  });

  it('asks nobody who has not said that it can answer, and no client with a handshake', LONG, async () => {
    const { called } = await asking(['input']);
    for (const [id, params] of [
      [1, {}],
      [2, { _meta: STATELESS_META }],
      [3, { _meta: { ...STATELESS_META, 'io.modelcontextprotocol/clientCapabilities': { roots: {} } } }],
    ] as const) {
      const { result } = await called(id, params);
      expect(result).toMatchObject({ isError: true });
      expect(result).not.toHaveProperty('inputRequests');
      expect(textOf(result)).toContain('asks for input first');
    }
  });

  it('asks nobody where no human accepted that, and learns nothing of the client', LONG, async () => {
    const { p, called } = await asking(['prompts']);
    const { result } = await called(1, { _meta: CAN_ASK });
    expect(textOf(result)).toContain('asks for input first');
    const sampling = { 'io.modelcontextprotocol/clientCapabilities': { sampling: {} } };
    const told = await called(2, { _meta: { ...STATELESS_META, ...sampling } }, 'test_missing_capability');
    expect(textOf(told.result)).toContain('It needs sampling');
    const input = { capabilities: { sampling: {} }, responses: null, state: null };
    await expectRefusal('MCP_NOT_PASSED', () =>
      p.keyturn.intents.propose({
        declared_goal: 'act',
        issuer: 'bot',
        effect: { kind: 'mcp', server: 'odd', tool: TOOL, arguments: {}, input },
      }),
    );
    await expectRefusal('MCP_NOT_PASSED', () =>
      p.keyturn.mcp.ask({ server: 'odd', method: 'prompts/list', params: {}, capabilities: {} }),
    );
  });

  it('hears of a client by known names only, and a human sees each of them', LONG, async () => {
    const { p, send, waiting } = await asking(['input']);
    const said = {
      elicitation: { url: { more: 'a covert text' }, other: 'a covert text' },
      roots: { listChanged: true },
    };
    const _meta = { ...STATELESS_META, 'io.modelcontextprotocol/clientCapabilities': said };
    send(1, 'tools/call', { name: `odd__${TOOL}`, arguments: {}, _meta });
    await expect.poll(waiting, SOON).toHaveLength(1);
    const { shown } = await p.keyturn.intents.story({ intent_id: (await waiting())[0]!.intent_id });
    expect(JSON.stringify(shown)).toContain('for: elicitation (url), roots');
    expect(JSON.stringify(shown)).not.toContain('a covert text');
    const bot = p.keyturn.as({ name: 'bot' });
    for (const capabilities of [
      { elicitation: { any: 'text' } },
      { elicitation: { form: { a: 1 } } },
      { any: {} },
    ]) {
      const input = { capabilities, responses: null, state: null };
      const effect = { kind: 'mcp', server: 'odd', tool: TOOL, arguments: {}, input };
      await expectRefusal('SHAPE_INVALID', () => bot.mcp.call({ declared_goal: 'act', effect } as never));
      const asked = { server: 'odd', method: 'prompts/list', params: {}, capabilities };
      await expectRefusal('SHAPE_INVALID', () => bot.mcp.ask(asked as never));
    }
  });

  it(
    'is named in each of its questions; one without a place for the name is not passed on',
    LONG,
    async () => {
      const { called } = await asking(['input']);
      const all = { elicitation: {}, sampling: {}, roots: {} };
      const _meta = { ...STATELESS_META, 'io.modelcontextprotocol/clientCapabilities': all };
      const { result } = await called(1, { _meta }, 'test_input_required_result_multiple_inputs');
      const { user_name, capital, roots } = result.inputRequests;
      expect(user_name.params.message).toBe('The server odd asks: What is your name?');
      expect(capital.params.systemPrompt).toContain('The server odd asks');
      for (const { params } of [user_name, capital, roots])
        expect(params._meta['keyturn/server']).toBe('odd');
      const input = { capabilities: all, responses: null, state: null };
      for (const [method, params] of [
        ['elicitation/create', {}],
        ['elicitation/create', { message: 7 }],
        ['sampling/createMessage', { systemPrompt: ['x'] }],
        ['roots/list', 'x'],
      ] as const) {
        const asked = { resultType: 'input_required', inputRequests: { a: { method, params } } };
        expect(questionsOf(asked, 'odd', input)).toBeNull();
      }
    },
  );

  it('gets no answer that is none: what is malformed is refused, and proposes nothing', LONG, async () => {
    const { send, answer, waiting } = await asking(['input']);
    for (const [id, params] of [
      [1, { inputResponses: null }],
      [2, { inputResponses: [] }],
      [3, { inputResponses: 'yes' }],
      [4, { requestState: 7 }],
    ] as const) {
      send(id, 'tools/call', { name: `odd__${TOOL}`, arguments: {}, _meta: CAN_ASK, ...params });
      expect((await answer(id)).error).toMatchObject({ code: -32602 });
    }
    expect(await waiting()).toEqual([]);
  });

  it('is answered under a grant only where the grant has no limits for arguments', LONG, async () => {
    const { p } = await asking(['input']);
    const scout = await agent(p, 'scout');
    const none = { capabilities: { elicitation: {} }, responses: null, state: null };
    const answers = { ...none, responses: { confirm: {} } };
    const submitted = async (grant: object, input: object) => {
      const effect = { kind: 'mcp' as const, server: 'odd', tool: TOOL, arguments: {}, input };
      const { delegation_id: delegation } = await p.keyturn.agents.delegate({
        delegate: 'scout',
        actions: [`mcp:odd:${TOOL}`],
        ttl_s: 600,
        approves: true,
        grant: { uses: 3, ...grant },
        reason: 'a test',
        signer: p.ada,
      } as never);
      const { intent_id, hash } = await p.keyturn.intents.propose({
        declared_goal: 'act',
        effect,
        issuer: 'scout',
      } as never);
      return p.keyturn.intents.submit({ intent_id, hash, signer: scout, delegation });
    };
    const limited = { arguments: { type: 'object', properties: { a: { type: 'string' } } } };
    for (const input of [
      answers,
      { ...none, responses: {} },
      { ...none, state: 'any text' },
      { ...none, state: '' },
    ])
      await expectRefusal('GRANT_OUTSIDE', () => submitted(limited, input));
    await submitted(limited, none);
    await submitted({}, answers);
  });
});
