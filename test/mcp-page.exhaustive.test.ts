import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { PASSPHRASE } from './support/keys.ts';
import { cliPath, inTerminal } from './support/pty.ts';
import { freshFolder } from './support/scratch.ts';

const PAGE = readFileSync(resolve('docs/mcp.md'), 'utf8');
const LONG = { timeout: 300_000 };

/** The commands of the first block under a heading, each on one line. */
function commandsUnder(heading: string): readonly string[] {
  const [, block] = new RegExp(`^## ${heading}\\n[\\s\\S]*?^\`\`\`\\n([\\s\\S]*?)^\`\`\``, 'm').exec(PAGE)!;
  return block!.replaceAll('\\\n', ' ').trim().split('\n');
}

describe('docs/mcp.md', () => {
  const home = freshFolder('keyturn-mcp-page-');
  const work = join(home, 'work');
  chmodSync(home, 0o755);
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  /** A line as a reader types it, with the answers to what it asks. */
  async function typed(line: string, answers: readonly (readonly [string, string])[]): Promise<string> {
    const env = { PATH: `${join(home, 'bin')}:${process.env.PATH}`, npm_config_prefer_offline: 'true' };
    const where = { cwd: work, program: '/bin/bash', rows: 2000, env };
    const session = inTerminal(['-c', line], where);
    onTestFinished(() => session.kill());
    for (const [question, answer] of answers) {
      await session.expect(question);
      session.type(answer);
    }
    expect(await session.exited, session.text).toBe(0);
    return session.text;
  }

  it('gates a filesystem server by its first block, line by line', LONG, async () => {
    mkdirSync(join(home, 'bin'));
    mkdirSync(work);
    writeFileSync(join(home, 'bin/keyturn'), `#!/bin/sh\nexec '${process.execPath}' '${cliPath()}' "$@"\n`, {
      mode: 0o755,
    });
    const commands = commandsUnder('Five minutes: a gated filesystem server');
    const told: string[] = [];
    for (const line of commands) {
      const unlocks = ['Passphrase of ', PASSPHRASE] as const;
      const answers: Record<string, readonly (readonly [string, string])[]> = {
        'keyturn init': [
          ['New passphrase', PASSPHRASE],
          ['same again', PASSPHRASE],
        ],
        'keyturn mcp': [unlocks],
      };
      const [, asked = []] = Object.entries(answers).find(([start]) => line.startsWith(start)) ?? [];
      told.push(await typed(line, asked));
      // As the page says for root.
      if (line.startsWith('mkdir') && process.getuid?.() === 0) chmodSync(join(work, 'notes'), 0o777);
    }
    expect(commands).toHaveLength(4);
    expect(told[2]).toMatch(/accepted the MCP server files with \d+ tools/);
    expect(told[3]).toContain('scout is enrolled as an agent');
    expect(existsSync(join(work, '.keyturn/agents'))).toBe(true);
    expect(await typed('keyturn mcp list', [])).toMatch(/^files +accepted /m);
  });

  it('moves the server of a client by its second block, line by line', LONG, async () => {
    const server = join(work, 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js');
    const other = { command: process.execPath, args: [server, join(work, 'notes')] };
    const settings = { projects: { [work]: { mcpServers: { 'more-files': other } } } };
    writeFileSync(join(home, '.claude.json'), JSON.stringify(settings));
    for (const line of commandsUnder('Servers that a client has already')) {
      const here = line.replace('~/', `${home}/`).replace('accept files', 'accept more-files');
      await typed(here, here.includes(' accept ') ? [['Passphrase of ', PASSPHRASE]] : []);
    }
    const { projects } = JSON.parse(readFileSync(join(home, '.claude.json'), 'utf8'));
    expect(Object.keys(projects[work].mcpServers)).toEqual(['keyturn']);
  });
});
