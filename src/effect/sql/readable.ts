import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { closePlace, openPlace, pathThrough } from '../../durable/beneath-write.ts';
import { sqlLimits } from '../../limits.ts';
import { type ReasonCode, refuse } from '../../refusal.ts';

/**
 * The files in a folder beneath the root whose files SQL may scan, relative to the root. No link leads to it and none is in it: DuckDB
 * would refuse one that leads out, but in the sandbox such a link leads nowhere, and a scan would silently find nothing.
 */
export function readableFiles(root: string, folder: string): string[] {
  const place = openPlace(root, `${folder}/any`);
  try {
    return filesIn(pathThrough(place, '.'), folder);
  } finally {
    closePlace(place);
  }
}

/** Goes down by hand: node's own recursive listing follows links. */
function filesIn(top: string, shown: string): string[] {
  const files: string[] = [];
  const folders = [''];
  for (let seen = 0; folders.length > 0; ) {
    const folder = folders.pop()!;
    for (const name of readdirSync(join(top, folder), { encoding: 'buffer' })) {
      const entry = join(folder, nameOf(name, join(shown, folder)));
      if (++seen > sqlLimits.readable_entries)
        refuse(
          'INPUT_TOO_LARGE',
          `${shown} holds more than ${sqlLimits.readable_entries} files and folders.`,
        );
      if (isPlainFolder(join(top, entry), join(shown, entry))) folders.push(entry);
      else files.push(join(shown, entry));
    }
  }
  return files.sort();
}

/** A name that is not UTF-8 is another one once it is text: what is behind it would not be looked at, and DuckDB would read it. */
function nameOf(bytes: Buffer, shown: string): string {
  const name = bytes.toString('utf8');
  if (bytes.equals(Buffer.from(name))) return name;
  return refuse('FILE_NOT_REGULAR', `${shown} holds a name that is not UTF-8.`, { path: shown });
}

/** True for a folder, false for a regular file with one name. Anything else is refused. */
function isPlainFolder(path: string, shown: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats || stats.isDirectory()) return stats !== undefined;
  let why: ReasonCode | null = null;
  if (stats.isSymbolicLink()) why = 'FILE_IS_SYMLINK';
  else if (!stats.isFile()) why = 'FILE_NOT_REGULAR';
  else if (stats.nlink > 1) why = 'FILE_HARD_LINKED';
  return why !== null && refuse(why, `${shown} is not a regular file with one name.`, { path: shown });
}
