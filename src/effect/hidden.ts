import { type BigIntStats, type Dirent, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { limits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import type { Guard } from './mounts.ts';

const OWN = '.keyturn';

/** The own folder of every project, and every socket, that these binds would show, also deep beneath them. */
export type FindHidden = (binds: readonly string[]) => Guard[];

interface Listing {
  /** Holds keys, beside a store or by themselves: Keyturn's own, whatever its name, as a backup is. */
  readonly own: boolean;
  readonly folders: readonly string[];
  readonly sockets: readonly string[];
}

/**
 * Looks for projects: the keys of another one are no business of a tool. And for sockets: a program outside answers there.
 * Remembers within one process what a folder holds while its change time stays the same.
 *
 * Links are not followed: inside the sandbox they lead only where another bind leads. A folder that can be neither listed
 * nor entered is closed to the tool as well, which has at most the rights of Keyturn. One that can only be entered is refused:
 * a tool that knows or guesses a name in it gets there.
 */
export function hiddenFinder(most: number = limits.sandbox_folders): FindHidden {
  const remembered = new Map<string, { readonly key: string; readonly listing: Listing }>();
  const listed = (folder: string): Listing => {
    const key = keyOf(folder);
    const known = remembered.get(folder);
    if (key !== null && known?.key === key) return known.listing;
    const listing = listingOf(folder);
    if (remembered.size >= most) remembered.clear();
    if (key !== null) remembered.set(folder, { key, listing });
    return listing;
  };
  return (binds) => {
    const found: Guard[] = [];
    const seen = new Set<string>();
    const left = binds.map((bind) => projectAround(bind) ?? bind);
    for (let folder = left.pop(); folder !== undefined; folder = left.pop()) {
      if (seen.has(folder)) continue;
      if (seen.add(folder).size > most) tooWide(most);
      const { own, folders, sockets } = folder.endsWith(`/${OWN}`) ? KEYS : listed(folder);
      if (own) found.push({ path: folder, folder: true });
      if (own) continue;
      for (const name of folders) left.push(join(folder, name));
      for (const name of sockets) found.push({ path: join(folder, name), folder: false });
    }
    return found.sort((a, b) => (a.path < b.path ? -1 : 1));
  };
}

const KEYS: Listing = { own: true, folders: [], sockets: [] };

function projectAround(bind: string): string | null {
  const names = bind.split('/');
  const at = names.indexOf(OWN);
  return at < 0 ? null : names.slice(0, at + 1).join('/');
}

function keyOf(folder: string): string | null {
  const stats = statsOf(folder);
  if (!stats || Date.now() - Number(stats.ctimeMs) < limits.settled_ms) return null;
  return [stats.dev, stats.ino, stats.mtimeNs, stats.ctimeNs].join(':');
}

/** Null also beneath a folder that can be listed and not entered. */
function statsOf(folder: string): BigIntStats | null {
  try {
    return statSync(folder, { bigint: true });
  } catch {
    return null;
  }
}

function listingOf(folder: string): Listing {
  try {
    const entries = readdirSync(folder, { withFileTypes: true, encoding: 'buffer' }).map(namedIn(folder));
    const names = new Set(entries.map(({ name }) => name));
    const beside = names.has('store.db') || names.has('ledger.json');
    return {
      own: names.has('ledger.seed') || (names.has('keys') && beside),
      folders: entries.filter(({ entry }) => entry.isDirectory()).map(({ name }) => name),
      sockets: entries.filter(({ entry }) => entry.isSocket()).map(({ name }) => name),
    };
  } catch (error) {
    if (error instanceof Refusal) throw error;
    if ((error as NodeJS.ErrnoException).code === 'EACCES' && statsOf(`${folder}/.`))
      refuse('FILE_UNREADABLE', `${folder} can be entered and not searched for the keys of other projects.`, {
        path: folder,
      });
    return { own: false, folders: [], sockets: [] }; // a file, or gone, or closed
  }
}

/** A folder or socket whose name is not UTF-8 cannot be named to the sandbox, so it could be neither searched nor hidden. */
function namedIn(folder: string) {
  return (entry: Dirent<Buffer>) => {
    const name = entry.name.toString('utf8');
    if ((entry.isDirectory() || entry.isSocket()) && !entry.name.equals(Buffer.from(name)))
      refuse('FILE_UNREADABLE', `${folder} holds a name that is not UTF-8.`, { path: folder });
    return { entry, name };
  };
}

function tooWide(most: number): never {
  return refuse(
    'SANDBOX_TOO_WIDE',
    `The sandbox binds more than ${most} folders, too many to search for the keys of other projects.`,
  );
}
