import { describe, expect, it } from 'vitest';
import { posted } from './posted.ts';
import { STATELESS_META } from './stage.ts';

const LONG = { timeout: 90_000 };
const SOON = { timeout: 20_000 };

describe.each([
  ['2025-11-25', {}],
  ['2026-07-28', { _meta: STATELESS_META }],
])('what the gate itself offers besides tools, in %s', (_revision, meta) => {
  it('is what the caller proposed and what became of it, and nothing of another agent', LONG, async () => {
    const { post, turn, waiting, spy } = await posted();
    const ask = async (method: string, params: object, token?: string) =>
      (await post({ id: 1, method, params: { ...params, ...meta } }, { ...(token && { token }) })).body;
    await post({
      id: 2,
      method: 'tools/call',
      params: { name: 'odd__act', arguments: { how: 'own' }, task: { ttl: 1000 } },
    });
    const [intent_id] = await waiting();
    const uri = `keyturn://intent/${intent_id}`;
    const listed = async (token?: string) => (await ask('resources/list', {}, token)).result.resources;
    expect(await listed()).toEqual([{ uri, name: 'odd__act (proposed)', mimeType: 'application/json' }]);
    expect(await listed(spy.token)).toEqual([]);
    const read = async () => JSON.parse((await ask('resources/read', { uri })).result.contents[0].text);
    expect(await read()).toMatchObject({ intent_id, status_word: 'waiting', run: null });
    expect((await ask('resources/read', { uri }, spy.token)).error).toMatchObject({
      code: -32602,
      data: { uri },
    });
    await turn(intent_id!);
    await expect.poll(async () => (await read()).status_word, SOON).toBe('succeeded');
    expect((await read()).run.output.stdout).toContain('did own');
  });

  it('is a prompt that says how to propose so that a human can say yes quickly', LONG, async () => {
    const { post } = await posted();
    const ask = async (method: string, params: object) =>
      (await post({ id: 1, method, params: { ...params, ...meta } })).body;
    expect((await ask('prompts/list', {})).result.prompts).toMatchObject([{ name: 'propose-well' }]);
    const { messages } = (await ask('prompts/get', { name: 'propose-well' })).result;
    for (const words of ['keyturn_wait', 'keyturn_plan', 'NOT RUN yet', 'IN DOUBT', 'rejection'])
      expect(messages[0].content.text).toContain(words);
    expect((await ask('prompts/get', { name: 'nothing' })).error.code).toBe(-32602);
  });
});
