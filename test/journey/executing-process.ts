import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { onTestFinished } from 'vitest';
import { cliPath } from '../support/pty.ts';

/** `keyturn execute` as a process of its own, once it hears of orders. With `host`, on a machine that is called that. */
export async function executing(cwd: string, host: string | null = null): Promise<ChildProcess> {
  const [file, ...args] = onHost(host, [process.execPath, cliPath(), 'execute']);
  const child = spawn(file!, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  await new Promise<void>((done, failed) => {
    child.stderr.on('data', (part) => {
      said += part;
      if (said.includes('Ctrl-C ends it')) done();
    });
    child.once('exit', () => failed(new Error(`keyturn execute ended: ${said}`)));
  });
  return child;
}

/** Only root may name a machine. */
export const can_name = process.getuid?.() === 0 && spawnSync('unshare', ['--uts', 'true']).status === 0;

/** Each step replaces the one before it: the child is the process of the command. */
export const onHost = (host: string | null, command: readonly string[]): readonly string[] =>
  host === null ? command : [...NAMED, host, ...command];

const NAMED = ['unshare', '--uts', 'sh', '-c', 'hostname "$0" && exec "$@"'];
