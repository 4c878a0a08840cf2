import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { accepted, mcpProject, SERVERS, turned, writeServers } from '../mcp-call/servers.ts';
import { serving, withToken } from '../serve/service.ts';
import { expectRefusal } from '../support/refusal.ts';
import { textOf } from './stage.ts';

const LONG = { timeout: 90_000 };
const PASS = ['resources', 'prompts', 'completion', 'logging'];
const everything = (more: object) => ({ every: { script: SERVERS.everything, more } });

async function reached(servers: Parameters<typeof mcpProject>[0]) {
  const p = await mcpProject(servers);
  for (const server of Object.keys(servers)) await accepted(p.keyturn, server, p.ada);
  const { token } = await withToken(p, 'bot');
  const { address } = await serving(p);
  const connect = async (capabilities: object = {}) => {
    const client = new Client({ name: 'test', version: '1' }, {
      capabilities,
      versionNegotiation: { mode: 'legacy' },
    } as never);
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${address}/mcp`), {
        requestInit: { headers: { authorization: `Bearer ${token}` } },
      }),
    );
    onTestFinished(() => client.close());
    return client;
  };
  return { p, connect };
}

describe('what a server offers besides its tools', () => {
  it('reaches the agent where a human accepted that, each named by its server', LONG, async () => {
    const { connect } = await reached(everything({ pass: PASS }));
    const client = await connect();
    const { resources } = await client.listResources();
    const found = resources.find(({ uri }) => uri.startsWith('every+'))!;
    expect((await client.readResource({ uri: found.uri })).contents[0]).toMatchObject({ uri: found.uri });
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.length).toBeGreaterThan(0);
    for (const { uriTemplate } of resourceTemplates) expect(uriTemplate).toMatch(/^every\+/);
    const { prompts } = await client.listPrompts();
    const names = prompts.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['propose-well', 'every__simple-prompt']));
    const { messages } = await client.getPrompt({ name: 'every__simple-prompt' });
    expect(messages.length).toBeGreaterThan(0);
    const ref = { type: 'ref/prompt' as const, name: 'every__completable-prompt' };
    const told = await client.complete({ ref, argument: { name: 'department', value: 'E' } });
    expect(told.completion.values).toContain('Engineering');
    await client.setLoggingLevel('warning');
  });

  it('does not while the agent, or all, is frozen', LONG, async () => {
    const { p, connect } = await reached(everything({ pass: PASS }));
    const client = await connect();
    const { resources } = await client.listResources();
    const read = () => client.readResource({ uri: resources[0]!.uri });
    await read();
    const freeze = { reason: 'a test', signer: p.ada };
    await p.keyturn.system.freeze({ scope: 'agent', name: 'bot', ...freeze });
    await expect(read()).rejects.toThrow('frozen');
  });

  it('does not where nobody did, and keyturn.yaml alone changes nothing', LONG, async () => {
    const { p, connect } = await reached(everything({ pass: ['prompts'] }));
    const client = await connect();
    expect((await client.listResources()).resources).toEqual([]);
    await expect(
      client.readResource({ uri: 'every+demo://resource/static/document/features.md' }),
    ).rejects.toThrow();
    expect((await client.listPrompts()).prompts.length).toBeGreaterThan(1);
    await expectRefusal('MCP_NOT_PASSED', () =>
      p.keyturn.mcp.ask({ server: 'every', method: 'resources/list', params: {} }),
    );
    writeServers(p.root, everything({ pass: PASS }), p.files);
    expect((await client.listResources()).resources).toEqual([]);
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['propose-well']);
  });
});

describe('a list of a server that is not listed whole', () => {
  it.each([
    ['paged', 1000, /first 1000/],
    ['broken-page', 400, /no second page/],
  ])('says so: %s', LONG, async (mode, most, why) => {
    const more = { pass: ['resources'] };
    const { connect } = await reached({
      odd: { script: SERVERS.odd, args: [mode, '{files}/log'], more },
      every: { script: SERVERS.everything, more },
    });
    const client = await connect();
    const { resources, _meta } = await client.listResources();
    const of = (server: string) => resources.filter(({ uri }) => uri.startsWith(`${server}+`));
    expect(of('odd')).toHaveLength(most);
    expect(of('every').length).toBeGreaterThan(0);
    expect(_meta).toEqual({ 'keyturn/incomplete': { odd: expect.stringMatching(why) } });
  });
});

describe('a resource that its server does not have', () => {
  it('is an error that names it as the client did', LONG, async () => {
    const more = { pass: ['resources'] };
    const { connect } = await reached({ odd: { script: SERVERS.odd, args: ['plain', '{files}/log'], more } });
    const client = await connect();
    const uri = 'odd+test://none';
    await expect(client.readResource({ uri })).rejects.toMatchObject({ data: { uri } });
  });
});

describe('what a result of a tool links to', () => {
  it(
    'is named by its server, and is read by that name where several servers pass resources',
    LONG,
    async () => {
      const more = { pass: ['resources'], mode: 'shadow' };
      const odd = (log: string) => ({ script: SERVERS.odd, args: ['plain', `{files}/${log}`], more });
      const { p, connect } = await reached({ one: odd('one.log'), two: odd('two.log') });
      const client = await connect();
      for (const server of ['one', 'two']) {
        const told = await client.callTool({ name: `${server}__act`, arguments: { how: 'links' } });
        const uri = `${server}+test://mine`;
        expect(told.content).toEqual([
          { type: 'resource_link', uri, name: 'mine' },
          { type: 'resource', resource: { uri, text: 'held' } },
        ]);
        const { contents } = await client.readResource({ uri });
        expect(contents).toEqual([{ uri, text: `read by ${p.files}/${server}.log` }]);
      }
    },
  );

  it('keeps its name in the result of a server that passes no resources', LONG, async () => {
    const more = { mode: 'shadow' };
    const { connect } = await reached({ odd: { script: SERVERS.odd, args: ['plain', '{files}/log'], more } });
    const client = await connect();
    const told = await client.callTool({ name: 'odd__act', arguments: { how: 'links' } });
    expect(told.content).toMatchObject([{ uri: 'test://mine' }, { resource: { uri: 'test://mine' } }]);
  });
});

describe('a server that asks a person for something', () => {
  it('gets no answer from the gate: a link is offered in its words, and nothing else', LONG, async () => {
    const { p, connect } = await reached({ odd: { script: SERVERS.odd, args: ['plain', '{files}/log'] } });
    const client = await connect({ elicitation: {} });
    const asked: unknown[] = [];
    // A client that no human watches accepts whatever it is asked.
    client.setRequestHandler(
      'elicitation/create' as never,
      (async (request: unknown) => {
        asked.push(request);
        return { action: 'accept', content: {} };
      }) as never,
    );
    for (const how of ['wants-input', 'elicits']) {
      const called = client.callTool({ name: 'odd__act', arguments: { how } });
      const waiting = async () => (await p.keyturn.intents.list({ status_word: 'waiting' })).intents;
      await expect.poll(waiting, { timeout: 20_000 }).toHaveLength(1);
      // It waits for a human, whatever the client would accept.
      await turned(p, (await waiting())[0]!.intent_id);
      const told = textOf(await called);
      expect(told).toContain(how === 'elicits' ? 'did elicits' : 'https://sign.example/in');
    }
    expect(asked).toEqual([]);
  });
});
