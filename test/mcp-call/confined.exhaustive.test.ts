import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { shared } from '../journey/postgres-host.ts';
import { postgres } from '../store/postgres-place.ts';
import { writeSecrets } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { accepted, mcpProject, SERVERS, turned, writeServers } from './servers.ts';

const LONG = { timeout: 120_000 };
const READ = [resolve('node_modules'), resolve('test/mcp-call')];

const call = (server: string, tool: string, values: Record<string, string>) => ({
  declared_goal: 'act',
  effect: { kind: 'mcp' as const, server, tool, arguments: values },
});

describe('a server in a sandbox', () => {
  it('writes where it may and nowhere else, and gets its secrets from the executor', LONG, async () => {
    const p = await mcpProject({});
    const outside = join(p.root, 'outside.txt');
    const sandbox = { network: false, read: READ, write: [p.files] };
    writeServers(
      p.root,
      {
        // It was told that it may serve all of the project: the sandbox says otherwise.
        fs: { script: SERVERS.filesystem, args: [p.root], more: { sandbox } },
        odd: { script: SERVERS.odd, more: { sandbox, secrets: { KEY: 'TOKEN' } } },
      },
      p.files,
    );
    await expectRefusal('SECRET_MISSING', () => p.keyturn.host.lookAtServer('odd'));
    writeFileSync(join(p.root, 'token.txt'), 'a-secret-of-the-host');
    writeSecrets(p.root, { TOKEN: { file: join(p.root, 'token.txt') } });
    for (const server of ['fs', 'odd']) await accepted(p.keyturn, server, p.ada);
    const run = async (request: ReturnType<typeof call>) =>
      turned(p, (await p.keyturn.intents.propose(request)).intent_id);
    const write = (path: string) => call('fs', 'write_file', { path, content: 'x' });
    expect(await run(write(join(p.files, 'in.txt')))).toMatchObject({ result: 'success' });
    expect(existsSync(join(p.files, 'in.txt'))).toBe(true);
    // It may believe that it wrote: what it sees there is its own.
    await run(write(outside));
    expect(existsSync(outside)).toBe(false);
    const { intent_id } = await run(call('odd', 'act', { how: 'secret' }));
    const { run: ran } = await p.keyturn.intents.result({ intent_id });
    expect((ran!.output as { stdout: string }).stdout).toContain('[secret TOKEN]');
  });

  it(
    'that cannot be started is tried again only after a pause, and nothing is asked of it twice',
    LONG,
    async () => {
      const p = await mcpProject({ odd: { script: SERVERS.odd, args: ['counted', '{files}/log'] } });
      await accepted(p.keyturn, 'odd', p.ada);
      const { intent_id, hash } = await p.keyturn.intents.propose(call('odd', 'act', { how: 'work' }));
      const starts = () => readFileSync(join(p.files, 'log.starts'), 'utf8').length;
      const before = starts();
      writeFileSync(join(p.files, 'log.die'), '');
      await expectRefusal('MCP_SERVER_DOWN', () => turned(p, intent_id));
      const tried = starts();
      expect(tried).toBe(before + 1);
      await expectRefusal('MCP_SERVER_DOWN', () => p.keyturn.runs.look({ intent_id, hash }));
      expect(starts()).toBe(tried);
      expect(existsSync(join(p.files, 'log'))).toBe(false);
      rmSync(join(p.files, 'log.die'));
      const look = () => p.keyturn.runs.look({ intent_id, hash }).catch(() => null);
      await expect.poll(look, { timeout: 20_000, interval: 100 }).not.toBeNull();
      const { seen } = (await look())!;
      expect(await p.keyturn.runs.run({ intent_id, hash, seen })).toMatchObject({ result: 'success' });
      expect(readFileSync(join(p.files, 'log'), 'utf8')).toBe('work\n');
    },
  );
});

describe('a gate whose ledger is on PostgreSQL', () => {
  const server = postgres();

  it('accepts, calls, passes in shadow mode and takes back as on SQLite', LONG, async () => {
    const p = await shared(server(), 'mcp');
    const shadow = { tools: { peek: { mode: 'shadow' } } };
    writeServers(p.root, { odd: { script: SERVERS.odd, args: ['two'], more: shadow } }, p.root);
    await accepted(p.keyturn, 'odd', p.ada);
    await p.keyturn.people.enrol({ name: 'bot', principal: 'agent', public_key: null, signer: p.ada });
    const bot = p.keyturn.as({ name: 'bot' });
    const begun = await bot.mcp.call(call('odd', 'act', { how: 'work' }));
    expect((await bot.mcp.call(call('odd', 'act', { how: 'work' }))).intent_id).toBe(begun.intent_id);
    expect(await turned(p, begun.intent_id)).toMatchObject({ result: 'success' });
    expect(await bot.mcp.pass(call('odd', 'peek', { how: 'look' }))).toMatchObject({
      would: 'ask',
      result: 'success',
    });
    const { intent_id } = await bot.mcp.call(call('odd', 'act', { how: 'other' }));
    await bot.intents.withdraw({ intent_id, reason: 'no' });
    await expectRefusal('MCP_NOT_SHADOW', () => bot.mcp.pass(call('odd', 'act', { how: 'x' })));
    expect((await p.keyturn.ledger.verify({ deep: true })).size).toBeGreaterThan(8);
    expect((await p.keyturn.ledger.rebuild({ write: false })).differences).toEqual([]);
  });
});
