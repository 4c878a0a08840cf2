import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'vitest';

export interface Line {
  readonly claim: string;
  readonly intent_id: string;
  readonly answer: string;
}

export function committer(path: string, tag: string, contested: string): string[] {
  const script = fileURLToPath(new URL('./committer.ts', import.meta.url));
  return [process.execPath, '--import', 'tsx', script, path, tag, contested];
}

export async function linesOf([command, ...args]: string[]): Promise<Line[]> {
  const { stdout } = await promisify(execFile)(command!, args);
  return parsed(stdout);
}

/** Kills a committing process some milliseconds after its first commit, and returns what it had acknowledged. */
export async function killedAfter(delay_ms: number, [command, ...args]: string[]): Promise<Line[]> {
  const child = spawn(command!, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (said === '') setTimeout(() => child.kill('SIGKILL'), delay_ms);
    said += text;
  });
  const [, signal] = await once(child, 'close');
  expect(signal).toBe('SIGKILL');
  return parsed(said.slice(0, said.lastIndexOf('\n') + 1));
}

function parsed(said: string): Line[] {
  const lines = said.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line)).filter((line) => 'answer' in line);
}
