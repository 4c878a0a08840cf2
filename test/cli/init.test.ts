import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inTerminal, keyturn } from '../support/pty.ts';
import { scratch } from '../support/scratch.ts';
import { expectError, PASSPHRASE, talkAt } from './project.ts';

const twice = (name: string, first = PASSPHRASE, second = first) =>
  [
    [`New passphrase for ${name}: `, first],
    ['The same again: ', second],
  ] as const;

describe('init', () => {
  it('makes the folder a project after the passphrase was typed twice, and never shows it', async () => {
    const cwd = scratch();
    const made = await talkAt({ cwd }, ['init', '--name', 'ada'], ...twice('ada'));
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(made.stdout).toMatch(
      /^\[OK\] \S+ is a Keyturn project\nHuman: +ada\nLedger key: sha256:[0-9a-f]{64}\n/,
    );
    expect(made.screen).not.toContain(PASSPHRASE);
    expect(statSync(join(cwd, '.keyturn', 'keys', 'ada.json')).mode & 0o777).toBe(0o600);
    expect(statSync(join(cwd, 'tools.yaml')).mode & 0o222).toBe(0);

    const again = await talkAt({ cwd }, ['init', '--name', 'ada']);
    expectError('PROJECT_EXISTS', again);
    expect(await keyturn(['list'], { cwd })).toEqual({ code: 0, stdout: 'No intents.\n', stderr: '' });
  });

  it('says the rule before the first passphrase, and cuts no word of what it says', async () => {
    const cwd = scratch();
    const session = inTerminal(['init', '--name', 'ada'], { cwd, columns: 60 });
    await session.expect('New passphrase for ada: ');
    expect(session.text.replaceAll(/\s*↪ |\r?\n/g, ' ')).toContain('at least 12 characters');
    session.type('short');
    await session.expect('fewer than 12 characters');
    await session.expect('New passphrase for ada: ');
    for (const row of session.text.split('\n')) expect(row.trimEnd().length, row).toBeLessThanOrEqual(60);
    session.kill();
    await session.exited;
  });

  it('without a terminal there is nobody to ask, whatever comes on standard input', async () => {
    const cwd = scratch();
    const stdin = `${PASSPHRASE}\n${PASSPHRASE}\n`;
    expectError('NO_TERMINAL', await keyturn(['init', '--name', 'ada'], { cwd, stdin }));
    expect(existsSync(join(cwd, '.keyturn'))).toBe(false);
  });
});
