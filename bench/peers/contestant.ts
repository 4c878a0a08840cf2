import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

/** Where a system keeps its records, and the one effect that it is asked for. */
export interface Place {
  readonly root: string;
  /** A database of its own on the server; null for SQLite in `root`. */
  readonly url: string | null;
  readonly command: readonly [string, ...string[]];
}

export interface Contestant {
  /** One effect that a human approves, from the request to the record. */
  journey(name: string): Promise<void>;
  /** After a kill, in a new process: goes on with that journey. Returns what the system says about it. */
  recover(name: string): Promise<string>;
  close(): Promise<void>;
}

export type Order =
  | { readonly act: 'journeys'; readonly prefix: string; readonly journeys: number; readonly callers: number }
  | { readonly act: 'recover'; readonly name: string }
  | { readonly act: 'close' };

export interface Lap {
  readonly ms: number;
  /** Of this process and of its children that have ended. */
  readonly cpu_ms: number;
  readonly failures: number;
}

/** Answers the orders of the process that started this one, one after the other. */
export async function serve(open: (place: Place) => Promise<Contestant>): Promise<void> {
  const contestant = await open(JSON.parse(process.argv[2]!));
  process.on('message', async (order: Order) => {
    process.send!(await obeyed(contestant, order));
    if (order.act === 'close') process.disconnect();
  });
  process.send!('ready');
}

async function obeyed(contestant: Contestant, order: Order): Promise<Lap | string> {
  switch (order.act) {
    case 'journeys':
      return lap(contestant, order);
    case 'recover':
      return contestant.recover(order.name);
    case 'close':
      await contestant.close();
      return 'closed';
  }
}

/** So many callers share so many journeys. */
async function lap(
  { journey }: Contestant,
  { prefix, journeys, callers }: Extract<Order, { act: 'journeys' }>,
): Promise<Lap> {
  let begun = 0;
  let failures = 0;
  const caller = async () => {
    while (begun < journeys) {
      begun += 1;
      await journey(`${prefix}-${begun}`).catch((error) => {
        failures += 1;
        if (failures === 1) console.error(error);
      });
    }
  };
  const [from_ms, from_cpu_ms] = [performance.now(), cpuMs()];
  await Promise.all(Array.from({ length: callers }, caller));
  return { ms: performance.now() - from_ms, cpu_ms: cpuMs() - from_cpu_ms, failures };
}

/** Of this process and of all that it started, also of those that still run: Keyturn's children are started by a helper. */
function cpuMs(pid: number | string = process.pid): number {
  const { own_ms, ended_ms } = timesOf(pid);
  const running = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').match(/\d+/g) ?? [];
  return running.reduce((sum, child) => sum + cpuMsIfAny(child), own_ms + ended_ms);
}

function cpuMsIfAny(pid: string): number {
  try {
    return cpuMs(pid);
  } catch {
    return 0; // it ended meanwhile, and what it took is among that of its parent the next time
  }
}

/** Linux counts in hundredths of a second. The name of the program, in brackets, may hold spaces. */
function timesOf(pid: number | string): { readonly own_ms: number; readonly ended_ms: number } {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ');
  const [user = 0, system = 0, child_user = 0, child_system = 0] = fields.slice(11, 15).map(Number);
  return { own_ms: 10 * (user + system), ended_ms: 10 * (child_user + child_system) };
}

/** The effect as a peer has it: one child process. */
export async function spawned([program, ...args]: readonly [string, ...string[]]): Promise<void> {
  const [code] = await once(spawn(program, args, { stdio: 'ignore' }), 'close');
  if (code !== 0) throw new Error(`${program} ended with ${code}`);
}
