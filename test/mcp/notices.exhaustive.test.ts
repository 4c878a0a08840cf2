import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { turned } from '../mcp-call/servers.ts';
import type { Project } from '../support/project.ts';
import { type Heard, piped } from './piped.ts';
import { heardFrom, posted } from './posted.ts';
import { STATELESS_META } from './stage.ts';

const LONG = { timeout: 90_000 };
const SOON = { timeout: 20_000 };
const PASS = { pass: ['resources', 'prompts', 'logging'] };
const LISTS = ['tools', 'prompts', 'resources'].map((what) => `notifications/${what}/list_changed`);
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

const ALL = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
const listening = (id: string, notifications: object) => ({
  id,
  method: 'subscriptions/listen',
  params: { notifications, _meta: STATELESS_META },
});

const methodsIn = (heard: readonly Heard[]) => heard.flatMap(({ method }) => method ?? []);
const logOf = ({ files }: { files: string }) =>
  existsSync(join(files, 'log')) ? readFileSync(join(files, 'log'), 'utf8').trim().split('\n') : [];

/** A human takes a server back: what the gate offers is another list. */
const changed = ({ keyturn, ada }: Project) =>
  keyturn.mcp.remove({ server: 'odd', reason: 'enough', signer: ada });

describe('a client is told that what the gate offers changed, when a human decided it', () => {
  it('over standard input, unasked with a handshake', LONG, async () => {
    const { p, send, answer, answers } = await piped();
    send(1, 'tools/list', {});
    await answer(1);
    await changed(p);
    await expect.poll(() => methodsIn(answers).sort(), SOON).toEqual([...LISTS].sort());
  });

  it('over standard input, where it listens, without one; and nothing else', LONG, async () => {
    const { p, raw, send, answer, answers } = await piped();
    raw(JSON.stringify({ jsonrpc: '2.0', ...listening('a', { promptsListChanged: true }) }));
    raw(JSON.stringify({ jsonrpc: '2.0', ...listening('b', ALL) }));
    await expect.poll(() => methodsIn(answers), SOON).toEqual([ACKNOWLEDGED, ACKNOWLEDGED]);
    await changed(p);
    await expect.poll(() => answers.length, SOON).toBe(6);
    const of = (id: string) =>
      methodsIn(answers.filter(({ params }) => params?._meta?.[SUBSCRIPTION] === id));
    expect(of('a')).toEqual([ACKNOWLEDGED, LISTS[1]]);
    expect(of('b').sort()).toEqual([ACKNOWLEDGED, ...LISTS].sort());
    // What it cancelled is not told any more, and not answered.
    raw('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"b"}}');
    send(9, 'tools/list', { _meta: STATELESS_META });
    await answer(9);
    expect(answers.filter(({ id }) => id === 'b')).toEqual([]);
  });

  it('over HTTP, on the stream of a session', LONG, async () => {
    const { p, stream, session } = await posted();
    const answer = await stream({ headers: await session() });
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    const heard = heardFrom(answer);
    await changed(p);
    await expect.poll(() => methodsIn(heard).sort(), SOON).toEqual([...LISTS].sort());
  });

  it('over HTTP, as the client of the SDK listens', LONG, async () => {
    const { p, address, bot } = await posted();
    const client = new Client({ name: 'test', version: '1' }, {
      versionNegotiation: { mode: { pin: '2026-07-28' } },
    } as never);
    const headers = { authorization: `Bearer ${bot.token}` };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${address}/mcp`), { requestInit: { headers } }),
    );
    onTestFinished(() => client.close());
    const told: string[] = [];
    client.setNotificationHandler(
      'notifications/tools/list_changed' as never,
      (async () => {
        told.push('tools');
      }) as never,
    );
    const subscription = await (client as unknown as { listen(filter: object): Promise<Closable> }).listen({
      toolsListChanged: true,
    });
    await changed(p);
    await expect.poll(() => told, SOON).toEqual(['tools']);
    await subscription.close();
  });
});

interface Closable {
  close(): Promise<void>;
}

describe('what a server says unasked', () => {
  it('is passed on where a human accepted that, but for a change of its tools', LONG, async () => {
    const { send, act, answer, answers, told } = await piped({ ...PASS, mode: 'shadow' });
    send(1, 'tools/list', {});
    await answer(1);
    act(2, { how: 'says-changed' });
    await expect
      .poll(() => methodsIn(answers).sort(), SOON)
      .toEqual(['notifications/message', LISTS[1], LISTS[2]].sort());
    expect(told('notifications/message')).toMatchObject([{ logger: 'odd', data: 'a log line' }]);
  });

  it('has the level of its log set by its only client, and by no caller of a service', LONG, async () => {
    const set = (level: unknown) => ({ id: 5, method: 'logging/setLevel', params: { level } });
    const { p, raw, answer, answers } = await piped(PASS);
    raw(JSON.stringify({ jsonrpc: '2.0', ...set('debug') }));
    expect((await answer(5)).result).toEqual({});
    expect(logOf(p)).toEqual(['logging/setLevel debug']);
    answers.length = 0;
    raw(JSON.stringify({ jsonrpc: '2.0', ...set('loud') }));
    expect((await answer(5)).error!.code).toBe(-32602);
    const { p: served, post, session, address, bot } = await posted(PASS);
    const headers = await session();
    expect((await post(set('debug'), { headers })).body.result).toEqual({});
    expect((await post(set('loud'), { headers })).body.error.code).toBe(-32602);
    const told = await fetch(`${address}/v1/mcp/ask`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bot.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ server: 'odd', method: 'logging/setLevel', params: { level: 'debug' } }),
    });
    expect(((await told.json()) as { code: string }).code).toBe('SHAPE_INVALID');
    expect(logOf(served)).toEqual([]);
  });

  it('of its log reaches no caller over HTTP: the call of another one may have caused it', LONG, async () => {
    const { post, stream, session, spy } = await posted({ ...PASS, mode: 'shadow' });
    const own = heardFrom(await stream({ headers: await session() }));
    const headers = await session({ token: spy.token });
    const other = heardFrom(await stream({ headers, token: spy.token }));
    const call = { name: 'odd__act', arguments: { how: 'says-changed' } };
    await post({ id: 2, method: 'tools/call', params: call });
    for (const heard of [own, other])
      await expect.poll(() => methodsIn(heard).sort(), SOON).toEqual([LISTS[1], LISTS[2]].sort());
  });

  it('is not where nobody did', LONG, async () => {
    const { send, act, answer, answers } = await piped({ mode: 'shadow' });
    send(1, 'tools/list', {});
    await answer(1);
    act(2, { how: 'says-changed' });
    await answer(2);
    // Messages of one server are taken in their order: what it said before this answer was looked at.
    act(3, { how: 'after' });
    await answer(3);
    expect(methodsIn(answers)).toEqual([]);
  });
});

describe('a resource that a client watches', () => {
  it('of a server is told of by its name behind the gate, and once for all who watch it', LONG, async () => {
    const { p, send, answer, told } = await piped(PASS);
    send(1, 'resources/subscribe', { uri: 'odd+test://a' });
    expect((await answer(1)).result).toEqual({});
    send(2, 'resources/subscribe', { uri: 'test://a' });
    await answer(2);
    const updated = () => told('notifications/resources/updated').map(({ uri }) => uri);
    await expect.poll(updated, SOON).toEqual(['odd+test://a']);
    send(3, 'resources/unsubscribe', { uri: 'odd+test://a' });
    await answer(3);
    expect(logOf(p)).toEqual(['resources/subscribe test://a']);
    send(4, 'resources/unsubscribe', { uri: 'test://a' });
    await answer(4);
    expect(logOf(p)).toEqual(['resources/subscribe test://a', 'resources/unsubscribe test://a']);
    send(5, 'resources/unsubscribe', { uri: 'test://never' });
    expect((await answer(5)).result).toEqual({});
  });

  it('is watched without a handshake as long as the stream is open', LONG, async () => {
    const { p, send } = await posted(PASS);
    const gone = new AbortController();
    const uris = ['odd+test://a', 'keyturn://intent/nobody'];
    const answer = await send(listening('a', { resourceSubscriptions: uris }), { signal: gone.signal });
    const heard = heardFrom(answer);
    const updated = () => heard.filter(({ method }) => method === 'notifications/resources/updated');
    await expect.poll(() => updated().map(({ params }) => params.uri), SOON).toEqual(['odd+test://a']);
    expect(heard[0]!.params.notifications).toEqual({ resourceSubscriptions: ['odd+test://a'] });
    gone.abort();
    await expect.poll(() => logOf(p), SOON).toContain('resources/unsubscribe test://a');
  });

  it('can be an intent of its own, and none of another agent', LONG, async () => {
    const { p, post, send, stream, session, waiting, spy } = await posted();
    const call = { name: 'odd__act', arguments: { how: 'x' }, task: { ttl: 1000 } };
    await post({ id: 2, method: 'tools/call', params: call });
    const [intent_id] = await waiting();
    const uri = `keyturn://intent/${intent_id}`;
    const subscribe = { id: 3, method: 'resources/subscribe', params: { uri } };
    const mine = await session();
    expect((await post(subscribe, { headers: mine })).body.result).toEqual({});
    const other = await session({ token: spy.token });
    const refused = await post(subscribe, { headers: other, token: spy.token });
    expect(refused.body.error.code).toBe(-32602);
    // Without a session there is no client to tell.
    expect((await post(subscribe)).body.error.code).toBe(-32600);
    const heard = heardFrom(await stream({ headers: mine }));
    const listened = heardFrom(
      await send(listening('a', { resourceSubscriptions: [uri] }), { token: spy.token }),
    );
    await expect.poll(() => listened.length, SOON).toBe(1);
    expect(listened[0]!.params.notifications).toEqual({});
    const { hash } = await p.keyturn.intents.get({ intent_id: intent_id! });
    await p.keyturn.intents.reject({ intent_id: intent_id!, hash, reason: 'no', signer: p.ada });
    await expect.poll(() => heard.map(({ params }) => params.uri), SOON).toContain(uri);
    expect(listened).toHaveLength(1);
  });
});

describe('how far a call has come', () => {
  const progressIn = (heard: readonly Heard[]) =>
    heard.filter(({ method }) => method === 'notifications/progress').map(({ params }) => params);
  const EXPECTED = [1, 2, 3].map((progress) => ({ progressToken: 'mine', progress, total: 3 }));

  for (const meta of [{}, STATELESS_META])
    it(
      `is told over HTTP before its answer, ${meta === STATELESS_META ? 'without' : 'with'} a handshake`,
      LONG,
      async () => {
        const { send, waiting, turn } = await posted();
        const params = {
          name: 'odd__act',
          arguments: { how: 'progress' },
          _meta: { ...meta, progressToken: 'mine' },
        };
        const called = send({ id: 1, method: 'tools/call', params });
        await expect.poll(waiting, SOON).toHaveLength(1);
        await turn((await waiting())[0]!);
        const heard = heardFrom(await called);
        await expect.poll(() => heard.at(-1)?.result, SOON).toBeDefined();
        expect(progressIn(heard)).toMatchObject(EXPECTED);
        expect(heard).toHaveLength(4);
      },
    );

  it('is told by nobody but its own run', LONG, async () => {
    const { p, send, answer, answers } = await piped({}, { hold_ms: 20_000 });
    const call = (id: number, how: string) =>
      send(id, 'tools/call', { name: 'odd__act', arguments: { how }, _meta: { progressToken: 'mine' } });
    const waiting = async () => (await p.keyturn.intents.list({ status_word: 'waiting' })).intents;
    for (const [id, how] of [
      [1, 'forges'],
      [2, 'progress'],
    ] as const) {
      call(id, how);
      await expect.poll(waiting, SOON).toHaveLength(1);
      await turned(p, (await waiting())[0]!.intent_id);
      await answer(id);
    }
    expect(progressIn(answers)).toMatchObject(EXPECTED);
  });
});
