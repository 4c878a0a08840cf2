import { appendFileSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { accepted, mcpProject, SERVERS, turned, writeServers } from '../mcp-call/servers.ts';
import { piped } from './piped.ts';
import { enrolled, gate, idOf, STATELESS_META, textOf } from './stage.ts';

const LONG = { timeout: 120_000 };

describe('the list of a gate that runs', () => {
  it('follows each act of a human, and keyturn.yaml', LONG, async () => {
    const two = { script: SERVERS.odd, args: ['two'] };
    const p = await mcpProject({ one: { script: SERVERS.odd }, other: two });
    await enrolled(p);
    const { client } = await gate(p);
    const listed = async () =>
      (await client.listTools(undefined, { cacheMode: 'refresh' })).tools
        .map(({ name }) => name)
        .filter((name) => name.includes('__'));
    expect(await listed()).toEqual([]);
    await accepted(p.keyturn, 'one', p.ada);
    expect(await listed()).toEqual(['one__act']);
    await accepted(p.keyturn, 'other', p.ada);
    expect(await listed()).toEqual(['one__act', 'other__act', 'other__peek']);
    // No human accepted this one.
    writeServers(p.root, { one: two, other: two }, p.files);
    expect(await listed()).toEqual(['other__act', 'other__peek']);
    await accepted(p.keyturn, 'one', p.ada);
    expect(await listed()).toEqual(['one__act', 'one__peek', 'other__act', 'other__peek']);
    await p.keyturn.mcp.remove({ server: 'other', reason: 'no more', signer: p.ada });
    expect(await listed()).toEqual(['one__act', 'one__peek']);
    writeServers(p.root, {}, p.files);
    expect(await listed()).toEqual([]);
  });

  it(
    'says which tools of servers have the name of a tool of the registry, which is called in their place',
    LONG,
    async () => {
      const { p, send, answer } = await piped({}, { mode: 'two' });
      const tools = join(p.root, 'tools.yaml');
      writeFileSync(tools, readFileSync(tools, 'utf8').replace('name: say', 'name: odd__act'));
      for (const [id, _meta] of [
        [1, {}],
        [2, STATELESS_META],
      ] as const) {
        send(id, 'tools/list', { _meta });
        const { result } = await answer(id);
        expect(result._meta).toEqual({ 'keyturn/hidden': ['odd__act'] });
        const named = result.tools.filter(({ name }: { name: string }) => name.startsWith('odd__'));
        expect(named).toMatchObject([
          { name: 'odd__act', description: expect.stringMatching(/^Prints a word/) },
          { name: 'odd__peek' },
        ]);
      }
    },
  );

  it('decides nothing: a call of a server whose script was changed since is refused', LONG, async () => {
    const p = await mcpProject({});
    const script = join(p.root, 'own.mjs');
    copyFileSync(SERVERS.odd, script);
    writeServers(p.root, { own: { script } }, p.files);
    await accepted(p.keyturn, 'own', p.ada);
    await enrolled(p);
    const { client } = await gate(p);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('own__act');
    appendFileSync(script, '// changed\n');
    const call = () => client.callTool({ name: 'own__act', arguments: {} });
    expect(textOf(await call())).toContain('MCP_SERVER_CHANGED');
    await accepted(p.keyturn, 'own', p.ada);
    await turned(p, idOf(await call()));
    expect(textOf(await call())).toContain('did plain');
  });

  it(
    'of a server is looked at for each call under a grant, also where it changes without a word',
    LONG,
    async () => {
      // Within one process of this server its first list is as accepted, and every later one is not.
      const p = await mcpProject({ odd: { script: SERVERS.odd, args: ['changes', '{files}/log'] } });
      await accepted(p.keyturn, 'odd', p.ada);
      await enrolled(p);
      const granted = { delegate: 'scout', actions: ['mcp:odd:act'], ttl_s: 600, approves: true };
      await p.keyturn.agents.delegate({ ...granted, grant: { uses: 10 }, reason: 'ten', signer: p.ada });
      const { client } = await gate(p);
      const act = async (how: string) =>
        textOf(await client.callTool({ name: 'odd__act', arguments: { how } }));
      expect(await act('one')).toContain('did one');
      expect(await act('two')).toContain('MCP_DEFINITION_CHANGED');
      expect(readFileSync(join(p.files, 'log'), 'utf8')).toBe('one\n');
    },
  );
});
