import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { tab, told, touchTwice } from '../serve/browser.ts';
import { cliPath, inTerminal, keyturn } from '../support/pty.ts';
import { scratch } from '../support/scratch.ts';
import { expectError, makeProject, PASSPHRASE, talkAt } from './project.ts';

vi.setConfig({ testTimeout: 115_000 });

const LINK = /http:\/\/localhost:[0-9]+\/enrol#link=\S+/;

/** A command at a terminal, once it has printed a link. */
async function linkOf(words: readonly string[], cwd: string) {
  const terminal = inTerminal(words, { cwd });
  onTestFinished(() => terminal.kill());
  await terminal.expect('#link=');
  await terminal.expect('\n');
  return { terminal, link: LINK.exec(terminal.text)![0] };
}

const ADD = ['credential', 'add', '--passkey', '--label', 'phone', '--reason', 'a new phone'];

describe('a passkey, from a terminal and a real browser', () => {
  it('is added by a link, two touches and the passphrase', async () => {
    const cwd = scratch();
    await makeProject(cwd);
    expectError('SERVICE_MISSING', await talkAt({ cwd }, ADD));
    const service = spawn(process.execPath, [cliPath(), 'serve', '--port', '0', '--no-execute'], {
      cwd,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    onTestFinished(() => void service.kill('SIGKILL'));
    await once(service.stdout, 'data');
    const socket = statSync(join(cwd, '.keyturn', 'serve.sock'));
    expect([socket.isSocket(), socket.mode & 0o777]).toEqual([true, 0o600]);
    const { terminal, link } = await linkOf(ADD, cwd);
    const page = await tab();
    await touchTwice(page, link);
    await terminal.expect('A passkey will sign for alice from now on:');
    await terminal.expect('bound to one device');
    await terminal.expect('Passphrase of alice: ');
    terminal.type(PASSPHRASE);
    await terminal.expect('[OK] alice can sign with "phone" from now on');
    expect(await terminal.exited).toBe(0);
    await told(page, 'is enrolled');
    const { stdout } = await keyturn(['credential', 'list', 'alice'], { cwd });
    expect(stdout).toMatch(/^alice +phone +passkey, one device +active/m);
    service.kill('SIGTERM');
    await once(service, 'exit');
    expect(statSync(join(cwd, '.keyturn', 'serve.sock'), { throwIfNoEntry: false })).toBeUndefined();
  });

  it('founds a project', async () => {
    const cwd = scratch();
    const words = ['init', '--name', 'ada', '--passkey', '--port', '0'];
    const { terminal, link } = await linkOf(words, cwd);
    const page = await tab();
    await touchTwice(page, link);
    await told(page, 'is enrolled');
    await terminal.expect('is a Keyturn project');
    await terminal.expect('ada alone can sign, with one credential.');
    await terminal.expect('Add a passkey of another device');
    expect(await terminal.exited).toBe(0);
    expect((await keyturn(['doctor'], { cwd })).stdout).toMatch(/^ok {3}credentials: ada alone can sign/m);
    const { stdout } = await keyturn(['credential', 'list'], { cwd });
    expect(stdout).toMatch(/^ada +passkey +passkey, one device +active +\S+ +ada/m);
    const verified = await keyturn(['ledger', 'verify', '--deep'], { cwd });
    expect([verified.code, verified.stderr]).toEqual([0, '']);
  });

  it('founds a project with a recovery key, which the terminal says to keep elsewhere', async () => {
    const cwd = scratch();
    const words = ['init', '--name', 'ada', '--passkey', '--recovery-key', '--port', '0'];
    const terminal = inTerminal(words, { cwd });
    onTestFinished(() => terminal.kill());
    for (const asked of ['New passphrase for ada: ', 'The same again: ']) {
      await terminal.expect(asked);
      terminal.type(PASSPHRASE);
    }
    await terminal.expect('#link=');
    await terminal.expect('\n');
    await touchTwice(await tab(), LINK.exec(terminal.text)![0]);
    await terminal.expect('Keep the recovery key elsewhere, and away from the passkey: ');
    await terminal.expect(join('.keyturn', 'keys', 'ada.json'));
    expect(await terminal.exited).toBe(0);
    expect((await keyturn(['doctor'], { cwd })).stdout).toContain('credentials: more than one can sign');
    const revoke = ['credential', 'revoke', 'ada', 'passkey', '--reason', 'the phone is gone'];
    const revoked = await talkAt({ cwd }, revoke, ['Passphrase of ada: ', PASSPHRASE]);
    expect(revoked.stdout).toBe('[OK] "passkey" of ada is revoked\n');
  });

  it('takes no words that go with nothing', async () => {
    const cwd = scratch();
    expectError('USAGE', await keyturn(['init', '--name', 'ada', '--label', 'x'], { cwd }));
    expectError('USAGE', await keyturn(['init', '--name', 'ada', '--recovery-key'], { cwd }));
    expectError('NO_TERMINAL', await keyturn(['init', '--name', 'ada', '--passkey'], { cwd }));
  });
});
