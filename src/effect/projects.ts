import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import type { Guard } from './mounts.ts';

const OWN = '.keyturn';

/** The own folder of every project that these binds would show, also deep beneath them. */
export type FindProjects = (binds: readonly string[]) => Guard[];

interface Listing {
  /** Holds a store and keys: Keyturn's own, whatever its name, as a backup is. */
  readonly store: boolean;
  readonly folders: readonly string[];
}

/**
 * Looks for projects: the keys of another one are no business of a tool. Remembers within one process what a folder
 * holds while its change time stays the same.
 *
 * Links are not followed: inside the sandbox they lead only where another bind leads. A folder that cannot be listed is
 * closed to the tool as well, which has at most the rights of Keyturn.
 */
export function projectFinder(most: number = limits.sandbox_folders): FindProjects {
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
    const found = new Set<string>();
    const seen = new Set<string>();
    const ahead = binds.map((bind) => projectAround(bind) ?? bind);
    for (let folder = ahead.pop(); folder !== undefined; folder = ahead.pop()) {
      if (seen.has(folder)) continue;
      if (seen.add(folder).size > most) tooWide(most);
      const own = folder.endsWith(`/${OWN}`);
      const { store, folders } = own ? { store: true, folders: [] } : listed(folder);
      if (store) found.add(folder);
      else for (const name of folders) ahead.push(join(folder, name));
    }
    return [...found].sort().map((path) => ({ path, folder: true }));
  };
}

function projectAround(bind: string): string | null {
  const names = bind.split('/');
  const at = names.indexOf(OWN);
  return at < 0 ? null : names.slice(0, at + 1).join('/');
}

/** A folder that changed this recently may change again without its times showing it. */
const SETTLED_MS = 2_000;

function keyOf(folder: string): string | null {
  const stats = statSync(folder, { bigint: true, throwIfNoEntry: false });
  if (!stats || Date.now() - Number(stats.ctimeMs) < SETTLED_MS) return null;
  return [stats.dev, stats.ino, stats.mtimeNs, stats.ctimeNs].join(':');
}

function listingOf(folder: string): Listing {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    const names = new Set(entries.map(({ name }) => name));
    return {
      store: names.has('store.db') && names.has('keys'),
      folders: entries.filter((entry) => entry.isDirectory()).map(({ name }) => name),
    };
  } catch {
    return { store: false, folders: [] }; // a file, or gone, or closed
  }
}

function tooWide(most: number): never {
  return refuse(
    'SANDBOX_TOO_WIDE',
    `The sandbox binds more than ${most} folders, too many to search for the keys of other projects.`,
  );
}
