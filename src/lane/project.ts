import { realpathSync } from 'node:fs';
import { type Config, guardedPaths, readConfig } from '../project/config.ts';
import { findProject, type Layout, layoutOf } from '../project/layout.ts';
import { Refusal, refuse } from '../refusal.ts';

/** A project in whose ground the lane works, and what no tool may see there or write there. */
export interface LaneProject {
  readonly hidden: string;
  readonly protected: readonly string[];
}

/**
 * The projects that these folders belong to. Inside a project the lane would bypass the gate, because it asks for no
 * signature: it is closed unless the project's own `keyturn.yaml` opens it.
 */
export function requireLaneAllowed(folders: readonly string[]): readonly LaneProject[] {
  const roots = new Set(folders.flatMap(bothNames).map(findProject));
  return [...roots].filter((root) => root !== null).map((root) => openedProject(layoutOf(root)));
}

function openedProject(layout: Layout): LaneProject {
  const config = configOf(layout);
  if (!config?.lane_allowed) refuse('LANE_FORBIDDEN', `The lane is closed in the project ${layout.root}.`);
  return { hidden: layout.own, protected: guardedPaths(layout, config) };
}

/** As it was named and where it really is: a link must not lead around the answer. */
function bothNames(folder: string): string[] {
  try {
    return [folder, realpathSync(folder)];
  } catch {
    return [folder];
  }
}

function configOf(layout: Layout): Config | null {
  try {
    return readConfig(layout);
  } catch (error) {
    if (error instanceof Refusal && error.code === 'FILE_NOT_FOUND') return null;
    throw error;
  }
}
