import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { expectRefusal } from '../support/refusal.ts';
import { accepted, mcpProject, SERVERS, turned } from './servers.ts';

const LONG = { timeout: 180_000 };

it(
  'a server that hangs when it is started is given up: nothing is claimed, and others go on',
  LONG,
  async () => {
    const p = await mcpProject({
      silent: { script: SERVERS.odd, args: ['hangs-at-start', '{files}/silent'] },
      later: { script: SERVERS.odd, args: ['plain', '{files}/later'] },
      other: { script: SERVERS.odd, args: ['plain', '{files}/other'] },
    });
    for (const server of ['later', 'other']) await accepted(p.keyturn, server, p.ada);
    const propose = (server: string) =>
      p.keyturn.intents.propose({
        declared_goal: 'act',
        effect: { kind: 'mcp', server, tool: 'act', arguments: { how: server } },
      });
    const { intent_id, hash } = await propose('later');
    await p.keyturn.intents.approve({ intent_id, hash, signer: p.ada });
    await p.keyturn.intents.grant({ intent_id, hash, signer: p.ada });
    // It was accepted, and hangs from now on.
    writeFileSync(join(p.files, 'later.hang'), '');
    const hanging = [
      expectRefusal('MCP_SERVER_DOWN', () => p.keyturn.host.lookAtServer('silent')),
      expectRefusal('MCP_SERVER_DOWN', () => p.keyturn.runs.look({ intent_id, hash })),
    ];
    expect(await turned(p, (await propose('other')).intent_id)).toMatchObject({ result: 'success' });
    await Promise.all(hanging);
    expect((await p.keyturn.mcp.servers()).servers.find(({ server }) => server === 'silent')).toMatchObject({
      status: 'unaccepted',
    });
    expect(await p.keyturn.intents.result({ intent_id })).toMatchObject({
      status_word: 'approved',
      run: null,
    });
    expect(existsSync(join(p.files, 'later'))).toBe(false);
    // The order was not spent: once the server starts, the call is sent, once.
    rmSync(join(p.files, 'later.hang'));
    const look = () => p.keyturn.runs.look({ intent_id, hash }).catch(() => null);
    await expect.poll(look, { timeout: 20_000, interval: 200 }).not.toBeNull();
    const { seen } = (await look())!;
    expect(await p.keyturn.runs.run({ intent_id, hash, seen })).toMatchObject({ result: 'success' });
    expect(readFileSync(join(p.files, 'later'), 'utf8')).toBe('later\n');
  },
);
