import { closeSync, openSync } from 'node:fs';
import * as z from 'zod';
import { DIGEST_FORM } from '../canonical/form.ts';
import { type CoveredFile, changedFile, coveredFiles } from '../effect/covered.ts';
import { executableForm } from '../effect/executable-form.ts';
import type { Digests, Program } from '../effect/program.ts';
import type { Profile } from '../effect/sandbox.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { isInterpreter } from './interpreter.ts';
import type { ToolEntry } from './schema.ts';

/** The files that a tool loads and the registry names, each with its digest. `null` when it names none. */
export const coversSchema = z
  .strictObject({
    root: z.string(),
    /** Sorted by path, which is relative to the root. */
    files: z.array(z.tuple([z.string(), z.string().regex(DIGEST_FORM)])).min(1),
  })
  .nullable();

export type Covers = z.infer<typeof coversSchema>;

/** Finds and hashes what `covers` names. */
export function coversOf(tool: ToolEntry, root: string, sandbox: Profile, digests: Digests): Covers {
  if (!tool.covers || tool.covers.length === 0) return null;
  const writable = sandbox === 'none' ? [] : sandbox.write;
  const files = coveredFiles(root, tool.covers, digests, writable) as [string, string][];
  // The effect is read again as one JSON document, and the files are most of it.
  if (Buffer.byteLength(JSON.stringify(files)) > 0.75 * limits.json_bytes)
    refuse('INPUT_TOO_LARGE', 'The names of the files that covers matches are too long to be kept together.');
  return { root, files };
}

/** Looked at once more just before the start. What was added since the derivation is not seen here. */
export function coveredChanged(covers: Covers, digests: Digests): string | null {
  return covers && changedFile(covers.root, covers.files, digests);
}

/** In words, how two lists of covered files differ: which are others, were added, or are gone. */
export function coverDifferences(approved: Covers, now: Covers): string {
  const [before, after] = [new Map(approved?.files), new Map(now?.files)];
  const words = (what: string, all: readonly CoveredFile[]) => {
    const names = all.slice(0, limits.named_files).map(([path]) => path);
    const more = all.length > limits.named_files ? ` and ${all.length - limits.named_files} more` : '';
    return names.length === 0 ? [] : [`${what} ${names.join(', ')}${more}`];
  };
  return [
    ...words(
      'changed:',
      [...after].filter(([path, sha]) => before.has(path) && before.get(path) !== sha),
    ),
    ...words(
      'added:',
      [...after].filter(([path]) => !before.has(path)),
    ),
    ...words(
      'gone:',
      [...before].filter(([path]) => !after.has(path)),
    ),
  ].join('; ');
}

/** Whether the first program is a script, or an interpreter of scripts. */
export function isInterpreted([first]: readonly Program[]): boolean {
  if (first === undefined) return false;
  if (isInterpreter(first.called) || isInterpreter(first.path)) return true;
  const fd = openSync(first.path, 'r');
  try {
    return executableForm(fd, first.path).kind === 'script';
  } finally {
    closeSync(fd);
  }
}
