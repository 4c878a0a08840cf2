import { describe, expect, it } from 'vitest';
import { posted } from './posted.ts';
import { textOf } from './stage.ts';

const LONG = { timeout: 120_000 };
const MANY = 60;

/** An agent with more proposals than one page of a list has, and another one with one. */
async function busy() {
  const stage = await posted();
  const propose = async (name: string, how: string) => {
    const effect = { kind: 'mcp' as const, server: 'odd', tool: 'act', arguments: { how } };
    const asked = { declared_goal: 'act', effect, is_only_proposed: true };
    return (await stage.p.keyturn.as({ name }).mcp.call(asked)).intent_id;
  };
  const own: string[] = [];
  for (let n = 0; n < MANY; n += 1) own.push(await propose('bot', `n${n}`));
  await propose('spy', 'another');
  const ask = async (method: string, params: object = {}) =>
    (await stage.post({ id: 1, method, params })).body;
  return { ...stage, own, ask };
}

describe('what a client is told of its own calls', () => {
  it('is all of it, page by page, and nothing of another agent', LONG, async () => {
    const { own, ask } = await busy();
    const status = await ask('tools/call', { name: 'keyturn_status', arguments: {} });
    const told = textOf(status.result).split('\n');
    expect(told.map((line) => line.split(' ')[0]).sort()).toEqual([...own].sort());
    const lists = [
      ['resources/list', 'resources', ({ uri }: { uri: string }) => uri.replace('keyturn://intent/', '')],
      ['tasks/list', 'tasks', ({ taskId }: { taskId: string }) => taskId],
    ] as const;
    for (const [method, member, idIn] of lists) {
      const found: string[] = [];
      let pages = 0;
      for (let cursor: string | undefined; pages === 0 || cursor !== undefined; pages += 1) {
        const { result } = await ask(method, cursor === undefined ? {} : { cursor });
        found.push(...result[member].map(idIn));
        cursor = result.nextCursor;
      }
      expect(pages, method).toBe(2);
      expect(found.sort(), method).toEqual([...own].sort());
      for (const cursor of ['made up', 7])
        expect((await ask(method, { cursor })).error, method).toMatchObject({ code: -32602 });
    }
  });

  it('lists no tool that cannot be asked there', LONG, async () => {
    const { post } = await posted();
    const ask = async (method: string, params: object) => (await post({ id: 1, method, params })).body.result;
    const names = (await ask('tools/list', {})).tools.map(({ name }: { name: string }) => name);
    expect(names).toContain('keyturn_plan');
    expect(names).not.toContain('keyturn_ask');
    const asked = await ask('tools/call', { name: 'keyturn_ask', arguments: { words: 'hi' } });
    expect(textOf(asked)).toContain('NOT_FOR_AGENTS');
  });
});
