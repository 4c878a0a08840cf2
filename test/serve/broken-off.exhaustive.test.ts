import { once } from 'node:events';
import { appendFileSync, readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Shared, shared } from '../journey/postgres-host.ts';
import { postgres } from '../store/postgres-place.ts';
import { until } from '../support/processes.ts';
import { serveProcess } from './serve-process.ts';
import { call, type Shown, session, shownAs, withToken } from './service.ts';

const LONG = { timeout: 120_000 };
const server = postgres();

const TOOLS = `version: 1
tools:
  - name: say
    summary: Prints a word.
    executable: /usr/bin/printf
    args: ["%s\\\\n", "{word}"]
    parameters: { word: { type: string, max_length: 50000 } }
    cwd: /
    sandbox: none
    undo: none
`;
/** More than a connection that is not read holds on its way. */
const MANY = 120;

/** Over a ledger on the server, with the lines of its log about what failed. */
async function served(p: Shared) {
  appendFileSync(join(p.root, 'keyturn.yaml'), 'log: { level: info, file: service.log }\n');
  const s = await serveProcess(p, '--no-execute');
  const lines = () => readFileSync(join(p.root, 'service.log'), 'utf8').match(/.+/g) ?? [];
  const broken = (): { readonly entry_point: string; readonly code: string }[] =>
    lines()
      .map((line) => JSON.parse(line))
      .filter(({ code }) => code !== 'OK');
  return { ...s, broken };
}

type Served = Awaited<ReturnType<typeof served>>;

async function withLongLedger(tenant: string) {
  const p = await shared(server(), tenant, TOOLS);
  const word = (at: number) => String(at).padEnd(50_000, 'x');
  for (let at = 0; at < MANY; at++)
    await p.keyturn.intents.propose({
      declared_goal: 'Say it.',
      effect: { kind: 'tool', tool: 'say', arguments: { word: word(at) } },
    });
  const { token } = await withToken(p, 'bot');
  const s = await served(p);
  return { s, token, cookie: await session(s) };
}

/** The answer as it comes; nothing of it is read. */
function begun({ address }: Served, path: string, headers: Record<string, string>, body?: object) {
  return new Promise<IncomingMessage>((done, failed) => {
    const method = body ? 'POST' : 'GET';
    const type: Record<string, string> = body ? { 'content-type': 'application/json' } : {};
    const sent = request(`${address}${path}`, { method, headers: { ...type, ...headers } }, done);
    sent.on('error', failed);
    sent.end(body && JSON.stringify(body));
  });
}

const exporting = (s: Served, cookie: Shown) =>
  begun(s, '/v1/ledger/export', { ...shownAs(cookie), origin: s.address }, { with_objects: true });

/** Reads to the end, and says whether it was a clean one. */
async function rest(answer: IncomingMessage) {
  let text = '';
  try {
    for await (const part of answer) text += part;
  } catch {
    return { whole: false, text };
  }
  return { whole: answer.complete, text };
}

const lives = async (s: Served) => (await call(s, '/livez')).status;

describe('an answer that flows and breaks off', () => {
  it('the store goes away: the transfer is cut, and one line of the log says why', LONG, async () => {
    const { s, cookie } = await withLongLedger('away');
    const answer = await exporting(s, cookie);
    expect(answer.statusCode).toBe(200);
    await once(answer, 'readable');
    await server().server.kill();
    try {
      const { whole, text } = await rest(answer);
      expect(whole).toBe(false);
      expect(text).not.toContain('{"head":');
      expect(text).not.toContain('Error');
      await until(() => s.broken().length > 0);
      expect(s.broken()).toMatchObject([{ entry_point: 'ledger.export', code: 'STORE_UNREACHABLE' }]);
      const refused = await call(s, '/v1/ledger/export', {}, { cookie });
      expect([refused.status, refused.body.code]).toEqual([503, 'STORE_UNREACHABLE']);
      expect(s.stderr()).toBe('');
      expect(await lives(s)).toBe(200);
    } finally {
      await server().server.start();
    }
  });

  it('the session is ended: the transfer is cut', LONG, async () => {
    const { s, cookie } = await withLongLedger('ended');
    const answer = await exporting(s, cookie);
    await once(answer, 'readable');
    const headers = { ...shownAs(cookie), origin: s.address };
    expect((await fetch(`${s.address}/v1/session`, { method: 'DELETE', headers })).status).toBe(204);
    expect((await rest(answer)).whole).toBe(false);
    await until(() => s.broken().length > 0);
    expect(s.broken()).toMatchObject([{ entry_point: 'ledger.export', code: 'TOKEN_INVALID' }]);
    expect(s.stderr()).toBe('');
  });

  it('the service stops: the transfer is cut', LONG, async () => {
    const { s, cookie } = await withLongLedger('stopped');
    const answer = await exporting(s, cookie);
    await once(answer, 'readable');
    s.child.kill('SIGTERM');
    expect((await rest(answer)).whole).toBe(false);
    expect((await once(s.child, 'exit'))[0]).toBe(0);
    expect(s.stderr()).toBe('');
  });

  it('the client leaves: nothing is said, and the stream counts no longer', LONG, async () => {
    const { s, cookie, token } = await withLongLedger('left');
    const answer = await exporting(s, cookie);
    await once(answer, 'readable');
    answer.destroy();
    const measures = async () => (await call(s, '/metrics', undefined, { token })).text;
    await until(async () => /^keyturn_streams 0$/m.test(await measures()));
    expect(s.broken()).toEqual([]);
    expect(s.stderr()).toBe('');
  });

  it('events and messages of MCP: the store goes away, and no stack is printed', LONG, async () => {
    const p = await shared(server(), 'streams');
    const { token } = await withToken(p, 'bot');
    const s = await served(p);
    const authorization = `Bearer ${token}`;
    const events = await begun(s, '/v1/events', { authorization });
    const opened = await call(s, '/mcp', INITIALIZE, { token, headers: STREAMS });
    const id = opened.headers.get('mcp-session-id')!;
    const messages = await begun(s, '/mcp', { authorization, ...STREAMS, 'mcp-session-id': id });
    expect([events.statusCode, messages.statusCode]).toEqual([200, 200]);
    await server().server.kill();
    try {
      await rest(events);
      const about = s.broken().filter(({ entry_point }) => entry_point === 'events');
      expect(about.length).toBeLessThanOrEqual(1);
      expect(s.stderr()).toBe('');
      expect(await lives(s)).toBe(200);
    } finally {
      await server().server.start();
    }
  });
});

const STREAMS = { accept: 'application/json, text/event-stream' };
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  },
};
