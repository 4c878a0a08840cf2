import { backupsInUse } from '../gate/backups.ts';
import { leftoverLines } from '../plan/rollback/leftovers.ts';
import { loadManifest, type RollbackManifest } from '../plan/rollback/manifest.ts';
import { Refusal } from '../refusal.ts';
import type { Context } from './context.ts';
import { allIntents } from './list.ts';

/** Temporary files of plan runs that are over, one line for each. Those of a run that may be at work are in use. */
export async function leftovers(context: Context): Promise<string[]> {
  const lines: string[] = [];
  for await (const state of allIntents(context)) {
    for (const run of state.runs) {
      if (run.reports === null || run.manifest === null || backupsInUse(state, run) !== null) continue;
      const manifest = manifestOf(context, run.reports);
      if (manifest) lines.push(...(await leftoverLines(context.root, manifest)));
    }
  }
  return lines;
}

/** `null` where it is on another host, or damaged: a rollback of that run says so. */
function manifestOf({ root }: Context, reports: string): RollbackManifest | null {
  try {
    return loadManifest(root, reports);
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}
