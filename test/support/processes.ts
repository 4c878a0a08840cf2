import { readdirSync, readFileSync } from 'node:fs';
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

/** Waits for something that another process does. The time limit of the test is the only one. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(10);
}

/** Whether the process exists and is no zombie. */
export function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
