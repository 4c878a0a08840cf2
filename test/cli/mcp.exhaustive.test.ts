import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { SERVERS } from '../mcp-call/servers.ts';
import { ALICE, ALL, makeScene, type Scene, TURN } from './grant-scene.ts';
import { answerOf, expectError, fileFolder } from './project.ts';

const LONG = { timeout: 90_000 };
const folder = fileFolder();
let scene: Scene;
beforeAll(async () => {
  scene = await makeScene(folder);
});

const REASON = ['--reason', 'I read it'];
const config = (change: (text: string) => string) => {
  const file = join(folder, 'keyturn.yaml');
  writeFileSync(file, change(readFileSync(file, 'utf8')));
};

/** In the order of the file: each begins where the one before ended. */
describe('the commands of the MCP gate', () => {
  it(
    'add draws how a server is started and every definition, and accepts it by a passphrase',
    LONG,
    async () => {
      const words = ['mcp', 'add', 'odd', '--scope', 'unconfined', '--run-as', 'root', ...REASON];
      const { screen, stdout, code } = await scene.talk(
        [...words, '--', process.execPath, SERVERS.odd, 'plain'],
        ALICE,
      );
      expect(code).toBe(0);
      const asked = screen.slice(0, screen.indexOf(ALICE[0]));
      for (const line of [
        `  Runs:        ${process.execPath} ${SERVERS.odd} plain`,
        `Script:     ${SERVERS.odd}`,
        '│ Does as it is told.',
        '│       "how": {',
        'Your signature accepts how it is started and these definitions.',
      ])
        expect(asked).toContain(line);
      expect(asked).toMatch(/odd__act, pin [0-9a-f]{16}, IN THE WORDS OF THE SERVER: act:/);
      expect(asked).toContain('NO SANDBOX');
      expect(stdout).toBe(
        '[OK] alice accepted the MCP server odd with 1 tool\nNothing of it runs until a human turns the key for a call, or grants some.\n',
      );
      expect((await scene.run('mcp', 'list')).stdout).toMatch(/^odd +accepted +1 +alice +\S+$/m);
    },
  );

  it(
    'turn shows of a call the definition of its tool, and what the server claims as not checked',
    LONG,
    async () => {
      const { intent_id } = await scene.inside((keyturn) =>
        keyturn.intents.propose({
          issuer: 'bot',
          declared_goal: 'A call.',
          effect: { kind: 'mcp', server: 'odd', tool: 'act', arguments: { how: 'plain' } },
        }),
      );
      const { screen, code } = await scene.talk(['turn', intent_id], ALL, TURN, ALICE);
      expect(code).toBe(0);
      const asked = screen.slice(0, screen.indexOf(TURN[0]));
      expect(asked).toMatch(/^ *Server claims: +\S.* \(not checked\)$/m);
      for (const line of [
        'Definition, IN THE WORDS OF THE SERVER: act',
        '│ Does as it is told.',
        '│       "how": {',
      ])
        expect(asked).toContain(line);
    },
  );

  it(
    'accept shows what changed, and that calls of shadow mode pass; list and status say so',
    LONG,
    async () => {
      config((text) => text.replace('odd:\n', 'odd:\n    mode: shadow\n'));
      expect((await scene.run('mcp', 'list')).stdout).toMatch(/^odd +changed +1 /m);
      expect((await scene.run('status')).stdout).not.toContain('SHADOW');
      const { screen, stdout, code } = await scene.talk(['mcp', 'accept', 'odd', ...REASON], ALICE);
      expect(code).toBe(0);
      expect(screen).toMatch(
        /WITHOUT AN APPROVAL[\s\S]*Changed since it was accepted:[\s\S]*Your signature accepts/,
      );
      expect(stdout).toContain('SHADOW MODE: calls of 1 of them pass WITHOUT AN APPROVAL, and are recorded.');
      expect((await scene.run('mcp', 'list')).stdout).toMatch(
        /^odd +accepted +1 +SHADOW: 1 pass without an approval +alice/m,
      );
      expect((await scene.run('status')).stdout).toContain(
        'SHADOW MODE: 1 tool of the MCP server odd passes WITHOUT AN APPROVAL',
      );
    },
  );

  it(
    'a grant of one of its tools shows the limits, and takes them as text or from a file',
    LONG,
    async () => {
      const schema =
        '{"type":"object","properties":{"how":{"type":"string","pattern":"^notes/"}},"required":["how"]}';
      writeFileSync(join(folder, 'limits.json'), schema);
      const giving = (given: string) => [
        ...['delegation', 'add', 'scout', '--action', 'mcp:odd:act', '--ttl', '30m', '--approves'],
        ...['--uses', '20', '--schema', given, ...REASON],
      ];
      for (const given of [schema, join(folder, 'limits.json')]) {
        const { screen, code } = await scene.talk(giving(given), ALICE);
        expect(code).toBe(0);
        expect(screen.replace(/\s+/g, '')).toContain(schema);
        expect(screen).toMatch(/Tool: +mcp:odd:act [0-9a-f]{64}/);
        expect(screen).toMatch(/Uses: +20/);
      }
      const { delegations } = await scene.inside((keyturn) => keyturn.agents.delegations());
      const [one, other] = delegations.map(({ grant }) => grant!);
      expect([one!.uses, one!.bounds]).toEqual([20, other!.bounds]);
      expectError('JSON_MALFORMED', await scene.run(...giving('{"type":')));
      // Before anything is typed.
      expectError('USAGE', await scene.run(...giving(schema).slice(0, 8), ...REASON));
      writeFileSync(join(folder, 'limits.json'), '[]');
      expectError('GRANT_BOUNDS_MALFORMED', await scene.run(...giving(join(folder, 'limits.json'))));
    },
  );

  it('remove takes back what was accepted, and nothing of it is in shadow mode', LONG, async () => {
    const { screen, stdout, code } = await scene.talk(['mcp', 'remove', 'odd', ...REASON], ALICE);
    expect([code, stdout]).toEqual([0, '[OK] alice took back what was accepted of odd\n']);
    expect(screen).toContain(ALICE[0]);
    expect((await scene.run('mcp', 'list')).stdout).toMatch(/^odd +unaccepted /m);
    expect((await scene.run('status')).stdout).not.toContain('SHADOW');
    expectError('NO_TERMINAL', await scene.run('mcp', 'accept', 'odd', ...REASON));
  });

  it('config prints the lines of each client under the name of its file', LONG, async () => {
    const { stdout, code } = await scene.talk(['mcp', 'config', 'ranger'], ALICE);
    expect(code).toBe(0);
    const parts = stdout.trimEnd().split('\n\n');
    expect(parts[0]).toBe('[OK] ranger is enrolled as an agent, with a key of its own');
    const { result } = answerOf(await scene.run('mcp', 'config', 'ranger', '--json')) as never as {
      result: { command: string; args: string[] };
    };
    const server = { command: result.command, args: result.args };
    expect(server.args.slice(-5)).toEqual(['mcp', '--project', folder, '--as', 'ranger']);
    const under = (heading: string) =>
      parts.find((part) => part.startsWith(heading))!.slice(heading.length + 1);
    const claude =
      'Claude Code (.mcp.json), Claude Desktop (claude_desktop_config.json), Cursor (.cursor/mcp.json),\nGemini CLI (.gemini/settings.json):';
    expect(JSON.parse(under(claude))).toEqual({ mcpServers: { keyturn: server } });
    expect(JSON.parse(under('VS Code (.vscode/mcp.json):'))).toEqual({ servers: { keyturn: server } });
    expect(under('Codex (~/.codex/config.toml):').split('\n')).toEqual([
      '[mcp_servers.keyturn]',
      `command = ${JSON.stringify(server.command)}`,
      `args = ${JSON.stringify(server.args)}`,
      'tool_timeout_sec = 60',
    ]);
    expect((await scene.run('mcp', 'config', 'ranger')).stdout).toContain('ranger is enrolled already.');
  });
});
