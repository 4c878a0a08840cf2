import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { install, status } from '../../src/cli/command/hook-settings.ts';
import type { Result } from '../../src/cli/schema.ts';
import { DIALECTS, type HookClient } from '../../src/hook/client.ts';
import { settingsFiles, switchedOff } from '../../src/hook/switched-off.ts';
import { enrolled } from '../mcp/stage.ts';
import { project, TOOLS } from '../support/project.ts';
import { scratch } from '../support/scratch.ts';

/** What keeps this client from asking, of these files beneath the project and beneath the home of the account. */
function offBy(client: HookClient, files: Readonly<Record<string, string>>): string | null {
  const [root, home] = [scratch(), scratch()];
  for (const [name, text] of Object.entries(files)) {
    const path = join(name.startsWith('~/') ? home : root, name.replace('~/', ''));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  const file = join(root, DIALECTS[client].settings);
  return (
    switchedOff(client, { file, files: settingsFiles(client, { root, home, named: null }) })?.member ?? null
  );
}

describe('a client that asks no hook, whatever stands in its settings for one', () => {
  it.each([
    ['claude-code', { '.claude/settings.json': '{"disableAllHooks": true}' }, 'disableAllHooks'],
    ['claude-code', { '.claude/settings.local.json': '{"disableAllHooks": true}' }, 'disableAllHooks'],
    ['claude-code', { '~/.claude/settings.json': '{"disableAllHooks": true}' }, 'disableAllHooks'],
    ['claude-code', { '.claude/settings.json': '{"allowManagedHooksOnly": true}' }, 'allowManagedHooksOnly'],
    ['claude-code', { '.claude/settings.json': '{"disableAllHooks": false}' }, null],
    [
      'claude-code',
      {
        '.claude/settings.local.json': '{"disableAllHooks": false}',
        '~/.claude/settings.json': '{"disableAllHooks": true}',
      },
      null,
    ],
    ['gemini-cli', { '.gemini/settings.json': '{"hooksConfig": {"enabled": false}}' }, 'hooksConfig.enabled'],
    [
      'gemini-cli',
      { '~/.gemini/settings.json': '{"hooksConfig": {"enabled": false}}' },
      'hooksConfig.enabled',
    ],
    [
      'gemini-cli',
      {
        '.gemini/settings.json': '{"hooks": {"BeforeTool": [{"hooks": [{"command": "keyturn hook"}]}]}}',
        '~/.gemini/settings.json': '{"hooksConfig": {"disabled": ["keyturn hook"]}}',
      },
      'hooksConfig.disabled',
    ],
    ['gemini-cli', { '.gemini/settings.json': '{"hooksConfig": {"disabled": ["other"]}}' }, null],
    ['codex', { '.codex/config.toml': 'model = "o"\n[features]\nhooks = false\n' }, 'features.hooks'],
    ['codex', { '~/.codex/config.toml': '[features]\ncodex_hooks = false # for now\n' }, 'features.hooks'],
    ['codex', { '~/.codex/config.toml': 'features.hooks = false\n' }, 'features.hooks'],
    ['codex', { '~/.codex/config.toml': 'features = { x = true, hooks = false }\n' }, 'features.hooks'],
    ['codex', { '.codex/config.toml': '[features]\nhooks = true\n[other]\nhooks = false\n' }, null],
  ] as const)('%s with %j: %s', (client, files, member) => {
    expect(offBy(client, files)).toBe(member);
  });

  it('is said by hook install and hook status', async () => {
    const p = await project(TOOLS);
    await enrolled(p);
    const settings = join(p.root, 'settings.json');
    const options = { project: p.root, settings, as: 'scout' };
    const asked = async (act: typeof install, operands: readonly string[] = ['claude-code']) =>
      act({ command: 'hook', operands: [...operands], options });
    const before = (await asked(install)).lines.join('\n');
    expect(before).toContain('[OK] claude-code asks Keyturn');
    const text = JSON.parse(readFileSync(settings, 'utf8'));
    writeFileSync(settings, JSON.stringify({ disableAllHooks: true, ...text }));
    const again = (await asked(install)).lines.join('\n');
    expect(again).not.toContain('asks Keyturn');
    expect(again).toContain(`WARNING: claude-code does not ask: disableAllHooks in ${settings}`);
    const { result, lines } = await asked(status, []);
    expect((result as Result<'hook status'>).clients[0]).toMatchObject({
      installed: true,
      switched_off: { member: 'disableAllHooks', file: settings },
    });
    const row = lines.find((line) => line.startsWith('claude-code'))!;
    expect(row).toContain('does not ask (disableAllHooks)');
    expect(row).not.toContain('no, since');
  });
});
