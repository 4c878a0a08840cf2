import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
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

/** `keyturn serve`, once it answers. */
async function serving(cwd: string, port: string): Promise<ChildProcess> {
  const service = spawn(process.execPath, [cliPath(), 'serve', '--port', port, '--no-execute'], {
    cwd,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void service.kill('SIGKILL'));
  await once(service.stdout, 'data');
  return service;
}

async function ended(service: ChildProcess): Promise<void> {
  service.kill('SIGTERM');
  await once(service, 'exit');
}

/** A passkey belongs to a port, so the project is founded at the one at which it is served. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, 'localhost', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

const ADD = ['credential', 'add', '--passkey', '--label', 'phone', '--reason', 'a new phone'];

describe('a passkey, from a terminal and a real browser', () => {
  it('is added by a link, two touches and the passphrase', async () => {
    const cwd = scratch();
    await makeProject(cwd);
    expectError('SERVICE_MISSING', await talkAt({ cwd }, ADD));
    const service = await serving(cwd, '0');
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
    await ended(service);
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
    expect((await keyturn(['doctor'], { cwd })).stdout).toMatch(/^warn credentials: ada alone can sign/m);
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

  it('signs for a key file that the terminal makes, with one touch in the console', async () => {
    const cwd = scratch();
    const port = String(await freePort());
    const founding = await linkOf(['init', '--name', 'ada', '--passkey', '--port', port], cwd);
    const page = await tab();
    await touchTwice(page, founding.link);
    await told(page, 'is enrolled');
    expect(await founding.terminal.exited).toBe(0);
    const add = ['credential', 'add', '--label', 'laptop', '--reason', 'for the terminal'];
    expectError('SERVICE_MISSING', await talkAt({ cwd }, add));
    const elsewhere = await serving(cwd, '0');
    expectError('PASSKEY_ORIGIN', await talkAt({ cwd }, add));
    await ended(elsewhere);
    const service = await serving(cwd, port);
    expectError('PRINCIPAL_UNKNOWN', await talkAt({ cwd }, [...add, '--as', 'eve']));
    expectError('CREDENTIAL_UNKNOWN', await talkAt({ cwd }, [...add, '--key', 'phone']));
    expectError('SHAPE_INVALID', await talkAt({ cwd }, [...add.slice(0, -1), 'x'.repeat(5_000)]));
    expect(existsSync(join(cwd, '.keyturn', 'keys', 'ada.json')), 'no key was made').toBe(false);

    const terminal = inTerminal(add, { cwd });
    onTestFinished(() => terminal.kill());
    for (const asked of ['New passphrase for ada: ', 'The same again: ']) {
      await terminal.expect(asked);
      terminal.type(PASSPHRASE);
    }
    await terminal.expect('A key file will sign for ada from now on:');
    await terminal.expect('#link=');
    await terminal.expect('\n');
    await page.goto(/http:\/\/localhost:[0-9]+\/#link=\S+/.exec(terminal.text)![0]);
    await page.getByText('further key file').waitFor();
    await page.getByText('“laptop”').waitFor();
    await page.getByRole('button', { name: 'Sign for ada…' }).click();
    await terminal.expect('[OK] ada can sign with "laptop" from now on');
    expect(await terminal.exited).toBe(0);

    const list = (await keyturn(['credential', 'list', 'ada'], { cwd })).stdout;
    expect(list).toMatch(/^ada +laptop +key +active/m);
    const freeze = ['freeze', '--reason', 'a look'];
    expect((await talkAt({ cwd }, freeze, ['Passphrase of ada: ', PASSPHRASE])).code).toBe(0);
    await ended(service);
    const verified = await keyturn(['ledger', 'verify', '--deep'], { cwd });
    expect([verified.code, verified.stderr]).toEqual([0, '']);
  });

  it('takes no words that go with nothing', async () => {
    const cwd = scratch();
    expectError('USAGE', await keyturn(['init', '--name', 'ada', '--label', 'x'], { cwd }));
    expectError('USAGE', await keyturn(['init', '--name', 'ada', '--recovery-key'], { cwd }));
    expectError('NO_TERMINAL', await keyturn(['init', '--name', 'ada', '--passkey'], { cwd }));
  });
});
