import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/canonical/json.ts';
import { callAnswer } from '../../src/mcp/answer.ts';
import type { McpCaller } from '../../src/mcp/call.ts';
import { serveStdio } from '../../src/mcp/stdio.ts';
import { turned } from '../mcp-call/servers.ts';
import { piped } from './piped.ts';
import { posted } from './posted.ts';
import { idOf, textOf } from './stage.ts';

const LONG = { timeout: 120_000 };
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

describe('what a server answers', () => {
  it('has no mark of the gate but those that the gate makes', LONG, async () => {
    const { p, act, send, answer } = await piped();
    act(1, { how: 'forged' });
    const id = idOf((await answer(1)).result);
    await turned(p, id);
    act(2, { how: 'forged' });
    const again = (await answer(2)).result;
    expect(again._meta).toEqual({ own: 1, 'keyturn/recorded': id });
    send(3, 'tools/call', { name: 'keyturn_wait', arguments: { id } });
    const { result } = await answer(3);
    expect(textOf(result)).toBe('did forged');
    expect(result._meta).toEqual({ own: 1 });
    expect(result.content[0]._meta).toEqual({ own: 1 });
  });

  it('in shadow mode has that mark as the gate makes it, and a definition has none', LONG, async () => {
    const { act, send, answer } = await piped({ mode: 'shadow' }, { mode: 'marks' });
    act(1, { how: 'forged' });
    const { _meta } = (await answer(1)).result;
    expect(_meta).toEqual({ own: 1, 'keyturn/shadow': expect.objectContaining({ would: 'ask' }) });
    send(2, 'tools/list', {});
    const { tools } = (await answer(2)).result;
    const { _meta: meta } = tools.find(({ name }: { name: string }) => name === 'odd__act');
    expect(meta).toEqual({ own: 1 });
  });

  it('is given as its words where an earlier version recorded it nested too deep', () => {
    const deep = `{"content":[{"type":"text","text":"x","a":${nested(20_000)}}]}`;
    for (const [status_word, result] of [
      ['succeeded', 'success'],
      ['failed', 'failure'],
    ]) {
      const run = { result, output: { stdout: deep, stderr: '' } };
      const told = callAnswer({ status_word, run, intent_id: 'x' } as never, 'mcp');
      expect(JSON.stringify(told)).toContain('[[[[');
      expect(told.isError).toBe(true);
    }
  });
});

describe('the gate', () => {
  for (const how of ['deep-progress', 'deep-notice', 'deep-requests', 'deep'])
    it(`lives on where a server says what is nested too deep (${how}), in every protocol`, LONG, async () => {
      const { p, send, answer } = await piped();
      send(1, 'tools/call', { name: 'odd__act', arguments: { how }, _meta: { progressToken: 1 } });
      const intent_id = idOf((await answer(1)).result);
      await turned(p, intent_id);
      send(2, 'tools/call', { name: 'keyturn_status', arguments: { id: intent_id } });
      expect(textOf((await answer(2)).result)).toMatch(how === 'deep' ? /^IN DOUBT/ : `did ${how}`);
      const web = await posted();
      const called = web.send({
        ...{ id: 1, method: 'tools/call' },
        params: { name: 'odd__act', arguments: { how }, _meta: { progressToken: 1 } },
      });
      await expect.poll(web.waiting, { timeout: 20_000 }).toHaveLength(1);
      await web.turn((await web.waiting())[0]!);
      expect(await (await called).text()).toMatch(how === 'deep' ? /IN DOUBT/ : `did ${how}`);
    });

  it('answers with an error what cannot be written, and goes on', async () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const lines: JsonObject[] = [];
    output.on('data', (chunk) => lines.push(JSON.parse(String(chunk))));
    const passes = [{ server: 'odd', pass: ['completion', 'resources'] }];
    const face = {
      mcp: {
        tools: async () => ({ tools: [], passes }),
        // No JSON: writing it fails.
        ask: async () => ({ result: { completion: 1n }, error: null }),
      },
    };
    const caller = { name: 'bot', face, holders: new Map() } as unknown as McpCaller;
    const served = serveStdio({ input, output, open: async () => caller });
    const params = { ref: { type: 'ref/resource', uri: 'a' }, argument: { name: 'a', value: 'b' } };
    for (const [id, method] of [
      [1, 'completion/complete'],
      [2, 'ping'],
    ])
      input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    await expect.poll(() => lines.length).toBe(2);
    input.end();
    await served;
    expect(lines.find(({ id }) => id === 1)).toMatchObject({ error: { data: { code: 'INTERNAL' } } });
    expect(lines.find(({ id }) => id === 2)).toMatchObject({ result: {} });
  });
});
