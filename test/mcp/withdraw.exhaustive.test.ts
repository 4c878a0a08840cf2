import { describe, expect, it } from 'vitest';
import { accepted, mcpProject, SERVERS } from '../mcp-call/servers.ts';
import { serving, withToken } from '../serve/service.ts';
import { gate, headersOf, idOf, STATELESS_META, TASKS_META as TASKS, textOf } from './stage.ts';

const LONG = { timeout: 90_000 };

async function served() {
  const p = await mcpProject({ odd: { script: SERVERS.odd } });
  await accepted(p.keyturn, 'odd', p.ada);
  const bot = await withToken(p, 'bot');
  const spy = await withToken(p, 'spy');
  const first = await serving(p);
  let { address } = first;
  const restart = async () => {
    await first.stop();
    ({ address } = await serving(p));
  };
  const post = async (
    body: object,
    {
      token = bot.token,
      headers = {},
      signal,
    }: { token?: string; headers?: object; signal?: AbortSignal } = {},
  ) => {
    const answer = await fetch(`${address}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        ...headersOf(body),
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
      ...(signal && { signal }),
    });
    const text = await answer.text();
    return { headers: answer.headers, body: text === '' ? null : JSON.parse(text) };
  };
  const task = async (how: string): Promise<string> => {
    const params = { name: 'odd__act', arguments: { how }, _meta: TASKS };
    return (await post({ id: 1, method: 'tools/call', params })).body.result.taskId;
  };
  const withdraw = async (id: string, token?: string) =>
    textOf(
      (
        await post(
          {
            id: 2,
            method: 'tools/call',
            params: { name: 'keyturn_withdraw', arguments: { id, reason: 'no' } },
          },
          { ...(token && { token }) },
        )
      ).body.result,
    );
  const wordOf = async (intent_id: string) => (await p.keyturn.intents.result({ intent_id })).status_word;
  const waiting = async () =>
    (await p.keyturn.intents.list({ status_word: 'waiting' })).intents.map(({ intent_id }) => intent_id);
  return { p, post, task, withdraw, wordOf, waiting, spy, restart };
}

const plain = (how: string, id = 7, meta: object = {}) => ({
  id,
  method: 'tools/call',
  params: { name: 'odd__act', arguments: { how }, ...meta },
});

describe('a call over HTTP is taken back by who made it', () => {
  it('in another request with the same token, also after the service was started again', LONG, async () => {
    const { task, withdraw, wordOf, spy, restart } = await served();
    const [one, two] = [await task('one'), await task('two')];
    expect(await withdraw(one)).toContain('It was withdrawn');
    expect(await wordOf(one)).toBe('withdrawn');
    // To another agent it does not exist.
    expect(await withdraw(two, spy.token)).toContain('INTENT_NOT_FOUND');
    await restart();
    expect(await wordOf(two)).toBe('waiting');
    expect(await withdraw(two)).toContain('It was withdrawn');
    expect(await wordOf(two)).toBe('withdrawn');
  });

  it('by cancelling its task', LONG, async () => {
    const { post, task, wordOf } = await served();
    const taskId = await task('one');
    const { body } = await post({ id: 3, method: 'tasks/cancel', params: { taskId, _meta: TASKS } });
    expect(body.error).toBeUndefined();
    expect(await wordOf(taskId)).toBe('withdrawn');
  });

  it('by a cancellation in its own session, and not by that of another client', LONG, async () => {
    const { post, wordOf, waiting } = await served();
    const open = async () => {
      const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} };
      const { headers } = await post({ id: 1, method: 'initialize', params });
      return { 'mcp-session-id': headers.get('mcp-session-id')! };
    };
    const [mine, other] = [await open(), await open()];
    const called = post(plain('slow'), { headers: mine });
    await expect.poll(waiting, { timeout: 20_000 }).toHaveLength(1);
    const [id] = await waiting();
    const cancel = { method: 'notifications/cancelled', params: { requestId: 7 } };
    await post(cancel, { headers: other });
    await post(cancel);
    expect(await wordOf(id!)).toBe('waiting');
    await post(cancel, { headers: mine });
    expect((await called).body).toBeNull();
    await expect.poll(() => wordOf(id!), { timeout: 20_000 }).toBe('withdrawn');
  });

  it('by going away without a handshake, unless the same call was sent again meanwhile', LONG, async () => {
    const { post, wordOf, waiting } = await served();
    const gone = [new AbortController(), new AbortController()];
    const meta = { _meta: STATELESS_META };
    const calls = gone.map(({ signal }, n) => post(plain('lost', n, meta), { signal }).catch(() => 'gone'));
    await expect.poll(waiting, { timeout: 20_000 }).toHaveLength(1);
    const [id] = await waiting();
    // The same calls are taken in their order: when the third one is answered, both others wait.
    await post(plain('lost', 9, { _meta: TASKS }));
    gone[0]!.abort();
    await calls[0];
    await post({ id: 4, method: 'ping' });
    expect(await wordOf(id!)).toBe('waiting');
    gone[1]!.abort();
    await expect.poll(() => wordOf(id!), { timeout: 20_000 }).toBe('withdrawn');
  });
});

describe('a call of an agent without a key over standard input', () => {
  it('is taken back by another process of the gate', LONG, async () => {
    const { p, wordOf } = await served();
    const call = { name: 'odd__act', arguments: { how: 'x' } };
    const first = await gate(p, { as: 'bot' });
    const id = idOf(await first.client.callTool(call));
    await first.client.close();
    const { client } = await gate(p, { as: 'bot' });
    expect(idOf(await client.callTool(call))).toBe(id);
    const told = await client.callTool({ name: 'keyturn_withdraw', arguments: { id, reason: 'no' } });
    expect(textOf(told)).toContain('It was withdrawn');
    expect(await wordOf(id)).toBe('withdrawn');
  });
});
