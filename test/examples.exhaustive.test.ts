import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freshDist } from './support/dist.ts';
import { newcomer, nextOf, started, turnNext } from './support/example.ts';
import { installDist } from './support/installed.ts';
import { freshFolder } from './support/scratch.ts';

const EXAMPLES = resolve(import.meta.dirname, '../examples');

/** Each with the client of its own SDK, installed from the registry as examples/package.json pins it. */
describe('the examples', () => {
  const dist = freshDist();
  const place = freshFolder('keyturn-examples-');

  beforeAll(() => {
    copyFileSync(join(EXAMPLES, 'package.json'), join(place, 'package.json'));
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline'], {
      cwd: place,
      stdio: 'pipe',
    });
    installDist(place, dist);
  }, 600_000);

  afterAll(() => rmSync(place, { recursive: true, force: true }));

  async function projectWith(example: string, client: string, script?: string) {
    const p = await newcomer(script);
    symlinkSync(join(place, 'node_modules'), join(p.root, 'node_modules'));
    copyFileSync(join(EXAMPLES, example), join(p.root, example));
    writeFileSync(join(p.root, 'client.mjs'), client);
    return p;
  }

  const MCP_CLIENT = `
    import { Client } from '@modelcontextprotocol/sdk/client/index.js';
    import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
    const client = new Client({ name: 'test', version: '1.0.0' });
    await client.connect(new StdioClientTransport({ command: process.execPath, args: ['mcp.mjs'], stderr: 'inherit' }));
    const { tools } = await client.listTools();
    const stop = new AbortController();
    process.on('SIGUSR2', () => stop.abort());
    const call = { name: tools[0].name, arguments: { file: 'data/numbers.txt', why: 'Keep the numbers' } };
    const options = { signal: stop.signal, timeout: 600_000 };
    const { content, isError } = await client.callTool(call, undefined, options).catch(() => ({ content: [{ text: 'given up' }] }));
    console.log(content[0].text, isError);
    if (stop.signal.aborted) await new Promise((done) => setTimeout(done, 1e9));
    await client.close();
  `;

  it('an MCP client calls a tool, a human turns its key, and the client has the result', async () => {
    const p = await projectWith('mcp.mjs', MCP_CLIENT);
    const { ended } = started(p, ['client.mjs']);
    await turnNext(p);
    expect(await ended).toEqual({ code: 0, said: 'succeeded false\n' });
    expect(readFileSync(join(p.root, 'backups/numbers.txt'), 'utf8')).toBe('42\n');
  });

  it('an MCP client is told why a human said no', async () => {
    const p = await projectWith('mcp.mjs', MCP_CLIENT);
    const { ended } = started(p, ['client.mjs']);
    await p.keyturn.intents.reject({ ...(await nextOf(p)), reason: 'Not today.', signer: p.ada });
    expect(await ended).toEqual({ code: 0, said: 'Not today. true\n' });
  });

  it('what an MCP client no longer waits for is withdrawn', async () => {
    const p = await projectWith('mcp.mjs', MCP_CLIENT);
    const { child } = started(p, ['client.mjs']);
    const { intent_id } = await nextOf(p);
    child.kill('SIGUSR2');
    expect((await p.keyturn.intents.waitFor({ intent_id })).status_word).toBe('withdrawn');
  });

  const GRAPH = `
    import { AIMessage } from '@langchain/core/messages';
    import { Keyturn } from 'keyturn';
    import * as z from 'zod';
    import { gated, graphOf } from './langgraph.mjs';
    const keyturn = await Keyturn.open({ at: process.cwd() });
    const greet = gated(keyturn, 'greet', 'Greets somebody.', z.object({ name: z.string() }));
    const tool_calls = [{ id: 'call_1', name: 'greet', args: { name: 'Grace' }, type: 'tool_call' }];
    const graph = graphOf([greet]);
    const { messages } = await graph.invoke(
      { messages: [new AIMessage({ content: '', tool_calls })] },
      { configurable: { thread_id: 'a' } },
    );
    console.log(messages.at(-1).content.trim());
    await keyturn.close();
  `;

  it('a call in LangGraph waits for the human and has what the tool printed', async () => {
    const p = await projectWith('langgraph.mjs', GRAPH);
    const { ended } = started(p, ['client.mjs']);
    await turnNext(p);
    expect(await ended).toEqual({ code: 0, said: 'succeeded\nHello, Grace!\n' });
  });

  it('a graph of LangGraph is told why a human said no', async () => {
    const p = await projectWith('langgraph.mjs', GRAPH);
    const { ended } = started(p, ['client.mjs']);
    await p.keyturn.intents.reject({ ...(await nextOf(p)), reason: 'Not today.', signer: p.ada });
    expect(await ended).toEqual({ code: 0, said: 'rejected\nNot today.\n' });
  });

  /** A model that calls the tool, and then says what it was told. */
  const AGENT = `
    import { Agent, run, setTracingDisabled, Usage } from '@openai/agents';
    import { Keyturn } from 'keyturn';
    import * as z from 'zod';
    import { gated } from './openai-agents.mjs';
    setTracingDisabled(true);
    const keyturn = await Keyturn.open({ at: process.cwd() });
    const tools = [gated(keyturn, 'a', 'greet', 'Greets somebody.', z.object({ name: z.string() }))];
    const call = { type: 'function_call', callId: '1', name: 'greet', status: 'completed', arguments: '{"name":"Grace"}' };
    const said = (text) => ({ type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text }] });
    const model = {
      getResponse: async ({ input }) => {
        const told = Array.isArray(input) && input.find(({ type }) => type === 'function_call_result');
        return { usage: new Usage(), output: [told ? said('I was told: ' + (told.output.text ?? told.output)) : call] };
      },
    };
    const { finalOutput } = await run(new Agent({ name: 'greeter', model, tools }), 'Greet Grace.');
    console.log(finalOutput.trim());
    await keyturn.close();
  `;

  const AI = `
    import { generateText, stepCountIs } from 'ai';
    import { MockLanguageModelV3 } from 'ai/test';
    import { Keyturn } from 'keyturn';
    import * as z from 'zod';
    import { gated } from './ai-sdk.mjs';
    const keyturn = await Keyturn.open({ at: process.cwd() });
    const tools = { greet: gated(keyturn, 'a', 'greet', 'Greets somebody.', z.object({ name: z.string() })) };
    const call = { type: 'tool-call', toolCallId: '1', toolName: 'greet', input: '{"name":"Grace"}' };
    const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
    const model = new MockLanguageModelV3({
      doGenerate: async ({ prompt }) => {
        const told = prompt.findLast(({ role }) => role === 'tool')?.content[0].output.value;
        const content = told === undefined ? call : { type: 'text', text: 'I was told: ' + told };
        const finishReason = { unified: told === undefined ? 'tool-calls' : 'stop' };
        return { content: [content], finishReason, usage, warnings: [] };
      },
    });
    const { text } = await generateText({ model, tools, prompt: 'Greet Grace.', stopWhen: stepCountIs(3) });
    console.log(text.trim());
    await keyturn.close();
  `;

  describe.each([
    ['the OpenAI Agents SDK', 'openai-agents.mjs', AGENT],
    ['the AI SDK', 'ai-sdk.mjs', AI],
  ])('a model in %s', (_name, example, client) => {
    it('goes on with what the tool printed, once a human has turned the key', async () => {
      const p = await projectWith(example, client);
      const { ended } = started(p, ['client.mjs']);
      await turnNext(p);
      expect(await ended).toEqual({ code: 0, said: 'I was told: succeeded\nHello, Grace!\n' });
    });

    it('is told why a human said no, and goes on', async () => {
      const p = await projectWith(example, client);
      const { ended } = started(p, ['client.mjs']);
      await p.keyturn.intents.reject({ ...(await nextOf(p)), reason: 'Not today.', signer: p.ada });
      expect(await ended).toEqual({ code: 0, said: 'I was told: rejected\nNot today.\n' });
    });
  });

  describe.each([
    ['LangGraph', 'langgraph.mjs', GRAPH, ''],
    ['the OpenAI Agents SDK', 'openai-agents.mjs', AGENT, 'I was told: '],
    ['the AI SDK', 'ai-sdk.mjs', AI, 'I was told: '],
  ])('a program with %s that was killed while its call waited', (_name, example, client, before) => {
    const said = `${before}succeeded\nHello, Grace!`;
    it('goes on with the same call when it is started again: one intent, one run', async () => {
      const p = await projectWith(example, client);
      const first = started(p, ['client.mjs']);
      const { intent_id } = await nextOf(p);
      first.child.kill('SIGKILL');
      await first.ended;
      // The human decides while no program is there.
      await turnNext(p);
      expect(await started(p, ['client.mjs']).ended).toEqual({ code: 0, said: `${said}\n` });
      // Started once more, it is told the same, and nothing runs.
      expect(await started(p, ['client.mjs']).ended).toEqual({ code: 0, said: `${said}\n` });
      const { intents } = await p.keyturn.intents.list({});
      expect(intents.map((one) => one.intent_id)).toEqual([intent_id]);
      expect((await p.keyturn.intents.get({ intent_id })).runs).toHaveLength(1);
      // A call of the same id in another thread is another one.
      writeFileSync(
        join(p.root, 'client.mjs'),
        client.replace("thread_id: 'a'", "thread_id: 'b'").replace("'a', 'greet'", "'b', 'greet'"),
      );
      const other = started(p, ['client.mjs']);
      expect((await nextOf(p)).intent_id).not.toBe(intent_id);
      await turnNext(p);
      expect((await other.ended).code).toBe(0);
    });
  });

  describe.each([
    ['LangGraph', 'langgraph.mjs', GRAPH, ''],
    ['the OpenAI Agents SDK', 'openai-agents.mjs', AGENT, 'I was told: '],
    ['the AI SDK', 'ai-sdk.mjs', AI, 'I was told: '],
  ])('a model of %s', (_name, example, client, before) => {
    it('is told that a tool succeeded which prints nothing', async () => {
      const p = await projectWith(example, client, 'true');
      const { ended } = started(p, ['client.mjs']);
      await turnNext(p);
      expect(await ended).toEqual({ code: 0, said: `${before}succeeded\n` });
    });

    it('is told that a tool failed, with what that printed', async () => {
      const p = await projectWith(example, client, 'echo half; echo why >&2; exit 3');
      const { ended } = started(p, ['client.mjs']);
      await turnNext(p);
      expect(await ended).toEqual({ code: 0, said: `${before}failed\nhalf\n\nwhy\n` });
    });
  });

  it('an HTTP endpoint that is told no port listens at 8080', () => {
    expect(readFileSync(join(EXAMPLES, 'http.mjs'), 'utf8')).toContain('Number(process.env.PORT ?? 8080)');
  });

  it('none has more than 25 lines of its own', () => {
    for (const name of ['mcp.mjs', 'http.mjs', 'langgraph.mjs', 'openai-agents.mjs', 'ai-sdk.mjs'])
      expect(
        readFileSync(join(EXAMPLES, name), 'utf8').trimEnd().split('\n').length,
        name,
      ).toBeLessThanOrEqual(25);
  });
});
