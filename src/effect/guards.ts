import { lstatSync, readlinkSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { refuse } from '../refusal.ts';
import { contains, type Guard } from './mounts.ts';
import { type FindProjects, projectFinder } from './projects.ts';

/** The files of Keyturn's own that a sandbox keeps from a tool, as they are on the disk now. */
export interface Guards {
  readonly hidden: readonly Guard[];
  readonly protected: readonly Guard[];
}

interface GuardRequest {
  readonly hidden: readonly string[];
  readonly protected: readonly string[];
  readonly read: readonly string[];
  readonly write: readonly string[];
}

/**
 * Each path is guarded where it really is, because mounts are real. What is hidden must exist: were its folder moved to
 * another name, nobody could tell where it is now. A protected path that does not exist yet is guarded as a place.
 */
export function guardsOf(request: GuardRequest, find: FindProjects = projectFinder()): Guards {
  const { read, write } = request;
  const hidden = request.hidden.map((path) => {
    const guard = guardOf(path, write);
    return guard.absent ? refuse('FILE_NOT_FOUND', `${path} must be hidden and does not exist.`) : guard;
  });
  return {
    hidden: [...hidden, ...find([...read, ...write])],
    protected: request.protected.map((path) => guardOf(path, write)),
  };
}

/** A link on the way cannot be mounted over, so a tool that may write beside it could turn it. */
function guardOf(path: string, write: readonly string[]): Guard {
  const { real, links, absent, folder } = follow(path);
  const turned = links.find((link) => write.some((bind) => contains(bind, link)));
  if (turned) refuse('FILE_IS_SYMLINK', `${turned} is a link that the tool could turn.`, { path });
  return absent ? { path: real, folder: true, absent } : { path: real, folder };
}

interface Followed {
  /** Where the path leads; the first part of it that does not exist, if it leads nowhere. */
  readonly real: string;
  readonly links: readonly string[];
  readonly absent: boolean;
  readonly folder: boolean;
}

/** As many as the kernel follows. */
const LINKS = 40;

function follow(path: string): Followed {
  const links: string[] = [];
  const ahead = namesIn(resolve(path));
  let real = '/';
  for (let name = ahead.shift(); name !== undefined; name = ahead.shift()) {
    if (name === '..') {
      real = dirname(real);
      continue;
    }
    const next = join(real, name);
    const stats = statsOf(next);
    if (!stats) return { real: next, links, absent: true, folder: true };
    if (stats.isSymbolicLink()) {
      if (links.push(next) > LINKS) refuse('FILE_IS_SYMLINK', `${path} goes in circles.`, { path });
      const target = readlinkSync(next);
      ahead.unshift(...namesIn(target));
      if (isAbsolute(target)) real = '/';
    } else real = next;
  }
  return { real, links, absent: false, folder: statsOf(real)?.isDirectory() ?? false };
}

function namesIn(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}

function statsOf(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOTDIR') return undefined; // a bind of one file has nothing beneath it
    return refuse('FILE_UNREADABLE', `${path}: ${code}`, { path });
  }
}
