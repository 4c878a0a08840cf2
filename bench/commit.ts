import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { commitInTurn, commitTogether, openStore, proposal } from './facts.ts';
import { timed, usual } from './timing.ts';

export const TOGETHER = 64;
/** Until the WAL has its full length and the code is compiled. */
export const WARM_UP = 1_200;

export interface CommitOptions {
  readonly folder: string;
  readonly rounds: number;
  /** Commits of each kind in one round: a multiple of TOGETHER. */
  readonly commits: number;
}

/** Microseconds for one commit. */
export interface CommitTimes {
  readonly raw_us: number;
  readonly lone_us: number;
  readonly grouped_us: number;
  readonly bytes: number;
}

/** The raw disk, one commit at a time, and many at once, in turn in every round: a disk has moods. */
export async function measureCommits({ folder, rounds, commits }: CommitOptions): Promise<CommitTimes> {
  const store = await openStore(join(folder, 'commit.db'), 'create');
  const fd = openSync(join(folder, 'raw'), 'a');
  try {
    const bytes = (await store.commit(proposal())).entries[0]!.bytes;
    const each = async (act: () => unknown) => ((await timed(act)) * 1000) / commits;
    const lone = () => commitInTurn(store, commits);
    const grouped = async () => {
      for (let i = 0; i < commits; i += TOGETHER) await commitTogether(store, TOGETHER);
    };
    await commitInTurn(store, WARM_UP);
    await grouped();
    const times: { raw: number; lone: number; grouped: number }[] = [];
    for (let round = 0; round < rounds; round++) {
      times.push({
        raw: await each(() => appendRaw(fd, bytes, commits)),
        lone: await each(lone),
        grouped: await each(grouped),
      });
    }
    return {
      raw_us: usual(times.map(({ raw }) => raw)),
      lone_us: usual(times.map(({ lone }) => lone)),
      grouped_us: usual(times.map(({ grouped }) => grouped)),
      bytes: bytes.length,
    };
  } finally {
    closeSync(fd);
    await store.close();
  }
}

function appendRaw(fd: number, bytes: Uint8Array, count: number): void {
  for (let i = 0; i < count; i++) {
    writeSync(fd, bytes);
    fdatasyncSync(fd);
  }
}

/** A process for strace to watch. */
export async function commitOnly(options: { path: string; count: number; together: boolean }): Promise<void> {
  const store = await openStore(options.path, 'create');
  if (!options.together) await commitInTurn(store, options.count);
  else for (let i = 0; i < options.count; i += TOGETHER) await commitTogether(store, TOGETHER);
  await store.close();
}
