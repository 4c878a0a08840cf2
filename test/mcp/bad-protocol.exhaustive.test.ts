import { describe, expect, it } from 'vitest';
import { calledName } from '../../src/mcp-call/name.ts';
import { accepted, SERVERS, turned, writeServers } from '../mcp-call/servers.ts';
import { piped } from './piped.ts';
import { heardFrom, posted } from './posted.ts';
import { STATELESS_META, TASKS_META, textOf } from './stage.ts';

const LONG = { timeout: 120_000 };
const SOON = { timeout: 20_000 };

const call = (how: string, more: object = {}) => ({
  method: 'tools/call',
  params: { name: 'odd__act', arguments: { how }, ...more },
});
const stateless = (method: string, params: object = {}, meta: object = STATELESS_META) => ({
  method,
  params: { ...params, _meta: meta },
});

describe('a message over HTTP that does not say what it is', () => {
  it('is refused with the number and the status of the protocol, and proposes nothing', LONG, async () => {
    const { post, waiting } = await posted();
    const codeOf = async (body: object, headers: Record<string, string> = {}) => {
      const told = await post({ id: 1, ...body }, { headers });
      return [told.status, told.body.error.code];
    };
    const version = { 'mcp-protocol-version': '2026-07-28' };
    for (const method of [
      'initialize',
      'ping',
      'logging/setLevel',
      'resources/subscribe',
      'tasks/list',
      'no/such',
    ])
      expect(await codeOf(stateless(method)), method).toEqual([404, -32601]);
    for (const params of [{}, { _meta: {} }, { _meta: { ...STATELESS_META, [CAPABILITIES]: undefined } }])
      expect(
        await codeOf({ method: 'server/discover', params }, { ...version, 'mcp-method': 'server/discover' }),
      ).toEqual([400, -32602]);
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
      expect(await codeOf(stateless(method, { taskId: 'x' })), method).toEqual([400, -32021]);
    const other = { ...STATELESS_META, 'io.modelcontextprotocol/protocolVersion': '1999-01-01' };
    expect(await codeOf(stateless('tools/list', {}, other))).toEqual([400, -32022]);
    expect(await codeOf(stateless('tools/list', {}, other), version)).toEqual([400, -32020]);
    const modern = { ...call('x'), params: { ...call('x').params, _meta: STATELESS_META } };
    for (const headers of [
      { 'mcp-method': 'tools/list' },
      { 'mcp-method': 'TOOLS/CALL' },
      { 'mcp-name': 'odd__other' },
      { 'mcp-name': '=?base64?b2RkX19vdGhlcg==?=' },
      { 'mcp-name': '=?base64?b2RkX19hY3Q?=' },
      { 'mcp-protocol-version': '2025-11-25' },
    ])
      expect(await codeOf(modern, headers as never), JSON.stringify(headers)).toEqual([400, -32020]);
    expect(await waiting()).toEqual([]);
    const encoded = `=?base64?${Buffer.from('keyturn_status').toString('base64')}?=`;
    const status = stateless('tools/call', { name: 'keyturn_status', arguments: {} });
    expect((await post({ id: 2, ...status }, { headers: { 'mcp-name': encoded } })).status).toBe(200);
  });

  it(
    'is refused where it is a list, has no id that can be answered, or hides one value behind another',
    LONG,
    async () => {
      const { address, bot, waiting } = await posted();
      const sent = async (body: string) => {
        const headers = { authorization: `Bearer ${bot.token}`, 'content-type': 'application/json' };
        const answer = await fetch(`${address}/mcp`, { method: 'POST', headers, body });
        return answer.status;
      };
      const params = JSON.stringify(call('x').params);
      for (const body of [
        `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}]`,
        `{"jsonrpc":"2.0","id":{},"method":"tools/call","params":${params}}`,
        `{"jsonrpc":"2.0","id":1.5,"method":"tools/call","params":${params}}`,
        `{"jsonrpc":"2.0","id":true,"method":"tools/call","params":${params}}`,
        `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":${params}}`,
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[${params}]}`,
        `{"jsonrpc":"1.0","id":1,"method":"tools/call","params":${params}}`,
        '"tools/call"',
        '',
      ])
        expect(await sent(body), body).toBe(400);
      expect(await waiting()).toEqual([]);
    },
  );
});

const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

describe('a client that listens', () => {
  it('is refused without a stream, and is told nothing that it did not ask for in words', LONG, async () => {
    const { post, send } = await posted();
    const listen = stateless('subscriptions/listen', {
      notifications: { toolsListChanged: 'yes', unknown: true },
    });
    expect((await post({ id: 1, ...listen }, { headers: { accept: 'application/json' } })).status).toBe(400);
    for (const notifications of [null, [], 'all'])
      expect(
        (await post({ id: 1, ...stateless('subscriptions/listen', { notifications } as never) })).body.error
          .code,
      ).toBe(-32602);
    const heard = heardFrom(await send({ id: 1, ...listen }));
    await expect.poll(() => heard, SOON).toMatchObject([{ params: { notifications: {} } }]);
  });

  it('cannot take more than its share of streams', LONG, async () => {
    const { p, send } = await posted();
    const listen = stateless('subscriptions/listen', { notifications: {} });
    const gone = new AbortController();
    const statuses: number[] = [];
    for (let id = 0; id < 17; id += 1)
      statuses.push((await send({ id, ...listen }, { signal: gone.signal })).status);
    expect(statuses).toEqual([...Array(16).fill(200), 429]);
    gone.abort();
    const again = async () => (await send({ id: 99, ...listen })).status;
    await expect.poll(again, SOON).toBe(200);
    expect((await p.keyturn.intents.list({})).intents).toEqual([]);
  });

  it('twice with one id, or cancels what it never sent, disturbs nothing', LONG, async () => {
    const { raw, send, answer, answers } = await piped();
    const listen = { jsonrpc: '2.0', id: 7, ...stateless('subscriptions/listen', { notifications: {} }) };
    raw(JSON.stringify(listen));
    await expect.poll(() => answers.length, SOON).toBe(1);
    raw(JSON.stringify(listen));
    expect((await answer(7)).error).toMatchObject({ code: -32600 });
    for (const requestId of [8, 'x', null, {}, 7, 7])
      raw(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }));
    send(9, 'ping', {});
    expect((await answer(9)).result).toEqual({});
  });
});

describe('a task', () => {
  it('of another agent does not exist, and is neither read, updated nor cancelled', LONG, async () => {
    const { post, spy, waiting } = await posted();
    const created = await post({ id: 1, ...stateless('tools/call', call('x').params, TASKS_META) });
    const { taskId } = created.body.result;
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const asked = { id: 2, ...stateless(method, { taskId }, TASKS_META) };
      expect((await post(asked, { token: spy.token })).body.error.code, method).toBe(-32602);
    }
    expect(await waiting()).toEqual([taskId]);
    // Its own can be cancelled twice: the second time says nothing new.
    for (const _ of [1, 2])
      expect(
        (await post({ id: 3, ...stateless('tasks/cancel', { taskId }, TASKS_META) })).body.result,
      ).toEqual({
        resultType: 'complete',
      });
    const got = await post({ id: 4, ...stateless('tasks/get', { taskId }, TASKS_META) });
    expect(got.body.result.status).toBe('cancelled');
    expect((await post({ id: 5, method: 'tasks/cancel', params: { taskId } })).body.error.code).toBe(-32602);
  });

  it(
    'of a call that its server answered with an error of the protocol has failed with it',
    LONG,
    async () => {
      const { post, turn, waiting } = await posted();
      await post({ id: 1, ...stateless('tools/call', call('error').params, TASKS_META) });
      const [taskId] = await waiting();
      await turn(taskId!);
      const get = async () =>
        (await post({ id: 2, ...stateless('tasks/get', { taskId }, TASKS_META) })).body.result;
      await expect.poll(async () => (await get()).status, SOON).toBe('failed');
      const failed = await get();
      expect(failed.error).toEqual({ code: -32000, message: 'no' });
      expect(failed).not.toHaveProperty('result');
      const old = await post({ id: 3, method: 'tasks/result', params: { taskId } });
      expect(old.body.error).toMatchObject({ code: -32000, message: 'no' });
    },
  );

  it.each([
    ['of a server that asks for no input', []],
    ['of a server that may ask for input', ['input']],
  ])(
    'and a plain call of the same are one intent, whatever the client says that it can do: %s',
    LONG,
    async (_, pass) => {
      const { send, answer, p } = await piped({ pass });
      send(1, 'tools/call', { ...call('same').params, _meta: TASKS_META });
      const { taskId } = (await answer(1)).result;
      send(2, 'tools/call', { ...call('same').params, _meta: STATELESS_META });
      expect(textOf((await answer(2)).result)).toContain(taskId);
      send(3, 'tools/call', call('same').params);
      expect(textOf((await answer(3)).result)).toContain(taskId);
      for (const [id, elicitation] of [
        [4, {}],
        [5, { form: {} }],
        [6, { form: {}, url: {} }],
      ] as const) {
        const _meta = { ...STATELESS_META, [CAPABILITIES]: { elicitation } };
        send(id, 'tools/call', { ...call('same').params, _meta });
        expect(textOf((await answer(id)).result)).toContain(taskId);
      }
      expect((await p.keyturn.intents.list({})).intents).toHaveLength(1);
    },
  );
});

describe('names that mean something else elsewhere', () => {
  it('are no tools, prompts, resources or methods', LONG, async () => {
    const { send, answer, p } = await piped();
    const names = [
      '__proto__',
      'constructor',
      'toString',
      'hasOwnProperty',
      '',
      ' odd__act',
      'odd__ACT',
      'odd__act\u0000',
    ];
    let id = 0;
    for (const name of names) {
      for (const [method, params] of [
        ['tools/call', { name, arguments: {} }],
        ['prompts/get', { name }],
        ['resources/read', { uri: name }],
        [name || 'x', {}],
      ] as const) {
        id += 1;
        send(id, method, params);
        const { result, error } = await answer(id);
        expect(error !== undefined || result.isError === true, `${method} ${JSON.stringify(name)}`).toBe(
          true,
        );
      }
    }
    expect((await p.keyturn.intents.list({})).intents).toEqual([]);
  });

  it(
    'of tools with slashes, letters of any script and 128 characters reach their server as they are',
    LONG,
    async () => {
      const { p, send, answer } = await piped({}, { mode: 'odd-names', hold_ms: 20_000 });
      const names = ['a/b c', 'übung', 'n'.repeat(128)];
      send(1, 'tools/list', {});
      const listed = (await answer(1)).result.tools.map(({ name }: { name: string }) => name);
      const waiting = async () => (await p.keyturn.intents.list({ status_word: 'waiting' })).intents;
      for (const [n, name] of names.entries()) {
        const called = calledName('odd', name);
        expect(listed).toContain(called);
        send(n + 2, 'tools/call', { name: called, arguments: { how: `n${n}` } });
        await expect.poll(waiting, SOON).toHaveLength(1);
        const { intent_id } = (await waiting())[0]!;
        expect((await turned(p, intent_id)).result).toBe('success');
        expect(textOf((await answer(n + 2)).result)).toBe(`did n${n}`);
      }
    },
  );
});

describe('bytes on standard input that are no text', () => {
  it('are answered as what cannot be read, and the next message is taken', LONG, async () => {
    const { input, send, answer, answers } = await piped();
    input.write(Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d, 0x0a]));
    input.write(
      '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"\\ud800","arguments":{}}}\n',
    );
    input.write('\n\r\n   \n');
    send(3, 'ping', {});
    expect((await answer(3)).result).toEqual({});
    const errors = answers.filter(({ error }) => error !== undefined);
    expect(errors.map(({ error }) => error!.code).sort()).not.toEqual([]);
    expect(answers.some(({ result }) => result?.content !== undefined && result.isError !== true)).toBe(
      false,
    );
  });
});

describe('a server', () => {
  it(
    'that sends structured content of another shape than it declared has it passed on as it is',
    LONG,
    async () => {
      const { act, answer } = await piped({ mode: 'shadow' });
      act(1, { how: 'other-shape' });
      expect((await answer(1)).result).toMatchObject({ structuredContent: { n: 'no number' } });
    },
  );

  it('that answers with a number of many digits has it recorded and told as it wrote it', LONG, async () => {
    const { p, send, answer } = await piped({}, { hold_ms: 20_000 });
    send(1, 'tools/call', call('long-number').params);
    const waiting = async () => (await p.keyturn.intents.list({ status_word: 'waiting' })).intents;
    await expect.poll(waiting, SOON).toHaveLength(1);
    const { intent_id } = (await waiting())[0]!;
    await turned(p, intent_id);
    const written = '"structuredContent":{ "n": 12345678901234567890 }';
    expect(textOf((await answer(1)).result)).toContain(written);
    const { run } = await p.keyturn.intents.result({ intent_id });
    expect(run!.output).toMatchObject({ stdout: expect.stringContaining(written) });
  });

  it(
    'that asks for input first is told of in words in both protocols, and nothing is passed on',
    LONG,
    async () => {
      const { send, answer } = await piped({ mode: 'shadow' });
      for (const [id, _meta] of [
        [1, {}],
        [2, { ...STATELESS_META, [CAPABILITIES]: { elicitation: {}, sampling: {} } }],
      ] as const) {
        send(id, 'tools/call', { ...call('wants-input').params, _meta });
        const { result } = await answer(id);
        expect(result).toMatchObject({ isError: true });
        expect(result).not.toHaveProperty('inputRequests');
        expect(textOf(result)).toContain('https://sign.example/in');
      }
    },
  );

  it('whose name begins like that of another one takes none of its tools', LONG, async () => {
    const { p, send, answer } = await piped();
    const servers = { odd: { script: SERVERS.odd, args: ['plain', '{files}/log'] } };
    writeServers(p.root, { ...servers, 'odd-act': { script: SERVERS.odd } }, p.files);
    await accepted(p.keyturn, 'odd-act', p.ada);
    send(1, 'tools/list', {});
    const names = (await answer(1)).result.tools.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(['odd__act', 'odd-act__act']));
    expect(new Set(names).size).toBe(names.length);
  });
});
