import { refuse } from '../refusal.ts';

/** A file or folder of Keyturn's own. Its path is real. */
export interface Guard {
  readonly path: string;
  readonly folder: boolean;
  /** It does not exist yet: the place is kept free. */
  readonly absent?: boolean;
}

export interface MountRequest {
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly hidden: readonly Guard[];
  readonly protected: readonly Guard[];
  /** Paths that get a mount of their own later, and must not be moved away under it. */
  readonly pinned: readonly string[];
  /** Folders of the system that every tool sees anyway. */
  readonly system: readonly string[];
}

export interface Mounts {
  /** In the order in which bubblewrap must make them: a folder before what is in it. */
  readonly binds: readonly Bind[];
  /** To be added when nothing more is mounted below: they make the masks read-only. */
  readonly seals: readonly string[];
}

export interface Bind {
  readonly path: string;
  readonly kind: Kind;
}

type Kind = 'read' | 'write' | 'hidden-folder' | 'hidden-file';

/**
 * Which mounts give a tool what its profile says and nothing of Keyturn's. Pure.
 *
 * A hidden path inside a bind is masked; a protected path inside a writable bind is bound again, read-only, or masked
 * where there is nothing yet, which leaves an empty folder there: a tool must not be the one who makes it. The kernel
 * refuses to remove or rename a mount point, but not the folders above it: a tool could move `conf/` away and write a
 * new `conf/tools.yaml`. So each folder between a writable bind and a mount inside it becomes a mount point too.
 */
export function mountsFor(request: MountRequest): Mounts {
  const kinds = new Map<string, Kind>();
  for (const path of request.read) kinds.set(path, 'read');
  for (const path of request.write) {
    if (isWithinAny(request.protected, path))
      refuse('SANDBOX_PATH_PROTECTED', `No tool may write ${path}.`, { path });
    kinds.set(path, 'write');
  }
  const inWritable = (path: string) => kindAbove(kinds, path) === 'write';
  for (const { path, absent } of request.protected) {
    if (inWritable(path)) kinds.set(path, absent ? 'hidden-folder' : 'read');
  }
  for (const guard of request.hidden) hide(kinds, guard, request.system);
  for (const path of pins([...kinds.keys(), ...request.pinned], kinds)) kinds.set(path, 'write');

  const binds = [...kinds].map(([path, kind]) => ({ path, kind })).sort(byPath);
  return {
    binds,
    seals: binds.flatMap(({ path, kind }) => (kind === 'hidden-folder' ? ['--remount-ro', path] : [])),
  };
}

/** The options of one mount. `descriptor` gives the number under which the child has the path open. */
export function mountOptions({ path, kind }: Bind, descriptor: (path: string) => string): string[] {
  switch (kind) {
    case 'read':
      return ['--ro-bind-fd', descriptor(path), path];
    case 'write':
      return ['--bind-fd', descriptor(path), path];
    case 'hidden-folder':
      return ['--tmpfs', path];
    case 'hidden-file':
      return ['--ro-bind', '/dev/null', path];
  }
}

/**
 * The sandbox's own folders. /proc is read-only as a whole: where Keyturn is root, uid 0 inside is uid 0 outside, and the
 * kernel asks for no more than that before it lets /proc/sys and its like be written. Keyrings have no namespace: a list of
 * keys in it names those of the user outside, so it is covered.
 */
export function ownMounts(tmp_mb: number, key_lists: readonly string[]): string[] {
  const memory = (path: string) => ['--size', String(tmp_mb * MiB), '--tmpfs', path];
  return [
    ...['--proc', '/proc'],
    ...key_lists.flatMap((path) => ['--ro-bind', '/dev/null', path]),
    ...['--remount-ro', '/proc'],
    ...['--dev', '/dev', ...memory('/dev/shm'), '--remount-ro', '/dev'],
    ...memory('/tmp'),
  ];
}

const MiB = 1024 * 1024;

/** Whether `path` is this folder or lies in it. Both are absolute and without "." and "..". */
export function contains(folder: string, path: string): boolean {
  return path === folder || folder === '/' || path.startsWith(`${folder}/`);
}

function isWithinAny(guards: readonly Guard[], path: string): boolean {
  return guards.some((guard) => contains(guard.path, path));
}

function hide(kinds: Map<string, Kind>, guard: Guard, system: readonly string[]): void {
  const visible = kindAbove(kinds, guard.path) !== null || system.some((path) => contains(path, guard.path));
  // A bind of something hidden goes, however the profile names it.
  for (const path of [...kinds.keys()]) if (contains(guard.path, path)) kinds.delete(path);
  if (visible) kinds.set(guard.path, guard.folder ? 'hidden-folder' : 'hidden-file');
}

/** The kind of the deepest mount that holds this path. */
function kindAbove(kinds: ReadonlyMap<string, Kind>, path: string): Kind | null {
  for (let at = path; ; at = parentOf(at)) {
    const kind = kinds.get(at);
    if (kind) return kind;
    if (at === '/') return null;
  }
}

function pins(targets: readonly string[], kinds: ReadonlyMap<string, Kind>): string[] {
  const found = new Set<string>();
  for (const target of targets) {
    for (let at = parentOf(target); at !== '/'; at = parentOf(at)) {
      if (!kinds.has(at) && kindAbove(kinds, at) === 'write') found.add(at);
    }
  }
  return [...found];
}

function parentOf(path: string): string {
  const end = path.lastIndexOf('/');
  return end <= 0 ? '/' : path.slice(0, end);
}

function byPath(a: Bind, b: Bind): number {
  return a.path < b.path ? -1 : a.path > b.path ? 1 : 0;
}
