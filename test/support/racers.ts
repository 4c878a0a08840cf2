import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('./run-child.mjs', import.meta.url));

export interface Racer {
  readonly child: ChildProcess;
  readonly ready: Promise<void>;
  /** The last line that it printed, or `killed`. */
  readonly answer: Promise<string>;
  go(): void;
}

/** A real process that waits at the line until `go`. Needs the build in dist/. */
export function racer(root: string, intent_id: string, hash: string, token?: string): Racer {
  const words = [root, intent_id, hash, ...(token === undefined ? [] : [token])];
  const child = spawn(process.execPath, [script, ...words], {
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
