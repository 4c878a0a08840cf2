import { lstatSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

type Kind = 'tool' | 'pipeline' | 'sql' | 'verifier';

/** What one kind of effect is given. */
export interface Case {
  readonly kind: Kind;
  readonly run_as?: string;
  readonly network?: boolean;
  /** Every file of the system is tried, and not only some of each folder. */
  readonly whole?: boolean;
}

/** Whom the confined program runs as. It has no capability, so that root too has only what modes give. */
export interface Who {
  readonly uid: number;
  readonly groups: readonly number[];
}

/** What follows from the profile and from the modes of the files, and from nothing that was seen inside. */
export interface Rule {
  /** Folders in which everything can be made. */
  readonly writable: readonly string[];
  /** Folders and files of the outside that are shown. */
  readonly shown: readonly string[];
  readonly mayWrite: (path: string) => boolean;
  readonly mayRead: (path: string) => boolean;
  readonly mayMake: (path: string) => boolean;
  readonly mayList: (path: string) => boolean;
  readonly mayConnect: (path: string) => boolean;
}

/** What every sandbox shows of the system, as SECURITY.md has it. Written out: a list that grows must be seen here. */
const SYSTEM = [
  ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64'],
  ...['alternatives', 'group', 'ld.so.cache', 'localtime', 'passwd'].map((name) => `/etc/${name}`),
];

/** What it shows besides where it has the network: names, and whom to trust. */
const NETWORK = [
  ...['ca-certificates', 'host.conf', 'hosts', 'nsswitch.conf', 'pki', 'protocols', 'resolv.conf'],
  ...['services', 'ssl'],
].map((name) => `/etc/${name}`);

/** A device has no contents of ours. `ptmx` makes terminals of the sandbox's own. */
const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty', 'ptmx', 'pts/ptmx', 'console'].map(
  (name) => `/dev/${name}`,
);

/** Memory of the kernel, its log, the keys of users outside, and a switch of the machine: not even where a mode allows it. */
const NEVER = ['kcore', 'kmsg', 'keys', 'key-users', 'sysrq-trigger'].map((name) => `/proc/${name}`);

export function ruleOf({ kind, network }: Case, folder: string, who: Who): Rule {
  const verifier = kind === 'verifier';
  const own = verifier ? ['/dev/shm'] : ['/tmp', '/dev/shm'];
  const bound = verifier ? [] : [join(folder, 'read'), join(folder, 'write')];
  const program = realpathSync(process.execPath);
  const shown = verifier ? ['/'] : [...SYSTEM, ...(network ? NETWORK : []), ...bound, program];
  // Keys of other projects, in the folder of a project and in a copy under another name.
  const hidden = verifier ? [] : HIDDEN.map((name) => join(folder, name));
  const entered = new Map<string, boolean>();
  const enter: Enter = (at) => {
    if (!entered.has(at)) {
      const stats = statSync(at, { throwIfNoEntry: false });
      entered.set(at, !stats || modeAllows(who, stats, 1));
    }
    return entered.get(at)!;
  };
  const isShown = (path: string) => beneath(shown, path) && !beneath(hidden, path);
  const mayRead = (path: string) => {
    if (beneath(['/proc'], path)) return mayReadProc(path, who, enter);
    if (beneath(['/dev'], path)) return DEVICES.includes(path);
    return isShown(path) && modesAllow(who, shown, path, 4, enter);
  };
  // One of another process that is gone by now cannot be judged.
  const isFifo = (path: string) =>
    isShown(path) &&
    (lstatSync(path, { throwIfNoEntry: false })?.isFIFO() ?? true) &&
    modesAllow(who, shown, path, 2, enter);
  const writable = verifier ? own : [...own, join(folder, 'write')];
  // The folders of the test lie in /tmp, and a mount in a mount counts.
  const mayMake = (path: string) => beneath(writable, path) && !beneath([join(folder, 'read')], path);
  return {
    writable,
    shown,
    mayRead,
    mayWrite: (path) =>
      mayMake(path) ||
      DEVICES.includes(path) ||
      // A pipe is not the folder that it lies in.
      (!beneath(['/proc', '/dev'], path) && isFifo(path)),
    mayMake,
    // Folders above a mount are the sandbox's own, and empty but for it. So is what covers a hidden folder.
    mayList: (path) =>
      beneath(['/proc', '/dev'], path) ||
      [...shown, ...own].some((mount) => beneath([path], mount)) ||
      hidden.includes(path) ||
      mayRead(path),
    // A program outside answers there, so that a folder to read does not give it.
    mayConnect: (path) => verifier || beneath([join(folder, 'write')], path),
  };
}

/** Folders that hold keys of a project, beneath what the profile binds for reading. */
export const HIDDEN: readonly string[] = ['read/inner/.keyturn', 'read/backup'];

/** Whether the user may go through a folder. A hundred thousand files lie in few of them. */
type Enter = (folder: string) => boolean;

const beneath = (roots: readonly string[], path: string) =>
  roots.some((root) => path === root || root === '/' || path.startsWith(`${root}/`));

/**
 * A /proc of its own: its folders of processes are those of the sandbox, and what may not be in them is searched for. All else
 * is what the kernel tells every user, by the modes that it has outside too.
 */
function mayReadProc(path: string, who: Who, enter: Enter): boolean {
  if (/^\/proc\/\d+(\/|$)/.test(path)) return true;
  return !NEVER.includes(path) && modesAllow(who, ['/proc'], path, 4, enter);
}

/** Asks the modes outside, from where it is bound on down: the folders above are not those of the outside. */
function modesAllow(who: Who, roots: readonly string[], path: string, right: number, enter: Enter): boolean {
  const root = roots.find((at) => beneath([at], path))!;
  const stats = statSync(path, { throwIfNoEntry: false });
  // Other programs work here too. What was removed meanwhile cannot be judged; where it was, was shown.
  if (!stats) return true;
  for (let at = path; at !== root && at !== '/'; ) {
    at = dirname(at);
    if (!enter(at)) return false;
  }
  return modeAllows(who, stats, right);
}

/** The first class that the user belongs to decides. */
function modeAllows({ uid, groups }: Who, stats: Stats, right: number): boolean {
  const bits =
    stats.uid === uid ? stats.mode >> 6 : groups.includes(stats.gid) ? stats.mode >> 3 : stats.mode;
  return (bits & right) === right;
}
