import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startServer } from '../test/support/postgres-server.ts';
import { runGoverned } from './governed.ts';
import { longestTurn } from './loop.ts';
import { createProject, openProject, type Project, turnedIntent } from './project.ts';
import { median, timed, usual } from './timing.ts';

/** What a caller does: it proposes and turns the key; or it also runs `/bin/true`, without a sandbox. */
export type Work = 'turn' | 'run';

const WORK: Readonly<Record<Work, (project: Project) => Promise<unknown>>> = {
  turn: turnedIntent,
  run: async (project) => runGoverned(project.keyturn, await turnedIntent(project, 'bare')),
};

export interface CallerTimes {
  /** Journeys in a second, for each number of callers. */
  readonly rates: readonly number[];
  readonly failures: number;
  readonly journeys: number;
  /** The longest that nothing else could happen in the process, without the time that it waited for a core. */
  readonly longest_ms: number;
}

/** One proposer, one human, one process. The numbers of callers take turns, so that none has the longer ledger. */
export async function measureCallers({
  root,
  work,
  callers,
  rounds,
  journeys,
}: {
  root: string;
  work: Work;
  callers: readonly number[];
  rounds: number;
  journeys: number;
}): Promise<CallerTimes> {
  const project = await createProject(root);
  await together(project, work, callers[0]!, journeys);
  const times = callers.map((): number[] => []);
  let failures = 0;
  const loop = longestTurn();
  for (let round = 0; round < rounds; round++) {
    for (const [i, count] of callers.entries()) {
      times[i]!.push(
        await timed(async () => {
          failures += await together(project, work, count, journeys);
        }),
      );
    }
  }
  const longest_ms = loop.end();
  await project.keyturn.close();
  return {
    rates: times.map((each) => (1000 * journeys) / usual(each)),
    failures,
    journeys: rounds * journeys * callers.length,
    longest_ms,
  };
}

/** So many callers share so many journeys. Returns how many failed. */
async function together(project: Project, work: Work, callers: number, journeys: number): Promise<number> {
  let left = journeys;
  let failures = 0;
  const caller = async () => {
    while (left > 0) {
      left -= 1;
      await WORK[work](project).catch(() => {
        failures += 1;
      });
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return failures;
}

export interface ShareOptions {
  readonly root: string;
  readonly callers: number;
}

interface Share {
  readonly ended_ms: number;
  readonly failures: number;
  readonly longest_ms: number;
}

/** The part of one process: for each number on its standard input so many journeys, and one line about them. */
export async function callShare({ root, callers }: ShareOptions): Promise<void> {
  const project = await openProject(root);
  for await (const line of createInterface(process.stdin)) {
    const loop = longestTurn();
    const failures = await together(project, 'turn', callers, Number(line));
    const share: Share = { longest_ms: loop.end(), failures, ended_ms: Date.now() };
    process.stdout.write(`${JSON.stringify(share)}\n`);
  }
  await project.keyturn.close();
}

export interface ProcessTimes {
  /** Of many processes against one that has as many callers. */
  readonly ratio: number;
  readonly rates: readonly [one: number, many: number];
  readonly failures: number;
  readonly longest_ms: number;
}

const PROCESSES = 8;
const EACH = 4;

/** One process with 32 callers and eight with four, in turn, on one ledger in each kind of store. */
export async function measureProcesses({
  folder,
  rounds,
  journeys,
}: {
  folder: string;
  rounds: number;
  journeys: number;
}): Promise<{ readonly sqlite: ProcessTimes; readonly postgres: ProcessTimes }> {
  const sqlite = await processesAt(join(folder, 'processes'), { rounds, journeys });
  // The server is not root, and must get through to its data.
  chmodSync(folder, 0o711);
  const server = await startServer({ max_wal_size: '4GB' }, folder);
  try {
    const root = join(folder, 'shared');
    return { sqlite, postgres: await processesAt(root, { rounds, journeys, store: server.url() }) };
  } finally {
    await server.remove();
  }
}

/**
 * Journeys of each process before it is measured, until most of its code is compiled: eight processes would compile eight times in the time
 * that is compared, and one process once. All of them stay for all rounds.
 */
const WARM_UP = 2_048;

async function processesAt(
  root: string,
  { rounds, journeys, store }: { rounds: number; journeys: number; store?: string },
): Promise<ProcessTimes> {
  await (await createProject(root, store)).keyturn.close();
  const found: { one: number; many: number }[] = [];
  let failures = 0;
  let longest_ms = 0;
  const groupOf = async (processes: number, callers: number) => {
    const members = Array.from({ length: processes }, () => startShare({ root, callers }));
    await Promise.all(members.map(({ take }) => take(WARM_UP)));
    const rate = async () => {
      // What the others wrote is read before it counts: one process would have read it once, and eight of them eight times.
      await Promise.all(members.map(({ take }) => take(callers)));
      const at_ms = Date.now();
      const shares = await Promise.all(members.map(({ take }) => take(journeys / processes)));
      failures += shares.reduce((sum, share) => sum + share.failures, 0);
      longest_ms = Math.max(longest_ms, ...shares.map((share) => share.longest_ms));
      return (1000 * journeys) / (Math.max(...shares.map(({ ended_ms }) => ended_ms)) - at_ms);
    };
    return { rate, end: () => Promise.all(members.map(({ end }) => end())) };
  };
  const one = await groupOf(1, PROCESSES * EACH);
  const many = await groupOf(PROCESSES, EACH);
  for (let round = 0; round < rounds; round++) found.push({ one: await one.rate(), many: await many.rate() });
  await Promise.all([one.end(), many.end()]);
  const rates = [median(found.map((each) => each.one)), median(found.map((each) => each.many))] as const;
  return { ratio: median(found.map((each) => each.many / each.one)), rates, failures, longest_ms };
}

/** The same program, for one job more. */
function startShare(options: ShareOptions) {
  const child = spawn(process.execPath, [process.argv[1]!, 'callShare', JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    async take(journeys: number): Promise<Share> {
      child.stdin.write(`${journeys}\n`);
      return JSON.parse((await lines.next()).value);
    },
    async end(): Promise<void> {
      child.stdin.end();
      await once(child, 'exit');
    },
  };
}
