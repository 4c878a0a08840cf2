import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { machineInspector } from '../../src/effect/machine.ts';
import { scratch } from '../support/scratch.ts';

/** A program that writes down each time it is asked, and answers with this line. */
function pretender(line: string): { bwrap: string; asked: () => number; become: (line: string) => void } {
  const folder = scratch();
  const bwrap = join(folder, 'bwrap');
  const log = join(folder, 'asked');
  const become = (text: string) => {
    rmSync(bwrap, { force: true });
    writeFileSync(bwrap, `#!/bin/sh\necho asked >> ${log}\necho "    ${text}"\n`);
    chmodSync(bwrap, 0o755);
  };
  become(line);
  const asked = () => (existsSync(log) ? readFileSync(log, 'utf8').split('\n').length - 1 : 0);
  return { bwrap, asked, become };
}

describe('machineInspector', () => {
  it('asks a bubblewrap once what it can, and again when its file is another one', () => {
    const { bwrap, asked, become } = pretender('--ro-bind-fd FD DEST');
    const inspect = machineInspector();
    expect(inspect().bindsDescriptors?.(bwrap)).toBe(true);
    expect(inspect().bindsDescriptors?.(bwrap)).toBe(true);
    expect(asked()).toBe(1);
    become('--ro-bind SRC DEST');
    expect(inspect().bindsDescriptors?.(bwrap)).toBe(false);
    expect(asked()).toBe(2);
  });

  it('does not remember a no, and says no of one that is gone', () => {
    const { bwrap, asked } = pretender('--ro-bind SRC DEST');
    const { bindsDescriptors } = machineInspector()();
    expect([bindsDescriptors?.(bwrap), bindsDescriptors?.(bwrap)]).toEqual([false, false]);
    expect(asked()).toBe(2);
    rmSync(bwrap);
    expect(bindsDescriptors?.(bwrap)).toBe(false);
  });
});
