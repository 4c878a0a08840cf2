import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Workshop } from './workshop.ts';

const STRACE = '/usr/bin/strace';

/** How often the disk was told to sync, counted by the kernel; the opening of the store is taken off. */
export interface Syncs {
  readonly commits: number;
  readonly lone: number;
  readonly together: number;
}

export async function countSyncs(workshop: Workshop, commits: number): Promise<Syncs | null> {
  if (!existsSync(STRACE)) return null;
  const opening = await syncsOf(workshop, 'none', { count: 0, together: false });
  return {
    commits,
    lone: (await syncsOf(workshop, 'lone', { count: commits, together: false })) - opening,
    together: (await syncsOf(workshop, 'together', { count: commits, together: true })) - opening,
  };
}

async function syncsOf(
  { folder, ask }: Workshop,
  name: string,
  work: { count: number; together: boolean },
): Promise<number> {
  const log = join(folder, `syncs-${name}`);
  const strace = [
    STRACE,
    '-f',
    '--seccomp-bpf',
    '-qq',
    '-e',
    'trace=fsync,fdatasync',
    '-e',
    'signal=none',
    '-o',
    log,
  ];
  await ask('commitOnly', { ...work, path: join(folder, `syncs-${name}.db`) }, strace);
  // A call that another thread interrupts is written twice; only its beginning has the bracket right after the name.
  return readFileSync(log, 'latin1').match(/\bf(data)?sync\(/g)?.length ?? 0;
}
