import { lstatSync, readlinkSync, type Stats } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { type FindHidden, hiddenFinder } from './hidden.ts';
import { contains, type Guard } from './mounts.ts';

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
 * another name, it would be unknown where it is now. A protected path that does not exist yet is guarded as a place.
 */
export function guardsOf(request: GuardRequest, find: FindHidden = hiddenFinder()): Guards {
  const { read, write } = request;
  // They share most of the folders on their way.
  const look = statsOnce();
  const hidden = request.hidden.map((path) => {
    const guard = guardOf(path, write, look);
    return guard.absent ? refuse('FILE_NOT_FOUND', `${path} must be hidden and does not exist.`) : guard;
  });
  const found = find([...read, ...write]).filter(({ path, folder }) => folder || !isGiven(path, request));
  const sockets = found.filter(({ folder }) => !folder);
  if (sockets.length > limits.sandbox_sockets) {
    refuse(
      'SANDBOX_TOO_WIDE',
      `The sandbox would show ${sockets.length} sockets; at most ${limits.sandbox_sockets} can be covered.`,
    );
  }
  return {
    hidden: [...hidden, ...found],
    protected: request.protected.map((path) => guardOf(path, write, look)),
  };
}

/**
 * Whether the profile gives a tool this socket. A folder to read does not: to connect asks for no right to write the folder, and
 * the program that answers may do anything. A folder to write does, and so does its own name. The deepest bind decides.
 */
function isGiven(path: string, { read, write }: GuardRequest): boolean {
  if (read.includes(path)) return true;
  const deepest = (binds: readonly string[]) =>
    Math.max(0, ...binds.filter((bind) => contains(bind, path)).map((bind) => bind.length));
  return deepest(write) >= deepest(read);
}

/** A link on the way cannot be mounted over, so a tool that may write beside it could turn it. */
function guardOf(path: string, write: readonly string[], look: Look): Guard {
  const { real, links, absent, folder } = follow(path, look);
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

function follow(path: string, look: Look): Followed {
  const links: string[] = [];
  const left = namesIn(resolve(path));
  let real = '/';
  for (let name = left.shift(); name !== undefined; name = left.shift()) {
    if (name === '..') {
      real = dirname(real);
      continue;
    }
    const next = join(real, name);
    const stats = look(next);
    if (!stats) return { real: next, links, absent: true, folder: true };
    if (stats.isSymbolicLink()) {
      if (links.push(next) > limits.path_links)
        refuse('FILE_IS_SYMLINK', `${path} goes in circles.`, { path });
      const target = readlinkSync(next);
      left.unshift(...namesIn(target));
      if (isAbsolute(target)) real = '/';
    } else real = next;
  }
  return { real, links, absent: false, folder: look(real)?.isDirectory() ?? false };
}

function namesIn(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}

type Look = (path: string) => Stats | undefined;

/** Each path is looked at once. */
function statsOnce(): Look {
  const known = new Map<string, Stats | undefined>();
  return (path) => {
    if (!known.has(path)) known.set(path, statsOf(path));
    return known.get(path);
  };
}

function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOTDIR') return undefined; // a bind of one file has nothing beneath it
    return refuse('FILE_UNREADABLE', `${path}: ${code}`, { path });
  }
}
