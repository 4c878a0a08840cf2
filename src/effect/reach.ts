import { spawnSync } from 'node:child_process';
import { accessSync, constants, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { refuse } from '../refusal.ts';
import type { RunUser } from './user.ts';

/** What a user must be able to do with a path: some of r, w and x. */
export interface AccessNeed {
  readonly path: string;
  readonly rights: string;
}

/**
 * Refuses what this user cannot reach, by name: bubblewrap resolves the names of what it binds, as this user. What does
 * not exist is left to those who open it.
 *
 * For another user the modes are read, and only where they say no is the kernel asked, by a child that has become that
 * user: an access control list may allow what the mode does not. One that denies what the mode allows is not seen here;
 * then the tool does not start, or is denied.
 */
export function requireReach(user: RunUser, needs: readonly AccessNeed[]): void {
  const known = new Map<string, Stats | undefined>();
  const stats = (path: string) => {
    if (!known.has(path)) known.set(path, statSync(path, { throwIfNoEntry: false }));
    return known.get(path);
  };
  for (const need of needs) {
    const able = user.switched ? modesAllow(user, need, stats) || isAble(user, need) : mayAccess(need);
    if (!able) cannotReach(user, need, stats);
  }
}

type Look = (path: string) => Stats | undefined;

function cannotReach(user: RunUser, { path, rights }: AccessNeed, stats: Look): never {
  const { name } = user;
  const closed = user.switched
    ? foldersAbove(path).find((at) => !modeAllows(user, stats(at)!, 'x'))
    : undefined;
  const blocked =
    closed === undefined
      ? `${verbsOf(rights, stats(path))} ${path}`
      : `enter ${closed}, which is above ${path}`;
  return refuse('RUN_AS_CANNOT_REACH', `The tool runs as ${name}, and ${name} cannot ${blocked}.`, {
    path: closed ?? path,
    run_as: name,
  });
}

function verbsOf(rights: string, stats: Stats | undefined): string {
  const verbs: Readonly<Record<string, string>> = {
    r: 'read',
    w: 'write',
    x: stats?.isDirectory() ? 'enter' : 'execute',
  };
  return [...rights].map((right) => verbs[right]).join(' and ');
}

function mayAccess({ path, rights }: AccessNeed): boolean {
  const mode = [...rights].reduce((sum, right) => sum | BITS[right]!, 0);
  try {
    accessSync(path, mode);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

/** Of one class of users. */
const BITS: Readonly<Record<string, number>> = { r: constants.R_OK, w: constants.W_OK, x: constants.X_OK };

function modesAllow(user: RunUser, { path, rights }: AccessNeed, stats: Look): boolean {
  const found = stats(path);
  if (!found) return true;
  return (
    foldersAbove(path).every((at) => modeAllows(user, stats(at)!, 'x')) && modeAllows(user, found, rights)
  );
}

/** The outermost first. */
function foldersAbove(path: string): string[] {
  const above = dirname(path);
  return above === path ? [] : [...foldersAbove(above), above];
}

/** The first class that the user belongs to decides, also when a later one would allow more. */
function modeAllows({ uid, gid }: RunUser, { mode, uid: owner, gid: group }: Stats, rights: string): boolean {
  const bits = owner === uid ? mode >> 6 : group === gid ? mode >> 3 : mode;
  return [...rights].every((right) => (bits & BITS[right]!) !== 0);
}

/** Asks the kernel as that user. */
function isAble({ uid, gid }: RunUser, { path, rights }: AccessNeed): boolean {
  const words = [...rights].flatMap((right, i) => [...(i === 0 ? [] : ['-a']), `-${right}`, path]);
  const { status } = spawnSync('/usr/bin/test', words, { env: {}, cwd: '/', stdio: 'ignore', uid, gid });
  return status === 0;
}
