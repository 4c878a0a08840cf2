import { resolve } from 'node:path';
import { type Digests, describePrograms, type Program } from '../effect/program.ts';
import { refuse } from '../refusal.ts';
import type { ToolEntry } from './schema.ts';

/** Where programs are looked for when the registry does not say. Never the caller's PATH. */
const SEARCH_PATH = '/usr/local/bin:/usr/bin:/bin';

/** The fixed part of a tool's environment. PATH is always there, because it decides which interpreter runs. */
export function environmentOf(tool: ToolEntry): Record<string, string> {
  return { PATH: SEARCH_PATH, ...tool.env };
}

/** The executable of a tool and its interpreters, with their digests. Refuses one that is not what was pinned. */
export function toolPrograms(tool: ToolEntry, folder: string, digests: Digests): Program[] {
  const programs = describePrograms(resolve(folder, tool.executable), environmentOf(tool).PATH!, digests);
  const { path, sha256 } = programs[0]!;
  if (tool.digest !== undefined && tool.digest !== `sha256:${sha256}`) {
    refuse('EXECUTABLE_CHANGED', `${path} is not the file that the registry pins.`, { path, found: sha256 });
  }
  return programs;
}
