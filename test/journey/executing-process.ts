import { type ChildProcess, spawn } from 'node:child_process';
import { onTestFinished } from 'vitest';
import { cliPath } from '../support/pty.ts';

/** `keyturn execute` as a process of its own, once it hears of orders. */
export async function executing(cwd: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [cliPath(), 'execute'], { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
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
