import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** A part of Keyturn that is a process of its own. */
export interface OwnProgram {
  readonly path: string;
  /** For node, before the path. */
  readonly options: readonly string[];
  readonly is_source: boolean;
}

/**
 * In the source tree it is TypeScript, `source` beside the asking module. In a build it is `dist/BUILT`, beside the bundle or one
 * folder up. Null where this installation lacks it.
 */
export function ownProgram(module: string, source: string, built: string): OwnProgram | null {
  const here = dirname(fileURLToPath(module));
  const path = join(here, source);
  if (existsSync(path)) {
    const loader = pathToFileURL(createRequire(path).resolve('tsx')).href;
    return { path, options: ['--import', loader], is_source: true };
  }
  const found = [join(here, built), join(dirname(here), built)].find((one) => existsSync(one));
  return found ? { path: realpathSync(found), options: [], is_source: false } : null;
}
