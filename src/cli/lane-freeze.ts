import { dirname } from 'node:path';
import type { RunRequest } from '../lane/precondition.ts';
import { requireLaneAllowed } from '../lane/project.ts';
import type { RunSetting } from '../lane/run.ts';
import { refuse } from '../refusal.ts';

type Effect = Parameters<RunSetting['confirm']>[0];

/**
 * Inside a project that opens the lane, a freeze stops the lane too: of everything, of the tenant, or of the tool. A store
 * that cannot be read is a no.
 */
export async function requireNotFrozen(request: RunRequest, effect: Effect): Promise<void> {
  for (const { hidden } of requireLaneAllowed(foldersOf(request, effect)))
    await requireFree(dirname(hidden), effect.tool);
}

/** Where the request comes from, and where the tool would work. */
function foldersOf({ queue, working_folder, registry_path }: RunRequest, { cwd, sandbox }: Effect): string[] {
  const touched = sandbox === 'none' ? [cwd] : [cwd, ...sandbox.read, ...sandbox.write];
  return [
    queue.folder,
    working_folder,
    ...(registry_path === null ? [] : [dirname(registry_path)]),
    ...touched,
  ];
}

/** The store is loaded only where there is a project: outside of one the lane needs none. */
async function requireFree(at: string, tool: string): Promise<void> {
  const { freezeOf, freezeWords, Keyturn } = await import('../keyturn.ts');
  const keyturn = await Keyturn.open({ at, mode: 'read' });
  try {
    const { freezes } = await keyturn.system();
    const about = { tenant: keyturn.config.tenant, agents: [], tools: [tool] };
    const freeze = freezeOf(freezes, about);
    if (freeze) refuse('FROZEN', freezeWords(freeze));
  } finally {
    await keyturn.close();
  }
}
