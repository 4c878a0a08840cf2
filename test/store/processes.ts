import { execFile, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { killedAfter } from '../support/processes.ts';

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
export async function acknowledgedBefore(delay_ms: number, [command, ...args]: string[]): Promise<Line[]> {
  const child = spawn(command!, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const { killed, said } = await killedAfter(child, delay_ms);
  expect(killed).toBe(true);
  return parsed(said.slice(0, said.lastIndexOf('\n') + 1));
}

function parsed(said: string): Line[] {
  const lines = said.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line)).filter((line) => 'answer' in line);
}
