import { dirname } from 'node:path';
import type { LaneRunRequest } from '../lane/precondition.ts';
import { requireLaneAllowed } from '../lane/project.ts';
import type { Freezes, RunSetting } from '../lane/run.ts';
import { refuse } from '../refusal.ts';

type Effect = Parameters<RunSetting['confirm']>[0];

/**
 * Inside a project that opens the lane, a freeze stops the lane too: of everything, of the tenant, or of the tool. A store
 * that cannot be read is a no.
 */
export async function requireNotFrozen(request: LaneRunRequest, effect: Effect): Promise<void> {
  for (const { hidden } of requireLaneAllowed(foldersOf(request, effect)))
    await requireFree(dirname(hidden), effect.tool);
}

/** Where the request comes from, and where the tool would work. */
function foldersOf(
  { queue, working_folder, registry_path }: LaneRunRequest,
  { cwd, sandbox }: Effect,
): string[] {
  const touched = sandbox === 'none' ? [cwd] : [cwd, ...sandbox.read, ...sandbox.write];
  return [
    queue.folder,
    working_folder,
    ...(registry_path === null ? [] : [dirname(registry_path)]),
    ...touched,
  ];
}

/** The same while the tool runs: the stores stay open meanwhile. Outside of a project nothing can be frozen. */
export async function openFreezes(request: LaneRunRequest, effect: Effect): Promise<Freezes> {
  const open: OpenProject[] = [];
  const close = async () => {
    await Promise.all(open.map((project) => project.close()));
  };
  try {
    for (const { hidden } of requireLaneAllowed(foldersOf(request, effect)))
      open.push(await openProject(dirname(hidden)));
  } catch (error) {
    await close();
    throw error;
  }
  const requireFree = async () => {
    for (const project of open) await project.requireFree(effect.tool);
  };
  return { requireFree, close };
}

async function requireFree(at: string, tool: string): Promise<void> {
  const project = await openProject(at);
  try {
    await project.requireFree(tool);
  } finally {
    await project.close();
  }
}

interface OpenProject {
  requireFree(tool: string): Promise<void>;
  close(): Promise<void>;
}

/** The store is loaded only where there is a project: outside of one the lane needs none. */
async function openProject(at: string): Promise<OpenProject> {
  const { freezeOf, freezeWords, Keyturn } = await import('../keyturn.ts');
  const keyturn = await Keyturn.open({ at, mode: 'read' });
  return {
    async requireFree(tool) {
      const { freezes } = await keyturn.system.get();
      const about = { tenant: keyturn.config.tenant, agents: [], tools: [tool] };
      const freeze = freezeOf(freezes, about);
      if (freeze) refuse('FROZEN', freezeWords(freeze));
    },
    close: () => keyturn.close(),
  };
}
