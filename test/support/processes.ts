import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

/** Every process of this machine that carries the mark in its environment. */
export const processesWith = (mark: string) => processesThatSay('environ', (text) => text.includes(mark));

/** Every process of this machine that was started with exactly these words. */
export const processesOf = (...argv: string[]) =>
  processesThatSay('cmdline', (text) => text === argv.map((word) => `${word}\0`).join(''));

export const processesThatName = (part: string) => processesThatSay('cmdline', (text) => text.includes(part));

function processesThatSay(file: 'environ' | 'cmdline', is_meant: (text: string) => boolean): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && is_meant(readFileSync(`/proc/${pid}/${file}`, 'latin1'));
    } catch {
      return false;
    }
  });
}

type Absent = false | null | undefined | '';

/** Waits for something that another process does, and returns what was found. The time limit of the test is the only one. */
export async function until<T>(look: () => T | Promise<T>): Promise<Exclude<T, Absent>> {
  for (;;) {
    const found = await look();
    if (found !== false && found !== null && found !== undefined && found !== '')
      return found as Exclude<T, Absent>;
    await sleep(10);
  }
}

/**
 * The one wait for a length of time; `noFixedWaits` in tidy-words.ts finds every other. It is for what no condition tells: a moment that must be any
 * moment, time that is itself what a rule is about, and something that must not happen meanwhile. `why` says which.
 */
export async function elapsed(ms: number, why: string, signal?: AbortSignal): Promise<void> {
  if (why === '') throw new Error('A wait for a length of time needs a reason.');
  await sleep(ms, undefined, { signal });
}

/** The same for a process that must do nothing else meanwhile, not even read. */
export function blocked(ms: number, why: string): void {
  if (why === '') throw new Error('A wait for a length of time needs a reason.');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Kills it so long after its first word, which is any moment of its work; undefined lets it end by itself. Returns how it ended. */
export async function killedAfter(
  child: ChildProcessByStdio<null, Readable, null>,
  delay_ms: number | undefined,
): Promise<{ killed: boolean; said: string; took_ms: number }> {
  let said = '';
  let from = 0;
  const ended = once(child, 'close');
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (said === '') {
      from = performance.now();
      if (delay_ms !== undefined)
        void Promise.race([ended, sleep(delay_ms, undefined, { ref: false })]).then(() =>
          child.kill('SIGKILL'),
        );
    }
    said += text;
  });
  const [, signal] = await ended;
  return { killed: signal === 'SIGKILL', said, took_ms: performance.now() - from };
}

/** Whether the process exists and is no zombie. */
export function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** The processes that this one started. */
export function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean)
    .map(Number);
}

/** How it was started; empty where it is gone. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
