import { realpathSync } from 'node:fs';
import { readConfig } from '../project/config.ts';
import { findProject, type Layout, layoutOf } from '../project/layout.ts';
import { Refusal, refuse } from '../refusal.ts';

/**
 * The projects that these folders belong to. Inside a project the lane would be a side door, because it asks for no
 * signature: it is closed unless the project's own `keyturn.yaml` opens it.
 */
export function requireLaneAllowed(folders: readonly string[]): readonly Layout[] {
  const roots = new Set(folders.flatMap(bothNames).map(findProject));
  const layouts = [...roots].filter((root) => root !== null).map((root) => layoutOf(root));
  for (const layout of layouts) if (!isAllowed(layout)) refuse('LANE_FORBIDDEN');
  return layouts;
}

/** As it was named and where it really is: a link must not lead around the answer. */
function bothNames(folder: string): string[] {
  try {
    return [folder, realpathSync(folder)];
  } catch {
    return [folder];
  }
}

function isAllowed(layout: Layout): boolean {
  try {
    return readConfig(layout).lane_allowed;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'FILE_NOT_FOUND') return false;
    throw error;
  }
}
