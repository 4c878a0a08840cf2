import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { accepted, mcpProject, SERVERS } from '../mcp-call/servers.ts';
import type { Heard } from './piped.ts';
import { BUILT_CLI, enrolled, textOf } from './stage.ts';

const LONG = { timeout: 90_000 };

/** `keyturn mcp` without `--as`, which answers these messages and ends. */
function asked(root: string, messages: readonly object[], more: readonly string[] = []): Heard[] {
  const args = [BUILT_CLI, 'mcp', '--project', root, '--hold', '0.1', ...more];
  const lines = messages.map((one, n) => `${JSON.stringify({ jsonrpc: '2.0', id: n + 1, ...one })}\n`);
  const { stdout } = spawnSync(process.execPath, args, { input: lines.join(''), encoding: 'utf8' });
  const answers = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Heard);
  return messages.map((_one, n) => answers.find(({ id }) => id === n + 1)!);
}

const call = (name: string, values: object) => ({
  method: 'tools/call',
  params: { name, arguments: values },
});

describe('keyturn mcp without the name of an agent', () => {
  it(
    'shows and does nothing of any agent where several are enrolled, and says what to add',
    LONG,
    async () => {
      const p = await mcpProject({ odd: { script: SERVERS.odd } });
      await accepted(p.keyturn, 'odd', p.ada);
      for (const name of ['bot', 'spy'])
        await p.keyturn.people.enrol({ name, principal: 'agent', public_key: null, signer: p.ada });
      const effect = { kind: 'mcp' as const, server: 'odd', tool: 'act', arguments: { how: 'TOPSECRET' } };
      const { intent_id } = await p.keyturn
        .as({ name: 'bot' })
        .mcp.call({ declared_goal: 'secret of bot', effect });
      const messages = [
        { method: 'tools/list', params: {} },
        { method: 'resources/list', params: {} },
        { method: 'resources/read', params: { uri: `keyturn://intent/${intent_id}` } },
        call('keyturn_status', {}),
        call('keyturn_withdraw', { id: intent_id, reason: 'mine now' }),
        call('odd__act', { how: 'x' }),
      ];
      for (const answer of asked(p.root, messages)) {
        expect(answer.error).toMatchObject({ data: { code: 'PROPOSER_AMBIGUOUS' } });
        expect(answer.error!.message).toContain('--as, and which agent this client is: bot or spy');
        expect(JSON.stringify(answer)).not.toContain(intent_id);
      }
      // What needs no project is answered: a client that only probes sees a server.
      expect(asked(p.root, [{ method: 'ping' }])).toMatchObject([{ result: {} }]);
      expect((await p.keyturn.intents.result({ intent_id })).status_word).toBe('waiting');
      const [seen] = asked(p.root, [call('keyturn_status', {})], ['--as', 'spy']);
      expect(textOf(seen!.result)).toBe('Nothing of yours waits for a human.');
    },
  );

  it(
    'is that agent where only one is enrolled, and says how to enrol one where there is none',
    LONG,
    async () => {
      const p = await mcpProject({ odd: { script: SERVERS.odd } });
      await accepted(p.keyturn, 'odd', p.ada);
      const [none] = asked(p.root, [{ method: 'tools/list', params: {} }]);
      expect(none!.error).toMatchObject({ data: { code: 'PROPOSER_AMBIGUOUS' } });
      expect(none!.error!.message).toContain('keyturn mcp config');
      await enrolled(p);
      // What a human proposed is not the agent's.
      await p.keyturn.intents.propose({
        ...{ issuer: 'ada', declared_goal: 'of ada' },
        effect: { kind: 'mcp', server: 'odd', tool: 'act', arguments: { how: 'ada' } },
      });
      const [called, status] = asked(p.root, [call('odd__act', { how: 'x' }), call('keyturn_status', {})]);
      expect(textOf(called!.result)).toContain('NOT RUN yet');
      expect(textOf(status!.result)).not.toContain('\n');
      const { intents } = await p.keyturn.intents.list({ proposer: 'scout' });
      expect(intents).toMatchObject([{ proposer: 'scout', proposer_verified: true }]);
    },
  );
});
