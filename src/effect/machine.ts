import { accessSync, constants, existsSync, lstatSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileKey } from './file-key.ts';
import { type FindHidden, hiddenFinder } from './hidden.ts';
import { callFilter } from './seccomp/filter.ts';
import { sandboxFault } from './trial.ts';

/** What this machine offers for confining a child. */
export interface Machine {
  readonly bwrap: string | null;
  readonly prlimit: string | null;
  readonly flock: string | null;
  readonly mkfifo: string | null;
  readonly setpriv?: string | null;
  readonly setsid?: string | null;
  /** Whether open files can be named through /proc/self/fd. Missing means no. */
  readonly proc?: boolean;
  /** What `sandboxFault` says, remembered. Missing means that it must be asked. */
  readonly sandboxFault?: typeof sandboxFault;
  /** The filter of system calls, made once. Missing means that it must be made. */
  readonly callFilter?: () => Uint8Array;
  /** Looks for other projects, and remembers. */
  readonly findHidden?: FindHidden;
  /** The system folders and files that every sandbox shows, read-only. */
  readonly system: readonly SystemPath[];
  /** What a sandbox with network shows besides. */
  readonly network: readonly SystemPath[];
  /** Where this kernel lists the keys of users. */
  readonly key_lists: readonly string[];
}

/** `link` is the target where the path is a symbolic link, as /bin is where /usr was merged. */
export interface SystemPath {
  readonly path: string;
  readonly link?: string;
}

/** Never the caller's PATH: a caller could choose the sandbox with it. */
const TRUSTED_FOLDERS: readonly string[] = ['/usr/bin', '/bin', '/usr/local/bin'];

const SYSTEM = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/etc/alternatives',
  '/etc/group',
  '/etc/ld.so.cache',
  '/etc/localtime',
  '/etc/passwd',
];

const NETWORK = [
  '/etc/ca-certificates',
  '/etc/host.conf',
  '/etc/hosts',
  '/etc/nsswitch.conf',
  '/etc/pki',
  '/etc/protocols',
  '/etc/resolv.conf',
  '/etc/services',
  '/etc/ssl',
];

/** A kernel without keyrings has none. */
const KEY_LISTS = ['/proc/keys', '/proc/key-users'];

/** Everything is looked at when it is first asked for: without a sandbox, or without network, most of it is not. */
export function inspectMachine(folders: readonly string[] = TRUSTED_FOLDERS): Machine {
  const found = new Map<string, string | null>();
  const program = (name: string) => {
    const known = found.get(name);
    if (known !== undefined) return known;
    const path = findProgram(name, folders);
    found.set(name, path);
    return path;
  };
  return {
    get bwrap() {
      return program('bwrap');
    },
    get prlimit() {
      return program('prlimit');
    },
    get flock() {
      return program('flock');
    },
    get mkfifo() {
      return program('mkfifo');
    },
    get setpriv() {
      return program('setpriv');
    },
    get setsid() {
      return program('setsid');
    },
    get proc() {
      return hasProc();
    },
    get system() {
      return SYSTEM.flatMap(describeFolder);
    },
    get network() {
      return NETWORK.flatMap(describeFile);
    },
    get key_lists() {
      return KEY_LISTS.filter((path) => existsSync(path));
    },
  };
}

/**
 * Looks at the machine each time, and tries a sandbox only when bubblewrap's file or the user is another one: that takes
 * longer than everything else that is looked at before a run.
 */
export function machineInspector(): () => Machine {
  const able = new Set<string>();
  const known: typeof sandboxFault = (programs, user) => {
    const stats = statSync(programs.bwrap!, { bigint: true, throwIfNoEntry: false });
    const key = stats && [user.uid, user.gid, programs.bwrap, fileKey(stats)].join(':');
    if (key && able.has(key)) return null;
    const fault = sandboxFault(programs, user);
    // Only a yes is remembered: a no may have been a moment of weakness.
    if (fault === null && key) able.add(key);
    return fault;
  };
  const findHidden = hiddenFinder();
  let filter: Uint8Array | null = null;
  const ofArch = () => {
    filter ??= callFilter(process.arch);
    return filter;
  };
  return () => Object.assign(inspectMachine(), { sandboxFault: known, findHidden, callFilter: ofArch });
}

/** Not only that it is there: in a container /proc may be that of other processes, and then knows nothing of our files. */
function hasProc(): boolean {
  try {
    return process.platform === 'linux' && readlinkSync('/proc/self') === String(process.pid);
  } catch {
    return false;
  }
}

/** The first folder that holds this program, or null. */
export function findProgram(name: string, folders: readonly string[]): string | null {
  for (const folder of folders) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      if (statSync(path).isFile()) return path;
    } catch {
      // Not here.
    }
  }
  return null;
}

function describeFolder(path: string): SystemPath[] {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return [];
  // A link such as /bin -> usr/bin stays a link; one out of /etc is bound as the file it leads to.
  const link = stats.isSymbolicLink() && !path.startsWith('/etc/') ? readlinkSync(path) : undefined;
  return [link === undefined ? { path } : { path, link }];
}

function describeFile(path: string): SystemPath[] {
  return lstatSync(path, { throwIfNoEntry: false }) ? [{ path }] : [];
}
