import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import { accepted, mcpProject, SERVERS } from '../mcp-call/servers.ts';
import { serving } from '../serve/service.ts';
import { type Era, headersOf, TASKS_META as META, textOf } from './stage.ts';

const LONG = { timeout: 90_000 };

async function served() {
  const p = await mcpProject({ odd: { script: SERVERS.odd } });
  await accepted(p.keyturn, 'odd', p.ada);
  const { token, digest } = Keyturn.makeToken('bot');
  await p.keyturn.people.enrol({ name: 'bot', principal: 'agent', public_key: null, signer: p.ada });
  await p.keyturn.agents.addToken({ name: 'bot', digest, reason: 'a test', signer: p.ada });
  const { address } = await serving(p, { most: 2 });
  const post = async (body: object, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${address}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        ...headersOf(body),
        ...headers,
      },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? null : JSON.parse(text) };
  };
  /** A human approves and orders; the executor of the service runs it. */
  const turn = async (intent_id: string) => {
    const { hash } = await p.keyturn.intents.get({ intent_id });
    await p.keyturn.intents.approve({ intent_id, hash, signer: p.ada });
    await p.keyturn.intents.grant({ intent_id, hash, signer: p.ada });
  };
  const pending = async () =>
    (await p.keyturn.intents.list({ status_word: 'waiting' })).intents[0]?.intent_id;
  return { p, address, token, post, turn, pending };
}

describe('/mcp of the service', () => {
  for (const era of ['legacy', '2026-07-28'] as const satisfies readonly Era[])
    it(`holds the call of a ${era} client of the SDK until a human turned the key`, LONG, async () => {
      const { address, token, turn, pending } = await served();
      const transport = new StreamableHTTPClientTransport(new URL(`${address}/mcp`), {
        requestInit: { headers: { authorization: `Bearer ${token}` } },
      });
      const versionNegotiation = era === 'legacy' ? { mode: 'legacy' } : { mode: { pin: era } };
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation } as never);
      await client.connect(transport);
      onTestFinished(() => client.close());
      expect((await client.listTools()).tools.map(({ name }) => name)).toContain('odd__act');
      const called = client.callTool({ name: 'odd__act', arguments: { how: 'work' } });
      await expect.poll(pending, { timeout: 20_000 }).toBeDefined();
      await turn((await pending())!);
      expect(textOf(await called)).toContain('did work');
    });

  it('gives a task to a client that follows tasks, in both protocols', LONG, async () => {
    const { post, turn } = await served();
    const ask = async (method: string, params: object) =>
      (await post({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: META } })).body.result;
    const created = await ask('tools/call', { name: 'odd__act', arguments: { how: 'task' } });
    expect(created).toMatchObject({ resultType: 'task', status: 'working', ttlMs: null });
    expect(created.statusMessage).toContain(created.taskId);
    await turn(created.taskId);
    await expect
      .poll(async () => (await ask('tasks/get', { taskId: created.taskId })).status, { timeout: 20_000 })
      .toBe('completed');
    expect(textOf((await ask('tasks/get', { taskId: created.taskId })).result)).toBe('did task');

    const old = async (method: string, params: object) =>
      (await post({ jsonrpc: '2.0', id: 2, method, params })).body;
    const { result } = await old('tools/call', {
      name: 'odd__act',
      arguments: { how: 'old' },
      task: { ttl: 1000 },
    });
    const { taskId } = result.task;
    expect(result.task).toMatchObject({ status: 'working', ttl: null });
    const waited = old('tasks/result', { taskId });
    await turn(taskId);
    expect(textOf((await waited).result)).toBe('did old');
    expect((await old('tasks/get', { taskId })).result.status).toBe('completed');
    expect((await old('tasks/get', { taskId: 'none' })).error.code).toBe(-32602);
  });

  it(
    'answers nobody without a token, no other origin, and no message that its headers deny',
    LONG,
    async () => {
      const { post, pending } = await served();
      const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
      expect((await post(list, { authorization: 'Bearer nothing' })).status).toBe(401);
      expect((await post(list, { origin: 'http://evil.example' })).status).toBe(403);
      const modern = { ...list, params: { _meta: META } };
      const mismatch = await post(modern, { 'mcp-method': 'tools/call' });
      expect([mismatch.status, mismatch.body.error.code]).toEqual([400, -32020]);
      const other = {
        ...list,
        params: { _meta: { ...META, 'io.modelcontextprotocol/protocolVersion': '1999-01-01' } },
      };
      expect((await post(other)).body.error.code).toBe(-32022);
      expect((await post({ ...list, method: 'nothing/here' })).body.error.code).toBe(-32601);
      // An elicitation that a client accepts is an answer to nothing that was asked, and approves nothing.
      expect((await post({ jsonrpc: '2.0', id: 7, result: { action: 'accept' } })).status).toBe(202);
      expect(await pending()).toBeUndefined();
    },
  );
});
