import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { machineInspector } from '../../src/effect/machine.ts';
import { ownUser } from '../../src/effect/user.ts';
import { scratch } from '../support/scratch.ts';

/** A program that writes down each time it is asked, and ends with this. */
function pretender(code: number): { bwrap: string; asked: () => number; become: (code: number) => void } {
  const folder = scratch();
  const bwrap = join(folder, 'bwrap');
  const log = join(folder, 'asked');
  const become = (end: number) => {
    rmSync(bwrap, { force: true });
    writeFileSync(bwrap, `#!/bin/sh\necho asked >> ${log}\nexit ${end}\n`);
    chmodSync(bwrap, 0o755);
  };
  become(code);
  const asked = () => (existsSync(log) ? readFileSync(log, 'utf8').split('\n').length - 1 : 0);
  return { bwrap, asked, become };
}

describe('machineInspector', () => {
  const prlimit = '/usr/bin/prlimit';

  it('tries a bubblewrap once, and again when its file or the user is another one', () => {
    const { bwrap, asked, become } = pretender(0);
    const inspect = machineInspector();
    const fault = (user = ownUser()) => inspect().sandboxFault?.({ bwrap, prlimit, key_lists: [] }, user);
    expect([fault(), fault(), asked()]).toEqual([null, null, 1]);
    expect([fault({ ...ownUser(), gid: 1 }), asked()]).toEqual([null, 2]);
    become(1);
    expect([fault(), asked()]).toEqual([expect.stringContaining('cannot make a sandbox here'), 3]);
  });

  it('does not remember a no, and says no of one that is gone', () => {
    const { bwrap, asked } = pretender(1);
    const { sandboxFault } = machineInspector()();
    const fault = () => sandboxFault?.({ bwrap, prlimit, key_lists: [] }, ownUser());
    expect([fault() === null, fault() === null, asked()]).toEqual([false, false, 2]);
    rmSync(bwrap);
    expect(fault()).toContain('ENOENT');
  });
});
