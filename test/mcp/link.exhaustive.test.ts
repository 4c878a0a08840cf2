import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, it, onTestFinished } from 'vitest';
import { questionsOf } from '../../src/mcp/input.ts';
import { accepted, mcpProject, SERVERS, turned } from '../mcp-call/servers.ts';
import { serving, withToken } from '../serve/service.ts';
import { piped } from './piped.ts';
import { BUILT_CLI, type Era, idOf, STATELESS_META, TASKS_META, textOf } from './stage.ts';

const LONG = { timeout: 120_000 };
const SOON = { timeout: 30_000 };
const ERAS = ['legacy', '2026-07-28'] as const satisfies readonly Era[];

async function staged() {
  const p = await mcpProject({ odd: { script: SERVERS.odd } });
  await accepted(p.keyturn, 'odd', p.ada);
  const { token } = await withToken(p, 'bot');
  const { address, stop } = await serving(p, { most: 2 });
  const waiting = async () =>
    (await p.keyturn.intents.list({ status_word: 'waiting' })).intents.map(({ intent_id }) => intent_id);
  /** A human approves and orders; the executor of the service runs it. */
  const turn = async (intent_id: string) => {
    const { hash } = await p.keyturn.intents.get({ intent_id });
    await p.keyturn.intents.turn({ intent_id, hash, signer: p.ada });
  };
  const stdio = (hold_s = 20) =>
    new StdioClientTransport({
      command: process.execPath,
      args: [BUILT_CLI, 'mcp', '--project', p.root, '--as', 'bot', '--hold', String(hold_s)],
      env: process.env as Record<string, string>,
    });
  const http = () =>
    new StreamableHTTPClientTransport(new URL(`${address}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    });
  return { p, address, stop, waiting, turn, stdio, http };
}

/** A client of the SDK that no human watches: it accepts whatever it is asked. */
async function accepting(era: Era, transport: StdioClientTransport | StreamableHTTPClientTransport) {
  const versionNegotiation = era === 'legacy' ? { mode: 'legacy' } : { mode: { pin: era } };
  const client = new Client({ name: 'test', version: '1' }, {
    versionNegotiation,
    capabilities: { elicitation: { url: {} } },
  } as never);
  const asked: { mode?: string; url?: string; message: string }[] = [];
  const done: string[] = [];
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    asked.push(params as never);
    return { action: 'accept' };
  });
  if (era === 'legacy')
    client.setNotificationHandler('notifications/elicitation/complete', ({ params }) => {
      done.push(params.elicitationId);
    });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return { client, asked, done };
}

describe.each(ERAS)('a %s client that opens links', (era) => {
  it.each(['stdio', 'http'] as const)(
    'is offered the one to its call over %s; that it accepts approves nothing',
    LONG,
    async (over) => {
      const { p, address, waiting, turn, ...routes } = await staged();
      const { client, asked, done } = await accepting(era, routes[over]());
      const called = client.callTool({ name: 'odd__act', arguments: { how: over } });
      await expect.poll(() => asked, SOON).toHaveLength(1);
      const [id] = await waiting();
      expect(asked[0]).toMatchObject({ mode: 'url', url: `${address}/#intent=${id}` });
      // Both calls of the stateless protocol, the first one and the one that brings the answer, are one intent.
      const again = client.callTool({ name: 'odd__act', arguments: { how: over } });
      expect(await waiting()).toEqual([id]);
      expect(await p.keyturn.intents.result({ intent_id: id! })).toMatchObject({ status_word: 'waiting' });
      await turn(id!);
      expect(textOf(await called)).toContain(`did ${over}`);
      await again;
      expect(asked).toHaveLength(1);
      if (era === 'legacy') await expect.poll(() => done, SOON).toContain(id);
    },
  );
});

describe('where a human can look', () => {
  it('is told over standard input while a service of the project runs', LONG, async () => {
    const { address, stop, stdio } = await staged();
    const client = new Client({ name: 'test', version: '1' }, {
      versionNegotiation: { mode: 'legacy' },
    } as never);
    await client.connect(stdio(0.1));
    onTestFinished(() => client.close());
    const told = await client.callTool({ name: 'odd__act', arguments: { how: 'x' } });
    expect(textOf(told)).toContain(`NOT RUN yet`);
    expect(textOf(told)).toContain(`${address}/#intent=${idOf(told)}`);
    await client.close();
    await stop();
    const later = new Client({ name: 'test', version: '1' }, {
      versionNegotiation: { mode: 'legacy' },
    } as never);
    await later.connect(stdio(0.1));
    onTestFinished(() => later.close());
    const again = textOf(await later.callTool({ name: 'odd__act', arguments: { how: 'x' } }));
    expect(again).toContain('NOT RUN yet');
    expect(again).not.toContain('http');
  });

  it(
    'is no question to a client that opens no links, that follows tasks, or where none is known',
    LONG,
    async () => {
      const OPENS = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { url: {} } } };
      const { send, answer, answers } = await piped({}, { link: 'https://keys.example/#intent=1' });
      const act = (how: string, _meta: object) => ({ name: 'odd__act', arguments: { how }, _meta });
      send(1, 'tools/call', act('none', STATELESS_META));
      expect((await answer(1)).result).toMatchObject({ isError: true });
      send(2, 'tools/call', act('task', TASKS_META));
      expect((await answer(2)).result).toMatchObject({ resultType: 'task' });
      const form = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
      send(3, 'tools/call', act('form', { ...STATELESS_META, ...form }));
      expect((await answer(3)).result).toMatchObject({ isError: true });
      send(4, 'initialize', { protocolVersion: '2025-06-18', capabilities: { elicitation: { url: {} } } });
      send(5, 'tools/call', { name: 'odd__act', arguments: { how: 'old' } });
      expect((await answer(5)).result).toMatchObject({ isError: true });
      expect(answers.filter(({ method }) => method === 'elicitation/create')).toEqual([]);
      const without = await piped();
      without.send(1, 'tools/call', act('x', { ...STATELESS_META, ...OPENS }));
      expect((await without.answer(1)).result).toMatchObject({ isError: true });
    },
  );
});

describe('the answer to a link', () => {
  const OPENS = {
    ...STATELESS_META,
    'io.modelcontextprotocol/clientCapabilities': { elicitation: { url: {}, form: {} } },
  };
  const ACT = { name: 'odd__act', arguments: { how: 'x' }, _meta: OPENS };

  it.each(['accept', 'decline', 'cancel'])(
    '%s changes nothing, and what was said before it stays',
    LONG,
    async (action) => {
      const { p, send, answer } = await piped({ pass: ['input'] }, { link: 'https://keys.example/' });
      const before = { inputResponses: { mine: { action: 'accept' } }, requestState: 'of the server' };
      send(1, 'tools/call', { ...ACT, ...before });
      const { result } = await answer(1);
      expect(result).toMatchObject({ resultType: 'input_required' });
      const [id] = (await p.keyturn.intents.list({ status_word: 'waiting' })).intents;
      const { requestState } = result;
      send(2, 'tools/call', { ...ACT, inputResponses: { keyturn_link: { action } }, requestState });
      expect(idOf((await answer(2)).result)).toBe(id!.intent_id);
      expect((await p.keyturn.intents.list({})).intents).toHaveLength(1);
      const { shown } = await p.keyturn.intents.story({ intent_id: id!.intent_id });
      expect(JSON.stringify(shown)).toContain('of the server');
      expect(JSON.stringify(shown)).not.toContain('keyturn_link');
      expect((await turned(p, id!.intent_id)).result).toBe('success');
    },
  );

  it('is refused where it is none, and a server cannot write one', LONG, async () => {
    const { p, send, answer } = await piped({ pass: ['input'] }, { link: 'https://keys.example/' });
    for (const [id, state] of [
      [1, '7'],
      [2, '{"responses":"x","state":null}'],
      [3, '{"responses":null,"state":7}'],
      [4, '{"responses":null,"state":"keyturn-link:{}"}'],
      [5, '{'],
    ] as const) {
      send(id, 'tools/call', { ...ACT, requestState: `keyturn-link:${state}` });
      expect((await answer(id)).error).toMatchObject({ code: -32602 });
    }
    expect((await p.keyturn.intents.list({})).intents).toEqual([]);
    const input = { capabilities: { elicitation: {} }, responses: null, state: null };
    const question = { method: 'elicitation/create', params: { message: 'Go on?' } };
    const forged = (requestState: string) => ({
      ...{ resultType: 'input_required', inputRequests: { keyturn_link: question }, requestState },
    });
    expect(questionsOf(forged('keyturn-link:{"responses":{"a":1}}'), 'odd', input)).toBeNull();
    expect(questionsOf(forged('mine'), 'odd', input)).not.toBeNull();
  });
});
