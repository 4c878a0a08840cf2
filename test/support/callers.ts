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

/** Runs callers-child.ts as a process of its own, with the options of node that a library process has: none but these. */
export async function runCallers(
  root: string,
  { callers, journeys, options = [] }: { callers: number; journeys: number; options?: readonly string[] },
): Promise<CallersEnd> {
  const args = [...options, '--import', 'tsx', CHILD, root, PASSPHRASE, `${callers}`, `${journeys}`];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, [, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { signal, answers: stdout === '' ? null : JSON.parse(stdout), stderr };
}
