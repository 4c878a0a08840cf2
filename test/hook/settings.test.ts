import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { shellWord } from '../../src/canonical/shell-word.ts';
import { CLIENTS, DIALECTS } from '../../src/hook/client.ts';
import { hookCommand, hookEntry, installHook, readHook, removeHook } from '../../src/hook/settings.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';

const command = hookCommand(['/usr/bin/node', '/opt/my tools/keyturn', 'hook']);

function settingsOf(text: string | null, client = CLIENTS[0] as (typeof CLIENTS)[number]): string {
  const file = join(scratch(), DIALECTS[client].settings);
  if (text === null) return file;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

describe.each(CLIENTS)('the settings of %s', (client) => {
  const entry = hookEntry(client, command);

  it('get the hook, once, and lose it again', () => {
    const file = settingsOf(null, client);
    expect(installHook(client, file, entry)).toBe(true);
    const written = readFileSync(file, 'utf8');
    expect(JSON.parse(written)).toEqual({ hooks: { [DIALECTS[client].event]: [entry] } });
    expect(installHook(client, file, entry)).toBe(false);
    expect(readFileSync(file, 'utf8')).toBe(written);
    expect(readHook(client, file).own).toEqual([entry]);
    expect(removeHook(client, file)).toBe(true);
    expect(removeHook(client, file)).toBe(false);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({});
  });

  it('keep all else byte by byte, with a copy of what was before', () => {
    const { event } = DIALECTS[client];
    const before = `{\n\t"model":   "opus",\n\t"hooks": {\n\t\t"Stop": [ {"hooks": []} ],\n\t\t"${event}": []\n\t},\n\t"env": { "A": "b" }\n}\n`;
    const file = settingsOf(before, client);
    installHook(client, file, entry);
    expect(readFileSync(`${file}.before-keyturn`, 'utf8')).toBe(before);
    const after = readFileSync(file, 'utf8');
    for (const kept of ['"model":   "opus"', '"Stop": [ {"hooks": []} ]', '"env": { "A": "b" }'])
      expect(after).toContain(kept);
    removeHook(client, file);
    const value = JSON.parse(readFileSync(file, 'utf8'));
    expect(value).toEqual({ model: 'opus', hooks: { Stop: [{ hooks: [] }] }, env: { A: 'b' } });
  });

  it('keep the hooks of others in their order, and a newer one takes the place of ours', () => {
    const { event } = DIALECTS[client];
    const other = { matcher: 'Bash', hooks: [{ type: 'command', command: './mine.sh' }] };
    const file = settingsOf(JSON.stringify({ hooks: { [event]: [other] } }), client);
    installHook(client, file, entry);
    const newer = hookEntry(client, hookCommand(['keyturn', 'hook']));
    installHook(client, file, newer);
    expect(JSON.parse(readFileSync(file, 'utf8')).hooks[event]).toEqual([other, newer]);
    removeHook(client, file);
    expect(JSON.parse(readFileSync(file, 'utf8')).hooks[event]).toEqual([other]);
  });

  it('that cannot be read are refused and left alone', async () => {
    const { event } = DIALECTS[client];
    const texts = [
      '{ // a comment\n}',
      '[]',
      '{"hooks": []}',
      `{"hooks": {"${event}": {}}}`,
      '{"a": 1, "a": 2}',
      '{"a": ',
      `{"hooks": {"${event}": [{"hooks": [${JSON.stringify({ type: 'command', command })}, {"type": "command", "command": "x"}]}]}}`,
    ];
    for (const text of texts) {
      const file = settingsOf(text, client);
      await expectRefusal('HOOK_SETTINGS_MALFORMED', () => installHook(client, file, entry));
      expect(readFileSync(file, 'utf8')).toBe(text);
      expect(existsSync(`${file}.before-keyturn`)).toBe(false);
    }
  });

  it('behind a link are changed where they are', () => {
    const file = settingsOf('{"a": 1}\n', client);
    const link = join(dirname(file), 'link.json');
    symlinkSync(file, link);
    installHook(client, link, entry);
    expect(JSON.parse(readFileSync(file, 'utf8')).a).toBe(1);
    expect(readHook(client, file).own).toEqual([entry]);
  });
});

describe('what is written', () => {
  it('fails closed in Claude Code, and says in the others that it cannot', () => {
    expect(hookEntry('claude-code', command)).toEqual({
      hooks: [{ type: 'command', command, timeout: 60, onFailure: 'block' }],
    });
    expect(DIALECTS.codex.plain.join(' ')).toContain('runs the tool anyway');
    expect(DIALECTS['gemini-cli'].plain.join(' ')).toContain('runs the tool anyway');
  });

  it('a word with spaces and quotes is one word for the shell', () => {
    expect(shellWord("it's here")).toBe("'it'\\''s here'");
    expect(shellWord('/usr/bin/node')).toBe('/usr/bin/node');
  });
});
