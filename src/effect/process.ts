import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** The process that took a claim: enough to tell later whether it is still alive. */
export interface Executor {
  readonly host: string;
  readonly boot_id: string;
  readonly pid: number;
  /** When the process started, in clock ticks since boot, and the pid namespace in which `pid` means anything. */
  readonly started: string;
}

export function thisProcess(): Executor {
  return {
    host: hostname(),
    boot_id: bootId(),
    pid: process.pid,
    started: `${startTicks(process.pid) ?? 'unknown'}@${pidNamespace()}`,
  };
}

/**
 * Whether the process that took a claim still lives. A pid alone is not enough: pids are used again. A process of
 * another container has the same host and boot but cannot be seen from here, so it counts as another host: a wrong
 * "dead" would let a human settle a run that is still going on.
 */
export function isAlive(executor: Executor): 'alive' | 'dead' | 'other-host' {
  if (executor.host !== hostname()) return 'other-host';
  if (executor.boot_id !== bootId()) return 'dead';
  const [ticks, namespace] = executor.started.split('@');
  if (namespace !== pidNamespace()) return 'other-host';
  return startTicks(executor.pid) === ticks ? 'alive' : 'dead';
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return 'unknown'; // off Linux: a claim then never looks older than the boot, which only makes us more careful
  }
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid').replace(/\D/g, '');
  } catch {
    return 'unknown';
  }
}

/** Field 22 of /proc/PID/stat; null when there is no such process, or only its unburied body. */
function startTicks(pid: number): string | null {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null;
  }
  // The second field is the program's own name in brackets and may hold spaces and brackets.
  const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === 'Z' || state === 'X' ? null : (rest[18] ?? null);
}
