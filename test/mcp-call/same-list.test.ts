import { describe, expect, it } from 'vitest';
import { McpConnection } from '../../src/mcp-call/connection.ts';

type Tool = Readonly<Record<string, unknown>>;
const tool = (name: string, description = 'Acts.'): Tool => ({ name, description, inputSchema: {} });

/** A connection to a server that the test writes the lines of. */
async function connected(answer: (id: number, cursor: unknown) => string) {
  const connection = new McpConnection();
  const send = async (line: string) => {
    const { id, method, params } = JSON.parse(line);
    const said = { protocolVersion: params?.protocolVersion, capabilities: {}, serverInfo: {} };
    if (method === 'initialize')
      connection.talk.onLine(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, result: said })));
    if (method === 'tools/list') connection.talk.onLine(Buffer.from(answer(id, params.cursor)));
  };
  await connection.open({ send, kill: () => {}, stderr: () => Buffer.alloc(0) });
  return connection;
}

const lastId = (tools: readonly Tool[]) => (id: number) =>
  JSON.stringify({ result: { tools }, jsonrpc: '2.0', id });
const firstId = (tools: readonly Tool[]) => (id: number) =>
  JSON.stringify({ jsonrpc: '2.0', id, result: { tools } });

describe('a list of tools that a server gives again', () => {
  it.each([
    ['last', lastId],
    ['first', firstId],
  ])('is not read again, with its id %s, however long the id grows', async (_place, write) => {
    const connection = await connected(write([tool('act'), tool('peek')]));
    const first = await connection.tools();
    expect(first.map(({ name }) => name)).toEqual(['act', 'peek']);
    for (let n = 0; n < 20; n += 1) expect(await connection.tools()).toBe(first);
  });

  it('is read again when one byte of it is another one, and what is no list is refused as before', async () => {
    let tools = [tool('act')];
    let line = (id: number) => lastId(tools)(id);
    const connection = await connected((id) => line(id));
    const first = await connection.tools();
    tools = [tool('act', 'Axts.')];
    expect((await connection.tools())[0]).toMatchObject({ description: 'Axts.' });
    tools = [tool('act')];
    const again = await connection.tools();
    expect(again).not.toBe(first);
    expect(again).toEqual(first);
    line = (id) => `${lastId(tools)(id).slice(0, -1)},"error":{"code":1,"message":"no"}}`;
    await expect(connection.tools()).rejects.toMatchObject({ code: 'MCP_SERVER_DOWN' });
    // The same text for another request answers no caller; the one after it does.
    line = (id) => {
      setImmediate(() => connection.talk.onLine(Buffer.from(lastId(tools)(id))));
      return lastId(tools)(id + 7);
    };
    expect(await connection.tools()).toBe(again);
  });

  it('is read again where it has pages', async () => {
    const pages = (id: number, cursor: unknown) => {
      const tools = [tool(cursor === undefined ? 'act' : 'peek')];
      const more = cursor === undefined ? { nextCursor: 'more' } : {};
      return JSON.stringify({ result: { tools, ...more }, jsonrpc: '2.0', id });
    };
    const connection = await connected(pages);
    for (let n = 0; n < 3; n += 1)
      expect((await connection.tools()).map(({ name }) => name)).toEqual(['act', 'peek']);
  });
});
