import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { accepted, mcpProject, SERVERS, writeServers } from '../mcp-call/servers.ts';
import { serving, withToken } from '../serve/service.ts';
import { expectRefusal } from '../support/refusal.ts';
import { enrolled, gate, textOf } from './stage.ts';

const LONG = { timeout: 90_000 };
const of = (more: object) => ({
  fs: { script: SERVERS.filesystem, args: ['{files}'], more },
});

async function shadowed(more: object = { mode: 'shadow' }) {
  const p = await mcpProject(of(more));
  const looked = await p.keyturn.host.lookAtServer('fs');
  await p.keyturn.mcp.accept({ looked, reason: 'a trial', signer: p.ada });
  await enrolled(p);
  const entries = async (kind: string) => (await p.keyturn.ledger.entries({ kind } as never)).entries;
  return { p, looked, entries };
}

const write = (path: string) => ({ name: 'fs__write_file', arguments: { path, content: 'hello' } });

describe('a server in shadow mode', () => {
  it('lets a call pass, and records it with what the gate would have done', LONG, async () => {
    const { p, looked, entries } = await shadowed();
    expect(JSON.stringify(looked.shown.alarms[0])).toContain('WITHOUT AN APPROVAL');
    const { client } = await gate(p);
    const path = join(p.files, 'a.txt');
    const told = await client.callTool(write(path));
    expect(textOf(told)).toContain('Successfully wrote');
    expect(readFileSync(path, 'utf8')).toBe('hello');
    expect(told._meta?.['keyturn/shadow']).toMatchObject({ would: 'ask', would_code: null });
    // Under a grant the gate would have let it run.
    await p.keyturn.agents.delegate({
      ...{ delegate: 'scout', actions: ['mcp:fs:write_file'], ttl_s: 600, approves: true },
      ...{ grant: { uses: 1 }, reason: 'a test', signer: p.ada },
    });
    expect((await client.callTool(write(path)))._meta?.['keyturn/shadow']).toMatchObject({ would: 'run' });
    expect(await entries('mcp.shadowed')).toHaveLength(2);
    expect(await entries('mcp.shadow_ended')).toHaveLength(2);
    expect(await entries('intent.proposed')).toEqual([]);
    expect((await p.keyturn.ledger.verify({ deep: true })).size).toBeGreaterThan(5);
    expect((await p.keyturn.ledger.rebuild({ write: false })).differences).toEqual([]);
    expect((await p.keyturn.system.status()).shadow).toEqual([
      { server: 'fs', tools: looked.accepted.tools.length },
    ]);
  });

  it('passes nothing that is frozen, and nothing that another tool of it would do', LONG, async () => {
    const { p, entries } = await shadowed({ tools: { read_text_file: { mode: 'shadow' } } });
    const { client } = await gate(p);
    const path = join(p.files, 'a.txt');
    // This tool is gated still.
    expect(textOf(await client.callTool(write(path)))).toContain('NOT RUN yet');
    expect(existsSync(path)).toBe(false);
    const effect = {
      kind: 'mcp',
      server: 'fs',
      tool: 'write_file',
      arguments: { path, content: 'x' },
    } as const;
    await expectRefusal('MCP_NOT_SHADOW', () =>
      p.keyturn.mcp.pass({ issuer: 'scout', declared_goal: 'x', effect }),
    );
    await p.keyturn.system.freeze({ scope: 'agent', name: 'scout', reason: 'stop', signer: p.ada } as never);
    const read = { name: 'fs__read_text_file', arguments: { path: join(p.files, 'b.txt') } };
    expect(textOf(await client.callTool(read))).toContain('FROZEN');
    expect(await entries('mcp.shadowed')).toEqual([]);
    expect(existsSync(path)).toBe(false);
  });

  it('is what a human accepted: keyturn.yaml alone does not begin it', LONG, async () => {
    const { p, entries } = await shadowed({});
    writeServers(p.root, of({ mode: 'shadow' }), p.files);
    const { client } = await gate(p);
    const told = await client.callTool(write(join(p.files, 'a.txt')));
    expect(textOf(told)).toContain('MCP_TOOL_UNKNOWN');
    const { changes } = await p.keyturn.host.lookAtServer('fs');
    expect(changes.map(({ what }) => what)).toEqual(['which of its tools pass without an approval']);
    expect(await entries('mcp.shadowed')).toEqual([]);
    await accepted(p.keyturn, 'fs', p.ada);
    expect(textOf(await client.callTool(write(join(p.files, 'a.txt'))))).toContain('Successfully wrote');
  });

  it('records that a policy would have denied a call, with the code, and lets it pass', LONG, async () => {
    const { p, entries } = await shadowed();
    const header = '@id("no-writes") @version("1") @scope("intent") @rationale("Nothing is written.")';
    const rule =
      'forbid (principal, action, resource) when { context has tool && context.tool == "write_file" };';
    writeFileSync(join(p.root, 'policies/no-writes.cedar'), `${header}\n${rule}\n`);
    await p.keyturn.policies.activate({ reason: 'A trial.', signer: p.ada });
    const { client } = await gate(p);
    const path = join(p.files, 'a.txt');
    const told = await client.callTool(write(path));
    expect(textOf(told)).toContain('Successfully wrote');
    const would = { would: 'deny', would_code: 'POLICY_DENIED' };
    expect(told._meta?.['keyturn/shadow']).toMatchObject(would);
    expect((await entries('mcp.shadowed'))[0]).toMatchObject({ body: would });
    const read = { name: 'fs__read_text_file', arguments: { path } };
    expect((await client.callTool(read))._meta?.['keyturn/shadow']).toMatchObject({ would: 'ask' });
    // A grant stands for an approval, and not for the policies.
    await p.keyturn.agents.delegate({
      ...{ delegate: 'scout', actions: ['mcp:fs:*'], ttl_s: 600, approves: true },
      ...{ grant: { uses: 5 }, reason: 'a test', signer: p.ada },
    });
    expect((await client.callTool(write(path)))._meta?.['keyturn/shadow']).toMatchObject(would);
    expect((await client.callTool(read))._meta?.['keyturn/shadow']).toMatchObject({ would: 'run' });
  });

  it('records that a policy would have denied the run of a call that a grant covers', LONG, async () => {
    const { p } = await shadowed();
    await p.keyturn.agents.delegate({
      ...{ delegate: 'scout', actions: ['mcp:fs:*'], ttl_s: 600, approves: true },
      ...{ grant: { uses: 5 }, reason: 'a test', signer: p.ada },
    });
    const header = '@id("no-runs") @version("1") @scope("capability") @rationale("Nothing runs.")';
    const rule =
      'forbid (principal, action == Keyturn::Action::"grant", resource) when { context has tool && context.tool == "write_file" };';
    writeFileSync(join(p.root, 'policies/no-runs.cedar'), `${header}\n${rule}\n`);
    await p.keyturn.policies.activate({ reason: 'A trial.', signer: p.ada });
    const { client } = await gate(p);
    const told = await client.callTool(write(join(p.files, 'a.txt')));
    const would = { would: 'deny', would_code: 'POLICY_DENIED' };
    expect(told._meta?.['keyturn/shadow']).toMatchObject(would);
  });

  it('says over HTTP, too, that a call passed', LONG, async () => {
    const { p } = await shadowed();
    const { token } = await withToken(p, 'bot');
    const { address } = await serving(p);
    const answer = await fetch(`${address}/mcp`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: write(join(p.files, 'a.txt')),
      }),
    });
    const { result } = (await answer.json()) as { result: { _meta: object } };
    expect(textOf(result)).toContain('Successfully wrote');
    expect(result._meta).toMatchObject({ 'keyturn/shadow': { would: 'ask' } });
  });
});
