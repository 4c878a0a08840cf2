import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { PASSPHRASE } from './project.ts';

const CHILD = fileURLToPath(new URL('callers-child.ts', import.meta.url));

export interface CallersEnd {
  readonly signal: NodeJS.Signals | null;
  /** How often each answer came; null when the process did not live to say so. */
  readonly answers: Readonly<Record<string, number>> | null;
  readonly stderr: string;
}

export interface CallersOptions {
  readonly callers: number;
  readonly until: 'grant' | 'record';
  /** How many they make together; without it, as many as they can in the time. */
  readonly journeys?: number;
  readonly seconds?: number;
}

/** Runs callers-child.ts as a process of its own, with the options of node that a library process has: none but these. */
export async function runCallers(
  root: string,
  options: CallersOptions,
  node_options: readonly string[] = [],
): Promise<CallersEnd> {
  const given = JSON.stringify({ ...options, root, passphrase: PASSPHRASE });
  const args = [...node_options, '--import', 'tsx', CHILD, given];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, [, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { signal, answers: stdout === '' ? null : JSON.parse(stdout), stderr };
}
