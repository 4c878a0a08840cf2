import { spawn } from 'node:child_process';
import { onTestFinished } from 'vitest';
import { until } from '../support/processes.ts';
import { cliPath } from '../support/pty.ts';

/** `keyturn serve` as a process of its own, once it listens; without an address where it ended instead. */
export async function serveProcess({ root }: { readonly root: string }, ...more: string[]) {
  const child = spawn(process.execPath, [cliPath(), 'serve', '--port', '0', '--json', ...more], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let [out, said] = ['', ''];
  child.stdout.on('data', (part) => {
    out += part;
  });
  child.stderr.on('data', (part) => {
    said += part;
  });
  await until(() => out.includes('\n') || child.exitCode !== null);
  const { address = '', link = '' } = JSON.parse(out).result ?? {};
  return { child, address, link, stdout: () => out, stderr: () => said } as {
    readonly child: typeof child;
    readonly address: string;
    readonly link: string;
    stdout(): string;
    stderr(): string;
  };
}
