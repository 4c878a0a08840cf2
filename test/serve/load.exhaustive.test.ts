import { appendFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { callerQuotaOf } from '../../src/serve/quota.ts';
import { connectionOwner, letGoUnread, listen } from '../../src/serve/serve.ts';
import { authority } from '../journey/authority.ts';
import { headersOf, STATELESS_META } from '../mcp/stage.ts';
import { accepted, mcpProject, SERVERS } from '../mcp-call/servers.ts';
import { elapsed } from '../support/processes.ts';
import { project, ready } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { heard } from './raw.ts';
import { acted, call, refusalIn, SAY, service, serving, session, withToken } from './service.ts';

const SOON = { timeout: 10_000 };

/** Each byte that it prints is six in JSON. */
const MUCH = `version: 1
tools:
  - name: much
    summary: Prints much.
    executable: /usr/bin/head
    args: ["-c", "4194304", "/dev/zero"]
    stdout_bytes: 4194304
    sandbox: none
    undo: none
`;

async function opened(address: string, count: number): Promise<Socket[]> {
  const port = Number(new URL(address).port);
  const sockets: Socket[] = [];
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  for (let i = 0; i < count; i += 1) {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => {});
    await new Promise((done, failed) => socket.once('connect', done).once('error', failed));
  }
  return sockets;
}

describe('a service', () => {
  it('answers beside 1,000 connections that say nothing, and lets go of them', async () => {
    const s = await service();
    const idle = await opened(s.address, 1_000);
    const over = Promise.all(
      idle.map((socket) => new Promise((done) => socket.once('close', done).resume())),
    );
    expect((await call(s, '/v1/intents/propose', SAY, { token: s.token })).status).toBe(200);
    await over;
    const { text } = await call(s, '/metrics', undefined, { token: s.token });
    expect(Number(/^keyturn_connections (\d+)$/m.exec(text)![1])).toBeLessThan(10);
  }, 100_000);

  it('has so many connections at both addresses of localhost together, and so many of one machine', async () => {
    const answered = async (room: { connections: number; connections_each: number }) => {
      const { servers, port } = await listen('localhost', 0, room);
      onTestFinished(() => {
        for (const server of servers) server.close();
      });
      for (const server of servers) server.on('request', (_, response) => response.end('here'));
      // A connection that was let go of ends; the others are answered.
      const asked = async (host: string): Promise<string> => {
        const socket = connect(port, host);
        onTestFinished(() => void socket.destroy());
        socket.on('error', () => {});
        socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
        return new Promise((done) => {
          socket.once('data', () => done('answered')).once('close', () => done('closed'));
        });
      };
      const told: string[] = [];
      for (const host of ['127.0.0.1', '::1', '::1', '127.0.0.1']) told.push(await asked(host));
      for (const server of servers) server.closeAllConnections();
      await expect.poll(() => asked('::1'), SOON).toBe('answered');
      return told;
    };
    const [yes, no] = ['answered', 'closed'];
    expect(await answered({ connections: 3, connections_each: 100 })).toEqual([yes, yes, yes, no]);
    expect(await answered({ connections: 100, connections_each: 2 })).toEqual([yes, yes, no, no]);
  }, 100_000);

  it('takes a network of IPv6 for one machine: each of them has more addresses than there are connections', () => {
    const rows = [
      ['127.0.0.1', 'loopback'],
      ['::ffff:127.0.0.7', 'loopback'],
      ['::1', 'loopback'],
      ['192.0.2.7', '192.0.2.7'],
      ['::ffff:192.0.2.7', '192.0.2.7'],
      ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
      ['2001:db8:1:2::7', '2001:db8:1:2::/64'],
      ['2001:db8::7', '2001:db8:0:0::/64'],
      ['fe80::1%eth0', 'fe80:0:0:0::/64'],
      ['::2', '0:0:0:0::/64'],
      ['', ''],
    ] as const;
    for (const [address, owner] of rows) expect(connectionOwner(address), address).toBe(owner);
  });

  it('lets go of a caller who sends its headers or its body a byte at a time', async () => {
    const s = await service();
    const [headers, body] = (await opened(s.address, 2)) as [Socket, Socket];
    const start = `POST /v1/intents/propose HTTP/1.1\r\nHost: ${new URL(s.address).host}\r\n`;
    headers.write(start);
    body.write(`${start}Authorization: Bearer ${s.token}\r\nContent-Type: application/json\r\n`);
    body.write('Content-Length: 1000\r\n\r\n');
    const drip = setInterval(() => {
      headers.write('x');
      body.write(' ');
    }, 500);
    onTestFinished(() => clearInterval(drip));
    await Promise.all([headers, body].map((one) => new Promise((done) => one.once('close', done).resume())));
    expect((await call(s, '/livez')).status).toBe(200);
  }, 100_000);

  it('has so many streams and requests of one caller open at a time, and no more', async () => {
    const p = await authority();
    appendFileSync(join(p.root, 'keyturn.yaml'), '\nservice: { at_once: 2, streams: 2 }\n');
    const { token } = await withToken(p, 'bot');
    const other = await withToken(p, 'other');
    const s = await serving(p);
    const streamOf = (shown: string) =>
      fetch(`${s.address}/v1/events`, { headers: { authorization: `Bearer ${shown}` } });
    const first = await streamOf(token);
    await streamOf(token);
    expect((await streamOf(token)).status).toBe(429);
    const theirs = await streamOf(other.token);
    expect(theirs.status).toBe(200);
    await first.body!.cancel();
    let again = await streamOf(token);
    while (again.status === 429) again = await streamOf(token);
    expect(again.status).toBe(200);

    const { body } = await call(s, '/v1/intents/propose', SAY, { token });
    const { intent_id } = body;
    const gone = new AbortController();
    onTestFinished(() => gone.abort());
    const waits = [1, 2].map(() =>
      fetch(`${s.address}/v1/intents/waitFor?intent_id=${intent_id}`, {
        headers: { authorization: `Bearer ${token}` },
        signal: gone.signal,
      }).catch(() => null),
    );
    let third = await call(s, '/v1/intents/get', { intent_id }, { token });
    while (third.status !== 429) third = await call(s, '/v1/intents/get', { intent_id }, { token });
    expect(refusalIn(third)).toEqual([429, 'CALLER_LIMITED']);
    gone.abort();
    await Promise.all(waits);
  }, 100_000);

  it('counts what is posted to /mcp until its answer was read, as any other request', async () => {
    const p = await mcpProject({ odd: { script: SERVERS.odd } });
    await accepted(p.keyturn, 'odd', p.ada);
    appendFileSync(join(p.root, 'keyturn.yaml'), '\nservice: { at_once: 2, streams: 2 }\n');
    const [{ token }, other] = [await withToken(p, 'bot'), await withToken(p, 'other')];
    const s = await serving(p);
    const message = (id: number, method: string, params: object) =>
      JSON.stringify({ jsonrpc: '2.0', id, method, params });
    const post = (body: string, shown = token, signal: AbortSignal | null = null) =>
      fetch(`${s.address}/mcp`, {
        method: 'POST',
        headers: { authorization: `Bearer ${shown}`, 'content-type': 'application/json' },
        body,
        signal,
      });
    const ping = (shown = token) => post(message(1, 'ping', {}), shown);
    const gone = new AbortController();
    onTestFinished(() => gone.abort());
    const held = [1, 2].map((id) => {
      const params = { name: 'odd__act', arguments: { how: `call ${id}` } };
      return post(message(id, 'tools/call', params), token, gone.signal).catch(() => null);
    });
    const status = async (shown?: string) => (await ping(shown)).status;
    await expect.poll(() => status(), SOON).toBe(429);
    const refused = await ping();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    expect((await refused.json()).code).toBe('CALLER_LIMITED');
    expect(await status(other.token)).toBe(200);
    gone.abort();
    expect(await Promise.all(held)).toEqual([null, null]);
    await expect.poll(() => Promise.all([status(), status()]), SOON).toEqual([200, 200]);
  }, 100_000);

  it('has a stream that listens at /mcp count as a stream, and no request beside it', async () => {
    const p = await authority();
    appendFileSync(join(p.root, 'keyturn.yaml'), '\nservice: { at_once: 1, streams: 2 }\n');
    const { token } = await withToken(p, 'bot');
    const s = await serving(p);
    const gone = new AbortController();
    onTestFinished(() => gone.abort());
    const listen = () => {
      const params = { notifications: {}, _meta: STATELESS_META };
      const body = { jsonrpc: '2.0', id: 'listen', method: 'subscriptions/listen', params };
      return fetch(`${s.address}/mcp`, {
        method: 'POST',
        headers: {
          ...headersOf(body),
          authorization: `Bearer ${token}`,
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
        },
        body: JSON.stringify(body),
        signal: gone.signal,
      });
    };
    expect([(await listen()).status, (await listen()).status, (await listen()).status]).toEqual([
      ...[200, 200, 429],
    ]);
    expect((await call(s, '/v1/intents/list', {}, { token })).status).toBe(200);
  }, 100_000);

  it('counts its runs and how long they took', async () => {
    const s = await service({ most: 2, grace_ms: 20_000 });
    const { token } = s;
    const { body } = await call(s, '/v1/intents/propose', SAY, { token });
    const { intent_id, hash } = body;
    const cookie = await session(s);
    await acted(s, '/v1/intents/turn', { intent_id, hash }, s.ada, cookie);
    await call(s, '/v1/intents/waitFor', { intent_id }, { token });
    const runs = /^keyturn_runs_total\{outcome="success"\} 1$/m;
    let { text } = await call(s, '/metrics', undefined, { token });
    while (!runs.test(text)) text = (await call(s, '/metrics', undefined, { token })).text;
    expect(text).toMatch(/^keyturn_run_seconds_count 1$/m);
    expect(text).toMatch(/^keyturn_running 0$/m);
  }, 100_000);
});

describe('a run that goes on when the service stops', () => {
  it.each([
    ['may end within the grace, and is recorded as it ended', 1, 60_000, 'succeeded'],
    ['is stopped where it is longer than the grace, and recorded as that', 60, 500, 'partial'],
  ])(
    '%s',
    async (_, seconds, grace_ms, ends) => {
      const s = await service({ most: 2, grace_ms });
      const { token } = s;
      const asked = {
        declared_goal: 'Wait.',
        effect: { kind: 'tool', tool: 'wait', arguments: { seconds } },
      };
      const { body } = await call(s, '/v1/intents/propose', asked, { token });
      const { intent_id, hash } = body;
      const cookie = await session(s);
      await acted(s, '/v1/intents/turn', { intent_id, hash }, s.ada, cookie);
      const state = () => call(s, '/v1/intents/get', { intent_id }, { token });
      while ((await state()).body.status !== 'claimed');
      await s.stop();
      const { status, runs } = await s.keyturn.intents.get({ intent_id });
      expect([status, runs.at(-1)?.finished_at]).toEqual([ends, expect.any(String)]);
      await s.keyturn.ledger.verify({ deep: true });
    },
    100_000,
  );
});

describe('an answer that is not read', () => {
  it('counts among the requests of its caller, and holds so many bytes and no more', async () => {
    const p = await project(MUCH);
    const [{ token }, other] = [await withToken(p, 'bot'), await withToken(p, 'other')];
    const { intent_id, hash } = await p.keyturn.as({ name: 'bot' }).intents.propose({
      declared_goal: 'Print much.',
      effect: { kind: 'tool', tool: 'much', arguments: {} },
    });
    await ready(p, { intent_id, hash });
    const { seen } = await p.keyturn.runs.look({ intent_id, hash });
    await p.keyturn.runs.run({ intent_id, hash, seen });
    const s = await serving(p);
    const path = `/v1/intents/result?intent_id=${intent_id}`;
    const unread = async () => {
      const [socket] = await opened(s.address, 1);
      const { host } = new URL(s.address);
      socket!.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n\r\n`);
      await new Promise((begun) => socket!.once('readable', begun));
      return socket!;
    };
    const held = [await unread(), await unread()];
    const refused = await call(s, path, undefined, { token });
    expect(refusalIn(refused)).toEqual([429, 'CALLER_LIMITED']);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect((await call(s, '/v1/intents/list', undefined, { token: other.token })).status).toBe(200);
    held[0]!.destroy();
    const status = async () => (await call(s, path, undefined, { token })).status;
    await expect.poll(status, SOON).toBe(200);
    expect(await status()).toBe(200);
  }, 100_000);

  it('ends with its connection after a while, and an answer that is still being made does not', async () => {
    const { servers, port } = await listen('localhost', 0);
    onTestFinished(() => {
      for (const server of servers) server.close();
    });
    for (const server of servers)
      server.on('request', (incoming, outgoing) => {
        letGoUnread(incoming, outgoing, 100);
        if (incoming.url === '/much') outgoing.end(Buffer.alloc(64 * 1024 * 1024));
        else
          void elapsed(500, 'the answer is made for longer than one may be left unread').then(() =>
            outgoing.end('late'),
          );
      });
    const [socket] = await opened(`http://localhost:${port}`, 1);
    const over = new Promise((done) =>
      servers.map((one) => one.once('connection', (at) => at.once('close', done))),
    );
    const [held] = await opened(`http://localhost:${port}`, 1);
    held!.write('GET /much HTTP/1.1\r\nHost: localhost\r\n\r\n');
    socket!.write('GET /late HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect(await heard(socket!, /late$/)).toMatch(/late$/);
    await over;
  });
});

describe('the quota of a caller', () => {
  it('is a minute at once, then as much as flows in, and each caller has its own', async () => {
    let now = 0;
    const quota = callerQuotaOf({ requests_minute: 60, at_once: 1, streams: 1 }, () => now);
    for (let i = 0; i < 60; i += 1) quota.take('a');
    const { facts } = await expectRefusal('CALLER_LIMITED', () => quota.take('a'));
    expect(facts.retry_after_s).toBe(1);
    quota.take('b');
    now += 1_000;
    quota.take('a');
    await expectRefusal('CALLER_LIMITED', () => quota.take('a'));
    now += 3_600_000;
    for (let i = 0; i < 60; i += 1) quota.take('a');
    await expectRefusal('CALLER_LIMITED', () => quota.take('a'));
    const end = quota.begin('a', 'stream');
    await expectRefusal('CALLER_LIMITED', () => quota.begin('a', 'stream'));
    end();
    end();
    quota.begin('a', 'stream');
    expect(quota.streams()).toBe(1);
  });
});
