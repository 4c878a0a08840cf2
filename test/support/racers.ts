import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface Racer {
  readonly child: ChildProcess;
  readonly ready: Promise<void>;
  /** The last line that it printed, or `killed`. */
  readonly answer: Promise<string>;
  go(): void;
}

/** A real process that runs an intent, and waits at the line until `go`. Needs the build in dist/. */
export function racer(root: string, intent_id: string, hash: string, token?: string): Racer {
  return atTheLine('run-child.mjs', [root, intent_id, hash, ...(token === undefined ? [] : [token])]);
}

/** The same for one that says yes to a prompt of the agent core. */
export function confirmer(root: string, prompt: { correlation_id: string; plan_id: string }): Racer {
  return atTheLine('agent-child.mjs', [root, prompt.correlation_id, prompt.plan_id]);
}

function atTheLine(script: string, words: readonly string[]): Racer {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn(process.execPath, [path, ...words], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let said = '';
  let arrived = () => {};
  const ready = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  child.stdout?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
    if (said.includes('ready\n')) arrived();
  });
  const answer = new Promise<string>((resolve) => {
    child.on('close', () => {
      arrived();
      const last = said.trimEnd().split('\n').at(-1) ?? '';
      resolve(last === 'ready' || last === '' ? 'killed' : last);
    });
  });
  return { child, ready, answer, go: () => child.stdin?.end() };
}
