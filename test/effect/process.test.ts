import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isAlive, thisProcess } from '../../src/effect/process.ts';

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

  it('calls a process of an earlier boot dead, and one of another host unknown', () => {
    const me = thisProcess();
    expect(isAlive({ ...me, boot_id: '00000000-0000-0000-0000-000000000000' })).toBe('dead');
    expect(isAlive({ ...me, host: 'elsewhere' })).toBe('other-host');
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
    while (!/\) Z /.test(readFileSync(`/proc/${zombie}/stat`, 'utf8')))
      await new Promise((r) => setTimeout(r, 5));
    const ticks = readFileSync(`/proc/${zombie}/stat`, 'utf8').split(') ')[1]!.split(' ')[19]!;
    const me = thisProcess();
    const executor = { ...me, pid: zombie, started: me.started.replace(/^\d+/, ticks) };
    expect(isAlive(executor)).toBe('dead');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(isAlive({ ...executor, pid: child.pid! })).toBe('dead');
  });
});
