import { chmodSync, closeSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { notStarted, runChild } from '../../src/effect/child.ts';
import { inspectMachine, type Machine } from '../../src/effect/machine.ts';
import { mountsFor } from '../../src/effect/mounts.ts';
import {
  type Confinement,
  judgeSandboxed,
  type Limits,
  requireSandbox,
  sandboxCommand,
} from '../../src/effect/sandbox.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { sh } from './sh.ts';

const machine: Machine = {
  bwrap: '/usr/bin/bwrap',
  prlimit: '/usr/bin/prlimit',
  flock: null,
  mkfifo: null,
  proc: true,
  system: [{ path: '/usr' }, { path: '/bin', link: 'usr/bin' }],
  network: [{ path: '/etc/hosts' }],
  key_lists: ['/proc/keys'],
};
const limits: Limits = { cpu_s: 5, file_mb: 1, open_files: 64, processes: 8, memory_mb: null, tmp_mb: 4 };
const confinement: Confinement = {
  profile: { network: false, read: ['/data'], write: ['/work/out'] },
  limits,
  cwd: '/work',
  argv: ['/opt/tool', '--flag'],
  programs: [{ called: '/opt/tool', path: '/opt/tool-1.0' }],
  hidden: [],
  protected: [],
};
const joined = (more: Partial<Confinement> = {}) =>
  sandboxCommand({ ...confinement, ...more }, machine).argv.join(' ');

describe('sandboxCommand', () => {
  it('unshares everything, drops every capability, and puts the limits inside', () => {
    const command = joined();
    expect(command).toMatch(/^\/usr\/bin\/bwrap --unshare-all --die-with-parent --cap-drop ALL /);
    expect(command).toMatch(
      / -- \/usr\/bin\/prlimit --core=0 --fsize=1048576 --nofile=64 --cpu=5 --nproc=8 -- \/opt\/tool --flag$/,
    );
    expect(command).not.toContain('--share-net');
    expect(command).not.toContain('/etc/hosts');
  });

  it('shares the network only when the profile says so', () => {
    const command = joined({ profile: { network: true, read: [], write: [] } });
    expect(command).toContain('--unshare-all --share-net');
    expect(command).toContain('--ro-bind /etc/hosts /etc/hosts');
  });

  it('binds only what is open, at its real path, and links the name that the tool is called by', () => {
    const { argv, sources } = sandboxCommand(confinement, machine);
    expect(argv.join(' ')).toContain(
      '--ro-bind-fd 3 /data --bind-fd 4 /work/out --ro-bind-fd 5 /opt/tool-1.0 --symlink /opt/tool-1.0 /opt/tool',
    );
    expect(argv.join(' ')).toContain('--seccomp 6 --json-status-fd 7 -- ');
    expect(sources).toEqual([
      { path: '/data', program: false },
      { path: '/work/out', program: false },
      { path: '/opt/tool-1.0', program: true },
    ]);
  });

  it('shows an interpreter that lives outside the system folders', () => {
    const script = { called: '/work/out/run', path: '/work/out/run' };
    const programs = [
      script,
      { called: '/usr/bin/env', path: '/usr/bin/env' },
      { called: '/opt/n', path: '/opt/n' },
    ];
    const command = joined({ programs });
    expect(command).toMatch(/--ro-bind-fd \d+ \/opt\/n /);
    expect(command).not.toContain('/usr/bin/env');
  });

  it('makes an empty working folder where the profile shows none', () => {
    expect(joined()).toContain('--dir /work --remount-ro / --chdir /work');
    expect(joined({ cwd: '/data/sub' })).not.toContain('--dir');
  });

  it('is only the limits, or nothing, without a sandbox', () => {
    const none = { ...confinement, profile: 'none' as const };
    expect(sandboxCommand({ ...none, limits: null }, machine).argv).toEqual(['/opt/tool', '--flag']);
    expect(sandboxCommand({ ...none, limits: { ...limits, memory_mb: 2 } }, machine).argv).toEqual([
      '/usr/bin/prlimit',
      ...['--core=0', '--fsize=1048576', '--nofile=64', '--cpu=5', '--nproc=8', '--data=2097152', '--'],
      ...['/opt/tool', '--flag'],
    ]);
    const setpriv = '/usr/bin/setpriv';
    expect(sandboxCommand({ ...none, limits: null }, { ...machine, setpriv }).argv).toEqual([
      ...[setpriv, '--pdeathsig', 'KILL', '--', '/opt/tool', '--flag'],
    ]);
  });
});

describe('the command it makes', () => {
  it('runs the file that is open, whatever stands at its path by now', async () => {
    const path = join(scratch(), 'tool');
    writeFileSync(path, '#!/bin/sh\necho hashed\n', { mode: 0o755 });
    const fd = openSync(path, 'r');
    renameSync(path, `${path}.old`);
    writeFileSync(path, '#!/bin/sh\necho swapped\n', { mode: 0o755 });
    const { argv, sources, filter } = sandboxCommand(
      {
        profile: { network: false, read: [], write: [] },
        limits,
        cwd: '/tmp',
        argv: [path],
        programs: [{ called: path, path }],
        hidden: [],
        protected: [],
      },
      inspectMachine(),
    );
    expect(sources).toEqual([{ path, program: true }]);
    const outcome = await runChild({
      argv,
      fds: [fd],
      filter,
      with_status: true,
      env: { PATH: '/usr/bin:/bin' },
      cwd: '/',
      timeout_ms: 20_000,
      stdout_bytes: 1000,
      stderr_bytes: 1000,
    });
    closeSync(fd);
    expect(Buffer.from(outcome.stdout.bytes).toString()).toBe('hashed\n');
    expect(outcome.status).toContain('"exit-code": 0');
  });

  /** In a sandbox that shows nothing but the system. */
  const confined = (script: string, before: string[] = []) => {
    const nothing = { network: false, read: [], write: [] };
    const { argv, filter } = sandboxCommand(
      { ...confinement, profile: nothing, argv: ['/bin/sh', '-c', script], programs: [] },
      inspectMachine(),
    );
    return runChild(sh('', { argv: [...before, ...argv], filter, with_status: true }));
  };

  it('stays in the process group that a stop kills until the tool begins', async () => {
    const trace = join(scratch(), 'trace');
    const outcome = await confined('exit 3', [
      ...['/usr/bin/strace', '-f', '-e', 'trace=setsid,setpgid,execve', '-o', trace],
    ]);
    expect(outcome.status).toContain('"exit-code": 3');
    const calls = readFileSync(trace, 'utf8').split('\n');
    const began = calls.findIndex((call) => /execve\("\/usr\/bin\/setsid".* = 0/.test(call));
    expect(began).toBeGreaterThan(0);
    expect(calls.slice(0, began).filter((call) => /setsid\(|setpgid\(/.test(call))).toEqual([]);
  });

  it('has no terminal that the tool could type into', async () => {
    const { stderr } = await confined(': < /dev/tty');
    expect(Buffer.from(stderr.bytes).toString()).toContain('No such device or address');
  });

  it('survives a tool that signals its own process group', async () => {
    const { status } = await confined('trap "" TERM; kill 0; exit 4');
    expect(status).toContain('"exit-code": 4');
  });
});

describe('requireSandbox', () => {
  it('refuses a profile or limits that this machine cannot give', async () => {
    const bare = inspectMachine([scratch()]);
    const profile = { network: false, read: [], write: [] };
    await expectRefusal('SANDBOX_UNAVAILABLE', () => requireSandbox(profile, null, bare));
    await expectRefusal('SANDBOX_UNAVAILABLE', () => requireSandbox('none', limits, bare));
    await expectRefusal('SANDBOX_UNAVAILABLE', () =>
      requireSandbox(profile, limits, { ...machine, prlimit: null }),
    );
    requireSandbox('none', null, bare);
  });

  it('refuses everything where open files have no names: not Linux, or no /proc', async () => {
    const profile = { network: false, read: [], write: [] };
    for (const proc of [false, undefined]) {
      const { proc: _, ...rest } = inspectMachine();
      const blind: Machine = proc === undefined ? rest : { ...rest, proc };
      await expectRefusal('SANDBOX_UNAVAILABLE', () => requireSandbox('none', null, blind));
      await expectRefusal('SANDBOX_UNAVAILABLE', () => requireSandbox(profile, null, blind));
    }
  });

  it('refuses a bubblewrap that can bind names only', async () => {
    const folder = scratch();
    const bwrap = join(folder, 'bwrap');
    writeFileSync(bwrap, '#!/bin/sh\necho "bwrap: Unknown option --ro-bind-fd" >&2\nexit 1\n');
    chmodSync(bwrap, 0o755);
    const profile = { network: false, read: [], write: [] };
    await expectRefusal('SANDBOX_UNAVAILABLE', () =>
      requireSandbox(profile, null, { ...inspectMachine(), bwrap }),
    );
    requireSandbox(profile, null, inspectMachine());
  });
});

describe('mountsFor', () => {
  const mounts = (request: Partial<Parameters<typeof mountsFor>[0]>) =>
    mountsFor({
      read: [],
      write: [],
      hidden: [],
      protected: [],
      pinned: [],
      system: ['/usr'],
      ...request,
    }).binds.map(({ path, kind }) => `${path} ${kind}`);
  const folder = (path: string) => ({ path, folder: true });
  const file = (path: string) => ({ path, folder: false });

  it('orders a folder before what is in it, and lets the narrower bind win', () => {
    expect(mounts({ read: ['/a/b'], write: ['/a', '/a/b/c'] })).toEqual([
      '/a write',
      '/a/b read',
      '/a/b/c write',
    ]);
  });

  it('masks what is hidden inside a bind, and binds nothing of it', () => {
    expect(mounts({ read: ['/p'], hidden: [folder('/p/.k'), file('/p/key')] })).toEqual([
      '/p read',
      '/p/.k hidden-folder',
      '/p/key hidden-file',
    ]);
    expect(mounts({ write: ['/p', '/p/.k/objects'], hidden: [folder('/p/.k')] })).toEqual([
      '/p write',
      '/p/.k hidden-folder',
    ]);
    expect(mounts({ write: ['/p/.k/objects'], hidden: [folder('/p/.k')] })).toEqual([]);
    expect(mounts({ write: ['/p/.k'], hidden: [folder('/p/.k')] })).toEqual(['/p/.k hidden-folder']);
    expect(mounts({ read: ['/q'], hidden: [folder('/p/.k')] })).toEqual(['/q read']);
  });

  it('masks what is hidden inside a folder of the system, too', () => {
    expect(mounts({ hidden: [folder('/usr/local/p/.keyturn')] })).toEqual([
      '/usr/local/p/.keyturn hidden-folder',
    ]);
  });

  it('binds what is protected again, read-only, and refuses a narrower bind that would make it writable', async () => {
    const guards = [file('/p/tools.yaml'), folder('/p/policies')];
    expect(mounts({ write: ['/p'], protected: guards })).toEqual([
      '/p write',
      '/p/policies read',
      '/p/tools.yaml read',
    ]);
    for (const path of ['/p/policies/sub', '/p/tools.yaml']) {
      await expectRefusal('SANDBOX_PATH_PROTECTED', () => mounts({ write: [path], protected: guards }));
    }
  });

  it('keeps the place of what is protected and does not exist yet', () => {
    const absent = { path: '/p/policies', folder: true, absent: true };
    expect(mounts({ write: ['/p'], protected: [absent] })).toEqual(['/p write', '/p/policies hidden-folder']);
    expect(mounts({ read: ['/p'], protected: [absent] })).toEqual(['/p read']);
  });

  it('pins every folder between a writable bind and a mount inside it', () => {
    expect(
      mounts({ write: ['/p'], protected: [file('/p/a/b/tools.yaml')], pinned: ['/p/bin/tool'] }),
    ).toEqual(['/p write', '/p/a write', '/p/a/b write', '/p/a/b/tools.yaml read', '/p/bin write']);
    expect(mounts({ read: ['/p'], protected: [file('/p/a/tools.yaml')] })).toEqual(['/p read']);
  });
});

describe('judgeSandboxed', () => {
  const outcome = { ...notStarted('x'), started: true, exit_code: 1 };

  it('says that the tool never ran when bubblewrap ended before it', () => {
    expect(judgeSandboxed({ ...outcome, status: '{ "child-pid": 1 }' })).toMatchObject({
      started: false,
      exit_code: null,
    });
    expect(judgeSandboxed({ ...outcome, status: '{ "exit-code": 1 }' })).toMatchObject({
      started: true,
      exit_code: 1,
      signal: null,
    });
  });

  it('does not say so when it was killed: the tool may have run', () => {
    const killed = { ...outcome, exit_code: null, signal: 'SIGKILL', status: '' };
    expect(judgeSandboxed(killed).started).toBe(true);
    expect(judgeSandboxed({ ...outcome, timed_out: true, status: '' }).started).toBe(true);
  });

  it('reads a signal from the exit code', () => {
    const killed = judgeSandboxed({ ...outcome, exit_code: 137, status: '{ "exit-code": 137 }' });
    expect(killed.signal).toBe('SIGKILL');
  });
});
