import { statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { canonicalText } from '../canonical/json.ts';
import { fileKey, hasSettled } from '../effect/file-key.ts';
import type { Configured } from './accepted.ts';
import type { ServerEntry } from './entry.ts';
import { scriptPaths } from './script.ts';

/** What an entry of keyturn.yaml came to, with the files that it came from: while these are the same, it comes to the same. */
export interface KnownStart {
  readonly entry: ServerEntry;
  readonly configured: Configured;
  readonly files: ReadonlyMap<string, string>;
}

/**
 * Null where more decides than these files: the PATH of `env`, or what `covers` names. `again` looks once more: a file that was replaced
 * after its bytes were hashed and before its key was taken is not remembered.
 */
export function knownStart(
  entry: ServerEntry,
  configured: Configured,
  { root, again }: { readonly root: string; readonly again: () => Configured },
  now_ms: number = Date.now(),
): KnownStart | null {
  const { start, files } = configured;
  if ('url' in entry || start.kind === 'url') return { entry, configured, files: new Map() };
  const { executables, covers } = start;
  if (covers !== null || executables.some(({ path }) => basename(path) === 'env')) return null;
  const { sandbox, cwd, args, executable } = entry;
  const folders = sandbox === 'none' ? [] : [...sandbox.read, ...sandbox.write];
  const paths = [
    ...executables.flatMap(({ called, path }) => [called, path]),
    ...files.map(({ path }) => path),
    ...scriptPaths(resolve(root, executable), args, resolve(root, cwd)),
    ...['.', cwd, ...folders].map((path) => resolve(root, path)),
  ];
  const keys = new Map(paths.map((path) => [path, keyAt(path, now_ms)]));
  if ([...keys.values()].includes(UNSETTLED)) return null;
  return canonicalText(again()) === canonicalText(configured) ? { entry, configured, files: keys } : null;
}

/** The same entry, and at every path is the file that was there. */
export function isStillStart(known: KnownStart, entry: ServerEntry, now_ms: number = Date.now()): boolean {
  return known.entry === entry && [...known.files].every(([path, key]) => keyAt(path, now_ms) === key);
}

/** Of a file that changed a moment ago: the next change might not show. */
const UNSETTLED = 'unsettled';

/** Which file is there, whatever links lead to it. Of a folder it matters who may use it, and not what is in it. */
function keyAt(path: string, now_ms: number): string {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined) return 'none';
  const { dev, ino, mode, uid, gid } = stats;
  if (!stats.isFile()) return [dev, ino, mode, uid, gid].join(':');
  return hasSettled(stats, now_ms) ? fileKey(stats) : UNSETTLED;
}
