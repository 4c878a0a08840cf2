import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { expect, onTestFinished } from 'vitest';
import type { Heard } from './piped.ts';
import { BUILT_CLI } from './stage.ts';

/** `keyturn mcp` as a process whose pipes the test holds. It can be killed, and another one started. */
export function gateProcess(root: string, as: string) {
  const args = [BUILT_CLI, 'mcp', '--project', root, '--as', as];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const heard = () => lines.map((line) => JSON.parse(line) as Heard);
  let last = 0;
  const ask = async (method: string, params: object): Promise<Heard> => {
    last += 1;
    const id = last;
    send({ id, method, params });
    await expect.poll(() => heard().some((one) => one.id === id), { timeout: 60_000 }).toBe(true);
    return heard().find((one) => one.id === id)!;
  };
  const kill = async () => {
    const gone = new Promise((done) => child.once('exit', done));
    child.kill('SIGKILL');
    await gone;
  };
  return { child, lines, heard, send, ask, kill };
}
