import { readFileSync, readlinkSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { type Digest, sha256 } from '../canonical/digest.ts';
import type { Account } from '../identity/account.ts';

/** The process that took a claim: enough to tell later whether it is still alive. */
interface Executor {
  readonly host: string;
  readonly boot_id: string;
  readonly pid: number;
  /** When the process started, in clock ticks since boot, and the pid namespace in which `pid` means anything. */
  readonly started: string;
  /** Names the machine, since two of them can have one host name. Hashed, so that the id itself is not published. */
  readonly machine?: Digest | undefined;
  /** One opened project of that process. It knows by itself what it still does. */
  readonly instance?: string | undefined;
}

export function thisProcess(): Executor {
  const machine = machineId();
  return {
    host: hostname(),
    boot_id: bootId(),
    pid: process.pid,
    started: `${startTicks(process.pid)}@${pidNamespace()}`,
    ...(machine !== null && { machine }),
  };
}

/** The account of the operating system that this process belongs to. */
export function thisAccount(): Account {
  const uid = process.getuid?.() ?? -1;
  return { host: hostname(), machine: machineId(), uid, user: userName(uid) };
}

/** A uid without an entry in the list of users has no name. */
function userName(uid: number): string {
  try {
    return userInfo().username.slice(0, 255) || String(uid);
  } catch {
    return String(uid);
  }
}

/**
 * Whether the process that took a claim still lives. A pid alone is not enough: pids are used again. A process of
 * another container has the same host and boot but cannot be seen from here, so it counts as another host: a wrong
 * "dead" would let a human settle a run that is still going on. The same goes for another boot: of this machine it is an
 * earlier one, and everything in it is dead; of another machine with the same name it is going on.
 */
export function isAlive(executor: Executor, here: Executor = thisProcess()): 'alive' | 'dead' | 'other-host' {
  if (executor.host !== here.host) return 'other-host';
  const machines = [executor.machine, here.machine].filter((machine) => machine !== undefined);
  if (new Set(machines).size > 1) return 'other-host';
  const boots = [executor.boot_id, here.boot_id].filter((boot) => boot !== UNKNOWN);
  if (new Set(boots).size > 1) return machines.length === 2 ? 'dead' : 'other-host';
  const [ticks, namespace] = executor.started.split('@');
  if (namespace !== here.started.split('@')[1]) return 'other-host';
  const now = startTicks(executor.pid);
  if (now === 'ended') return 'dead';
  if (now === UNKNOWN || ticks === UNKNOWN) return answersToSignals(executor.pid) ? 'alive' : 'dead';
  return now === ticks ? 'alive' : 'dead';
}

/** Only "no such process" is a no. A process of another user exists and may not be signalled. */
function answersToSignals(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

const UNKNOWN = 'unknown';

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return UNKNOWN; // off Linux: a claim then never looks older than the boot, which only makes us more careful
  }
}

/** What systemd gave this machine when it was installed. Some containers have none. */
function machineId(): Digest | null {
  try {
    const id = readFileSync('/etc/machine-id', 'utf8').trim();
    return /^[0-9a-f]{32}$/.test(id) ? sha256(`keyturn machine ${id}`) : null;
  } catch {
    return null;
  }
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid').replace(/\D/g, '');
  } catch {
    return UNKNOWN;
  }
}

/** Field 22 of /proc/PID/stat. `ended` is an unburied body; where /proc hides a process or is missing, it is unknown. */
function startTicks(pid: number): string {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return UNKNOWN;
  }
  // The second field is the program's own name in brackets and may hold spaces and brackets.
  const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === 'Z' || state === 'X' ? 'ended' : (rest[18] ?? UNKNOWN);
}
