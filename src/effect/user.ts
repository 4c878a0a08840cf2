import { readFileSync, statSync } from 'node:fs';
import { refuse } from '../refusal.ts';
import { fileKey, hasSettled } from './file-key.ts';

/** The user of the operating system that a child runs as. */
export interface RunUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  /** Whether the child must leave the user of Keyturn for it. Supplementary groups are then dropped. */
  readonly switched: boolean;
}

/** Has no files and no rights of its own. Every Unix has it, if only by its number. */
const NOBODY = { name: 'nobody', uid: 65534, gid: 65534 };

/** What is known of the users of this host. */
interface Users {
  /** The lines of /etc/passwd, in their order. */
  readonly accounts: () => readonly Account[];
  /** Refuses a user that this process cannot become. */
  readonly requireChangeable: (account: Account) => void;
}

const PASSWD = '/etc/passwd';
const READ: Users = { accounts: () => accountsIn(textOf(PASSWD)), requireChangeable };

/** Keyturn's own user. */
export function ownUser(users: Users = READ): RunUser {
  const uid = process.geteuid!();
  const name = users.accounts().find((account) => account.uid === uid)?.name ?? `uid ${uid}`;
  return { name, uid, gid: process.getegid!(), switched: false };
}

export function isRoot(): boolean {
  return process.geteuid?.() === 0;
}

/**
 * Who a tool runs as. Root inside a sandbox is root outside wherever the kernel asks for a uid and not for a capability,
 * so a tool gets root only when its registry entry says so.
 */
export function userFor(run_as: string | null, users: Users = READ): RunUser {
  if (run_as === null && !isRoot()) return ownUser(users);
  const user = userNamed(users, run_as ?? NOBODY.name);
  // The alarm that the approver sees goes by the name.
  if (user.uid === 0 && user.name !== 'root') {
    refuse('RUN_AS_UNAVAILABLE', `${user.name} is root under another name: say run_as: root.`);
  }
  if (user.uid === process.geteuid!()) return ownUser(users);
  if (!isRoot()) {
    refuse(
      'RUN_AS_UNAVAILABLE',
      `The tool must run as ${user.name}, and Keyturn runs as ${ownUser(users).name}: only root can change its user.`,
      { run_as: user.name },
    );
  }
  users.requireChangeable(user);
  return { switched: true, ...user };
}

/** `userFor`, or one that remembers. */
export type UserFor = (run_as: string | null) => RunUser;

/**
 * Reads the accounts again when their file is another one or was changed. That this process can become a user is remembered for as
 * long as it is root: a child that then cannot does not start.
 */
export function rememberedUsers(): UserFor {
  let known: { readonly key: string; readonly accounts: readonly Account[] } | null = null;
  const able = new Set<string>();
  const users: Users = {
    accounts: () => {
      const stats = statSync(PASSWD, { bigint: true, throwIfNoEntry: false });
      if (!stats) return [];
      const key = fileKey(stats);
      if (known?.key === key) return known.accounts;
      const accounts = accountsIn(textOf(PASSWD));
      known = hasSettled(stats, Date.now()) ? { key, accounts } : null;
      return accounts;
    },
    requireChangeable: (account) => {
      const { uid, gid } = account;
      if (able.has(`${uid}:${gid}`)) return;
      requireChangeable(account);
      able.add(`${uid}:${gid}`);
    },
  };
  return (run_as) => userFor(run_as, users);
}

type Account = Pick<RunUser, 'name' | 'uid' | 'gid'>;

function userNamed(users: Users, name: string): Account {
  const found = users.accounts().find((account) => account.name === name);
  if (found) return found;
  if (name === NOBODY.name) return NOBODY;
  return refuse('RUN_AS_UNAVAILABLE', `/etc/passwd knows no user ${name}.`, { run_as: name });
}

function accountsIn(passwd: string): Account[] {
  return passwd
    .split('\n')
    .map((line) => line.split(':'))
    .filter((fields) => fields.length >= 7 && /^\d+$/.test(fields[2]!) && /^\d+$/.test(fields[3]!))
    .map(([name, , uid, gid]) => ({ name: name!, uid: Number(uid), gid: Number(gid) }));
}

const CAP_SETGID = 6n;
const CAP_SETUID = 7n;

/** In a container root may lack the right, or the user may have no number there. */
function requireChangeable({ name, uid, gid }: Account): void {
  const rights = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(textOf('/proc/self/status'))?.[1] ?? '0'}`);
  const able = [CAP_SETUID, CAP_SETGID].every((bit) => (rights >> bit) & 1n);
  if (!able) {
    refuse('RUN_AS_UNAVAILABLE', `Root lacks CAP_SETUID or CAP_SETGID here, so no tool can run as ${name}.`);
  }
  if (!isMapped('/proc/self/uid_map', uid) || !isMapped('/proc/self/gid_map', gid)) {
    refuse('RUN_AS_UNAVAILABLE', `${name} (${uid}:${gid}) does not exist in this user namespace.`);
  }
}

function isMapped(path: string, id: number): boolean {
  return textOf(path)
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .some(([first, , count]) => id >= first! && id < first! + count!);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
