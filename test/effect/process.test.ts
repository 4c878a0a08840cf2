import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isAlive, thisProcess } from '../../src/effect/process.ts';
import { until } from '../support/processes.ts';

describe('isAlive', () => {
  it('knows this process', () => {
    const me = thisProcess();
    expect(me.pid).toBe(process.pid);
    expect(me.started).toMatch(/^\d+@\d+$/);
    expect(isAlive(me)).toBe('alive');
  });

  it('takes another process with the same pid for what it is', () => {
    const me = thisProcess();
    expect(isAlive({ ...me, started: me.started.replace(/^\d+/, '1') })).toBe('dead');
  });

  const EARLIER = '00000000-0000-0000-0000-000000000000';
  const [ONE, TWO] = ['1'.repeat(64), '2'.repeat(64)];

  it('calls a process of an earlier boot of this machine dead, and one of another host unknown', () => {
    const me = { ...thisProcess(), machine: ONE };
    expect(isAlive({ ...me, boot_id: EARLIER }, me)).toBe('dead');
    expect(isAlive({ ...me, host: 'elsewhere' }, me)).toBe('other-host');
  });

  it('does not say dead of another machine that has the same host name', () => {
    const { machine: _, ...nameless } = thisProcess();
    const me = { ...nameless, machine: ONE };
    expect(isAlive({ ...me, boot_id: EARLIER, machine: TWO }, me)).toBe('other-host');
    expect(isAlive({ ...me, boot_id: 'unknown', machine: TWO }, me)).toBe('other-host');
    expect(isAlive({ ...nameless, boot_id: EARLIER }, me)).toBe('other-host');
    expect(isAlive({ ...me, boot_id: EARLIER }, nameless)).toBe('other-host');
    expect(isAlive({ ...nameless, boot_id: EARLIER }, nameless)).toBe('other-host');
    expect(isAlive(nameless, me)).toBe('alive');
  });

  it('names the machine by a hash, where it has an id', () => {
    const { machine } = thisProcess();
    if (!existsSync('/etc/machine-id')) return expect(machine).toBeUndefined();
    expect(machine ?? ONE).toMatch(/^[0-9a-f]{64}$/);
    expect(machine).not.toContain(readFileSync('/etc/machine-id', 'utf8').trim() || 'none');
  });

  it('cannot see into another container, so it does not say dead', () => {
    const me = thisProcess();
    expect(isAlive({ ...me, started: me.started.replace(/@.*/, '@1') })).toBe('other-host');
  });

  it('asks the kernel when nobody knows when the process started, and only "no such process" is dead', async () => {
    const me = thisProcess();
    const started = me.started.replace(/^\d+/, 'unknown');
    const child = spawn('/bin/true');
    await once(child, 'exit');
    expect(isAlive({ ...me, started })).toBe('alive');
    expect(isAlive({ ...me, started, boot_id: 'unknown' })).toBe('alive');
    expect(isAlive({ ...me, started, pid: 1 })).toBe('alive');
    expect(isAlive({ ...me, started, pid: child.pid! })).toBe('dead');
  });

  it('calls an ended process dead, buried or not', async () => {
    const child = spawn('/bin/sh', ['-c', '/bin/sleep 0 & echo $!; exec /bin/sleep 1000']);
    const [line] = await once(child.stdout, 'data');
    const zombie = Number(String(line));
    await until(() => /\) Z /.test(readFileSync(`/proc/${zombie}/stat`, 'utf8')));
    const ticks = readFileSync(`/proc/${zombie}/stat`, 'utf8').split(') ')[1]!.split(' ')[19]!;
    const me = thisProcess();
    const executor = { ...me, pid: zombie, started: me.started.replace(/^\d+/, ticks) };
    expect(isAlive(executor)).toBe('dead');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(isAlive({ ...executor, pid: child.pid! })).toBe('dead');
  });
});
