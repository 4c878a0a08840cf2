import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { callFilter } from '../../src/effect/seccomp/filter.ts';
import { type Settings, whyNot } from '../../src/effect/trial.ts';

const QUIET: Settings = {
  max_user_namespaces: '15000',
  unprivileged_userns_clone: null,
  apparmor_restrict_unprivileged_userns: null,
  filtered: false,
};
const DENIED =
  'bwrap: No permissions to create a new namespace, likely because the kernel does not allow it.\n';

describe('whyNot', () => {
  it.each<[string, Partial<Settings>, string]>([
    [DENIED, { max_user_namespaces: '0' }, 'user.max_user_namespaces'],
    [DENIED, { unprivileged_userns_clone: '0' }, 'kernel.unprivileged_userns_clone'],
    [DENIED, { apparmor_restrict_unprivileged_userns: '1' }, 'kernel.apparmor_restrict_unprivileged_userns'],
    [DENIED, { filtered: true }, 'seccomp=unconfined'],
    ["bwrap: Can't mount proc on /newroot/proc: Operation not permitted", {}, 'systempaths=unconfined'],
    ['bwrap: Failed to make / slave: Permission denied', { filtered: true }, 'apparmor=unconfined'],
    ['bwrap: prctl(PR_SET_SECCOMP): Invalid argument', {}, 'CONFIG_SECCOMP_FILTER'],
    ['bwrap: Unknown option --ro-bind-fd', {}, 'too old'],
    ['bwrap: Creating new namespace failed: No space left on device', {}, 'nested too deep'],
    ['', {}, 'User namespaces must be allowed'],
  ])('names the setting to change: %s %o', (complaint, settings, word) => {
    expect(whyNot(complaint, { ...QUIET, ...settings })).toContain(word);
  });
});

/** Asks for a sandbox in a process of its own, and prints what came of it. */
const ASK = `
  import { inspectMachine } from './src/effect/machine.ts';
  import { requireSandbox } from './src/effect/sandbox.ts';
  import { userFor } from './src/effect/user.ts';
  const attempt = (act) => { try { act(); console.log('made'); } catch (error) { console.log(error.code, error.message); } };
  attempt(() => requireSandbox({ network: false, read: [], write: [] }, null, inspectMachine()));
  attempt(() => userFor('nobody'));
`;
const node = [process.execPath, '--import', 'tsx', '--input-type=module', '-e', ASK];

function answerOf(command: readonly string[], input?: Uint8Array): string {
  const [program, ...args] = command;
  const { stdout, stderr } = spawnSync(program!, args, {
    encoding: 'utf8',
    ...(input && { input }),
    env: { ...process.env, TSX_DISABLE_CACHE: '1' },
  });
  return stdout + stderr;
}

describe('a machine that gives no sandbox', () => {
  it('refuses where user namespaces are used up', () => {
    const inside = 'echo 1 > /proc/sys/user/max_user_namespaces && exec unshare --user "$@"';
    const said = answerOf(['unshare', '--user', '--map-root-user', 'sh', '-c', inside, 'sh', ...node]);
    expect(said).toMatch(/^SANDBOX_UNAVAILABLE .*user\.max_user_namespaces/);
  });

  it('refuses a user that has no number in this namespace', () => {
    const said = answerOf(['unshare', '--user', '--map-root-user', ...node]);
    expect(said).toMatch(/^RUN_AS_UNAVAILABLE .*does not exist in this user namespace/m);
  });

  it('refuses under a filter that denies namespaces, as a container has', () => {
    const box = [
      'bwrap',
      '--bind',
      '/',
      '/',
      '--dev',
      '/dev',
      '--proc',
      '/proc',
      '--seccomp',
      '0',
      '--',
      ...node,
    ];
    expect(answerOf(box, callFilter(process.arch))).toMatch(/^SANDBOX_UNAVAILABLE .*seccomp=unconfined/);
  });
});
