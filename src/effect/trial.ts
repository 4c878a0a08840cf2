import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { limits } from '../limits.ts';
import { ownMounts } from './mounts.ts';
import { callFilter } from './seccomp/filter.ts';
import type { RunUser } from './user.ts';

interface Programs {
  readonly bwrap: string | null;
  readonly prlimit: string | null;
  readonly key_lists: readonly string[];
}

/**
 * Why this user gets no sandbox on this machine, with the setting to change, or null. It makes one that does nothing:
 * whether the kernel allows user namespaces, mounts and a filter depends on more than can be read anywhere.
 */
export function sandboxFault(
  { bwrap, prlimit, key_lists }: Programs,
  { uid, gid, switched }: RunUser,
): string | null {
  const filter = callFilter(process.arch);
  const root = openSync('/', 'r');
  try {
    const { status, stderr, error } = spawnSync(
      bwrap!,
      [
        ...['--unshare-all', '--die-with-parent', '--cap-drop', 'ALL'],
        // One that binds only names could be made to bind something else.
        ...['--ro-bind-fd', '3', '/', ...ownMounts(1, key_lists)],
        ...['--seccomp', '0', '--', prlimit!, '--version'],
      ],
      {
        env: {},
        cwd: '/',
        encoding: 'utf8',
        timeout: limits.sandbox_trial_ms,
        input: filter,
        stdio: ['pipe', 'ignore', 'pipe', root],
        ...(switched && { uid, gid }),
      },
    );
    return status === 0 ? null : whyNot(stderr || (error?.message ?? ''), readSettings());
  } finally {
    closeSync(root);
  }
}

/** What the kernel says of itself. Null where it has no such setting. */
export interface Settings {
  readonly max_user_namespaces: string | null;
  readonly unprivileged_userns_clone: string | null;
  readonly apparmor_restrict_unprivileged_userns: string | null;
  /** Whether this process is itself under a filter, as in a container. */
  readonly filtered: boolean;
}

function readSettings(): Settings {
  return {
    max_user_namespaces: textOf('/proc/sys/user/max_user_namespaces'),
    unprivileged_userns_clone: textOf('/proc/sys/kernel/unprivileged_userns_clone'),
    apparmor_restrict_unprivileged_userns: textOf('/proc/sys/kernel/apparmor_restrict_unprivileged_userns'),
    filtered: /^Seccomp:\s*2$/m.test(textOf('/proc/self/status') ?? ''),
  };
}

/** The likeliest cause of bubblewrap's complaint, and what to change. Pure. */
export function whyNot(complaint: string, settings: Settings): string {
  const said = complaint.trim().split('\n').at(-1) || 'no word of why';
  return `bubblewrap (bwrap) cannot make a sandbox here: ${said}. ${adviceFor(complaint, settings)}`;
}

function adviceFor(complaint: string, settings: Settings): string {
  if (/unknown option/i.test(complaint)) return 'It is too old: it does not know --ro-bind-fd or --size.';
  if (/SECCOMP/i.test(complaint))
    return 'The kernel takes no filter of system calls: it needs CONFIG_SECCOMP_FILTER.';
  if (/mount proc/i.test(complaint)) {
    return 'A container that covers parts of /proc allows no new one: start it with --security-opt systempaths=unconfined.';
  }
  if (/Failed to make \/ slave: Permission denied/i.test(complaint))
    return 'The AppArmor profile of a container denies mounts: start it with --security-opt apparmor=unconfined.';
  if (settings.max_user_namespaces === '0') return 'Set user.max_user_namespaces above 0 (sysctl).';
  if (settings.unprivileged_userns_clone === '0')
    return 'Set kernel.unprivileged_userns_clone to 1 (sysctl).';
  if (settings.apparmor_restrict_unprivileged_userns === '1') {
    return 'Set kernel.apparmor_restrict_unprivileged_userns to 0 (sysctl), or give bwrap an AppArmor profile that allows userns.';
  }
  if (settings.filtered) {
    return 'This process is under a seccomp filter, as in a container: allow clone, unshare, mount and pivot_root there (--security-opt seccomp=unconfined).';
  }
  if (/max_\*_namespaces|No space left/.test(complaint)) {
    return 'Namespaces are nested too deep, or user.max_user_namespaces is used up.';
  }
  return 'User namespaces must be allowed: see user.max_user_namespaces, kernel.unprivileged_userns_clone and kernel.apparmor_restrict_unprivileged_userns.';
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return null;
  }
}
