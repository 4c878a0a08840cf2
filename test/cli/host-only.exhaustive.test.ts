import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { keyturn } from '../support/pty.ts';
import { ASKED } from './asked.ts';
import { answerOf, fileFolder, type Intent, makeProject, UNKNOWN_ID } from './project.ts';

/** Every command, asked of a service: what its help offers is what it does. */

vi.setConfig({ testTimeout: 120_000 });

const folder = fileFolder();
let intent: Intent;

beforeAll(async () => {
  writeFileSync(join(folder, 'client.json'), '{"mcpServers":{}}');
  intent = await (await makeProject(folder)).propose('greet', { name: 'Ada' });
});

/** Words that are wrong by themselves are told before anything else. */
const WORDS: Readonly<Record<string, string>> = {
  serve: '',
  execute: '',
  watch: '--since never',
  'clock accept': '--reason test',
  'ledger accept-head': '--reason test',
  'mcp add': 'files --reason test -- true',
  'mcp config': 'bot',
  'mcp import': 'client.json',
};

/** Where it is asked for this way, it is only for the host: otherwise it is for a service, too. */
const IN_PART = new Set(['executor add']);
/** It speaks to its client, and refuses each message. */
const UNTOLD = new Set(['mcp']);

const named = (word: string): string =>
  word === 'ID' ? intent.id : word === 'HASH' ? intent.hash : word === 'NONE' ? UNKNOWN_ID : word;

describe.concurrent('a command at a service', () => {
  it.each(COMMANDS.filter(({ name }) => !UNTOLD.has(name)))(
    '$name is refused as HOST_ONLY where its help does not offer --service',
    async ({ name, host_only = false }) => {
      const text = WORDS[name] ?? ASKED[name]![1];
      // Before the words: after `--` it would be one of them.
      const words = `${name} --json ${text}`.trim().split(' ').map(named);
      // At a place without a login, and of a service that is not there.
      const env = { KEYTURN_SERVICE: 'http://localhost:59999', XDG_CONFIG_HOME: `${folder}/none` };
      const told = await keyturn(words, { cwd: folder, env });
      const { code } = answerOf(told) as unknown as { code?: string };
      if (!IN_PART.has(name)) expect([name, code === 'HOST_ONLY']).toEqual([name, host_only]);
    },
  );
});
