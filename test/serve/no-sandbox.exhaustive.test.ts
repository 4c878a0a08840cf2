import { spawn } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { authority } from '../journey/authority.ts';
import { until } from '../support/processes.ts';
import { cliPath } from '../support/pty.ts';

/** As in a container: the process has a user namespace, and may make no other one. */
const CONFINED = 'echo 1 > /proc/sys/user/max_user_namespaces && exec unshare --user --map-user=1000 "$@"';

it.each([['serve', '--port', '0'], ['execute']])(
  'keyturn %s says at its start that no tool with a sandbox runs',
  async (...words) => {
    const { root, keyturn } = await authority();
    await keyturn.close();
    const command = [process.execPath, cliPath(), ...words];
    const child = spawn('unshare', ['--user', '--map-root-user', 'sh', '-c', CONFINED, 'sh', ...command], {
      cwd: root,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let said = '';
    child.stderr.on('data', (part) => {
      said += part;
    });
    await until(() => said.includes('sandbox') || child.exitCode !== null);
    expect(said).toMatch(
      /^No tool with a sandbox runs here \(SANDBOX_UNAVAILABLE\): .*user\.max_user_namespaces/m,
    );
  },
);

it.each([['serve', '--port', '0'], ['execute']])(
  'keyturn %s says at its start that it can issue nothing',
  async (...words) => {
    const { root, keyturn } = await authority();
    await keyturn.close();
    for (const name of readdirSync(join(root, '.keyturn/keys')))
      if (name.startsWith('control')) rmSync(join(root, '.keyturn/keys', name));
    const child = spawn(process.execPath, [cliPath(), ...words], {
      cwd: root,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let said = '';
    child.stderr.on('data', (part) => {
      said += part;
    });
    await until(() => said.includes('CONTROL_KEY') || child.exitCode !== null);
    expect(said).toMatch(/^Nothing that is ordered runs here \(CONTROL_KEY_ELSEWHERE\): .*--control-plane/m);
  },
);
