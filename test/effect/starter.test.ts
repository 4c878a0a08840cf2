import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { inspectMachine } from '../../src/effect/machine.ts';
import { isRunLocked, openRunLock } from '../../src/effect/run-lock.ts';
import { Starter } from '../../src/effect/starter.ts';
import { childrenOf, commandOf, isRunning, until } from '../support/processes.ts';
import { scratch } from '../support/scratch.ts';
import { sh } from './sh.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Who starts its children now. */
async function parentOf(starter: Starter): Promise<number> {
  const { stdout } = await starter.run(sh('echo $PPID'));
  return Number(Buffer.from(stdout.bytes).toString());
}

/** A starter that has its helper, and the pid of that. */
async function helped(late_ms?: number): Promise<{ starter: Starter; helper: number }> {
  const starter = new Starter(0, late_ms);
  onTestFinished(() => starter.close());
  let helper = process.pid;
  await until(async () => {
    helper = await parentOf(starter);
    return helper !== process.pid;
  });
  return { starter, helper };
}

describe('a starter', () => {
  it('starts the first children from here, and makes no helper for them', async () => {
    const starter = new Starter();
    onTestFinished(() => starter.close());
    const mine = () => childrenOf(process.pid).filter((pid) => commandOf(pid).includes('starter-process'));
    const before = mine();
    for (let i = 0; i < 4; i++) expect(await parentOf(starter)).toBe(process.pid);
    expect(mine()).toEqual(before);
  });

  it('keeps its helper after a child was killed, timed out and not found', async () => {
    const { starter, helper } = await helped();
    const outcomes = await Promise.all([
      starter.run(sh('kill -9 $$')),
      starter.run(sh('sleep 1000', { timeout_ms: 50 })),
      starter.run(sh('', { argv: ['/nowhere/at-all'] })),
      starter.run(sh('', { fds: [99_999] })),
      starter.run(sh('exit 7')),
    ]);
    expect(outcomes).toMatchObject([
      { started: true, signal: 'SIGKILL', timed_out: false },
      { started: true, timed_out: true },
      { started: false, error: 'ENOENT' },
      { started: false, error: 'ENOENT' },
      { started: true, exit_code: 7 },
    ]);
    expect(await parentOf(starter)).toBe(helper);
  });

  it('has a small helper: each fork of a large one takes longer', async () => {
    const { helper } = await helped();
    const flags = readFileSync(`/proc/${helper}/cmdline`, 'utf8').split('\0');
    expect(flags).toEqual(expect.arrayContaining(['--max-semi-space-size=1', '--single-threaded']));
  });

  it('tells what a child of its helper prints as it comes, all of it and nothing twice', async () => {
    const { starter } = await helped();
    const go = join(scratch(), 'go');
    const told = { stdout: '', stderr: '', dropped: 0 };
    const script = `echo one; echo no >&2; while [ ! -e ${go} ]; do sleep 0.02; done; echo two; echo beyond`;
    const running = starter.run({
      ...sh(script, { stdout_bytes: 8 }),
      onOutput: (chunk, stream, dropped) => {
        told[stream] += Buffer.from(chunk).toString();
        told.dropped += dropped;
      },
    });
    await until(() => told.stdout === 'one\n' && told.stderr === 'no\n');
    writeFileSync(go, '');
    await running;
    expect(told).toEqual({ stdout: 'one\ntwo\n', stderr: 'no\n', dropped: 7 });
  });

  it('does not know what became of the children of a helper that died, and goes on with another', async () => {
    const { starter, helper } = await helped();
    const begun = join(scratch(), 'begun');
    const running = starter.run(sh(`touch ${begun}; exec sleep 20`));
    await until(() => existsSync(begun));
    const lost = expect(running).rejects.toThrow('died');
    process.kill(helper, 'SIGKILL');
    await lost;
    expect(await parentOf(starter)).toBeGreaterThan(0);
    await until(async () => ![process.pid, helper].includes(await parentOf(starter)));
  });

  it('kills a helper that hangs, since nothing would end what is late or no longer wanted', async () => {
    for (const controller of [null, new AbortController()]) {
      const { starter, helper } = await helped(100);
      const begun = join(scratch(), 'begun');
      const more = controller ? { abort: controller.signal } : { timeout_ms: 3_000 };
      const running = starter.run(sh(`touch ${begun}; exec sleep 20`, more));
      await until(() => existsSync(begun));
      process.kill(helper, 'SIGSTOP');
      controller?.abort();
      await expect(running).rejects.toThrow('died');
      await until(() => !isRunning(helper));
    }
  });

  it('starts no helper once it is closed, and leaves no spare lock', async () => {
    const starter = new Starter(0);
    const folder = scratch();
    await starter.lock(join(folder, '1.lock'), inspectMachine());
    const second = starter.lock(join(folder, '2.lock'), inspectMachine());
    starter.close();
    await second;
    expect(readdirSync(folder).sort()).toEqual(['1.lock', '2.lock']);
    const helpers = () => childrenOf(process.pid).filter((pid) => commandOf(pid).includes('starter-process'));
    const before = helpers();
    for (let i = 0; i < 3; i++) expect(await parentOf(starter)).toBe(process.pid);
    expect(helpers().filter((pid) => !before.includes(pid))).toEqual([]);
  });

  it('lets what runs come to its end when it is closed, and leaves no helper', async () => {
    const { starter, helper } = await helped();
    const folder = scratch();
    const running = starter.run(
      sh(`touch ${folder}/begun; while [ ! -e ${folder}/go ]; do sleep 0.02; done`),
    );
    await until(() => existsSync(join(folder, 'begun')));
    starter.close();
    writeFileSync(join(folder, 'go'), '');
    expect(await running).toMatchObject({ exit_code: 0 });
    await until(() => !isRunning(helper));
  });
});

describe('a process with a helper', () => {
  /** One that starts this after it has its helper. */
  function elsewhere(folder: string, script: string, after: string): ChildProcess {
    const main = join(folder, 'main.mts');
    writeFileSync(
      main,
      `import { writeFileSync } from 'node:fs';
       import { Starter } from ${JSON.stringify(join(ROOT, 'src/effect/starter.ts'))};
       import { inspectMachine } from ${JSON.stringify(join(ROOT, 'src/effect/machine.ts'))};
       const starter = new Starter(0);
       const sh = (script, lock) => starter.run({ argv: ['/usr/bin/setpriv', '--pdeathsig', 'KILL', '--', '/bin/sh', '-c', script],
         env: { PATH: '/usr/bin:/bin' }, cwd: '/', timeout_ms: 60_000, stdout_bytes: 100, stderr_bytes: 0, lock });
       let parent;
       do parent = Buffer.from((await sh('echo $PPID')).stdout.bytes).toString().trim();
       while (parent === String(process.pid));
       writeFileSync(${JSON.stringify(join(folder, 'helper'))}, parent);
       await starter.lock(${JSON.stringify(join(folder, 'runs/one.lock'))}, inspectMachine());
       const running = sh(${JSON.stringify(script)}, ${JSON.stringify(join(folder, 'runs/one.lock'))});
       ${after}`,
    );
    const loader = join(ROOT, 'node_modules/tsx/dist/loader.mjs');
    const child = spawn(process.execPath, ['--import', loader, main], { stdio: 'inherit' });
    onTestFinished(() => {
      child.kill('SIGKILL');
    });
    return child;
  }
  const numberIn = (path: string) => (existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0);

  it('takes helper and children with it when it is killed, and what moved away keeps the lock', async () => {
    const folder = scratch();
    const script = `setsid sh -c 'echo $$ > ${folder}/moved; exec sleep 1000' & echo $$ > ${folder}/first; sleep 1000`;
    const keyturn = elsewhere(folder, script, 'await running;');
    const [first, moved] = [join(folder, 'first'), join(folder, 'moved')];
    await until(() => numberIn(first) > 0 && numberIn(moved) > 0);
    const lock = join(folder, 'runs/one.lock');
    keyturn.kill('SIGKILL');
    await once(keyturn, 'exit');
    await until(() => !isRunning(numberIn(join(folder, 'helper'))) && !isRunning(numberIn(first)));
    expect(isRunLocked(lock)).toBe(true);
    process.kill(numberIn(moved), 'SIGKILL');
    await until(() => !isRunLocked(lock));
  });

  it('ends although nobody closed it, once nothing runs', async () => {
    const folder = scratch();
    const keyturn = elsewhere(folder, 'exit 0', 'await running;');
    expect(await once(keyturn, 'exit')).toEqual([0, null]);
    await until(() => !isRunning(numberIn(join(folder, 'helper'))));
  });
});

describe('the spare locks', () => {
  it('are made ahead from the second on, taken away at the end, and cleared where a dead process left them', async () => {
    const folder = scratch();
    const starter = new Starter();
    const made = async (name: string) => {
      await starter.lock(join(folder, name), inspectMachine());
      return readdirSync(folder).filter((each) => each.startsWith('spare-')).length;
    };
    expect(await made('1.lock')).toBe(0);
    const left = join(folder, 'spare-left');
    writeFileSync(left, '');
    utimesSync(left, 0, 0);
    expect(await made('2.lock')).toBeGreaterThan(1);
    starter.close();
    expect(readdirSync(folder).sort()).toEqual(['1.lock', '2.lock']);
  });

  it('are those of runs that are over, from the second on, and what something still holds is none of them', async () => {
    const { starter } = await helped();
    const folder = scratch();
    const lock = async (name: string) => {
      const path = join(folder, name);
      await starter.lock(path, inspectMachine());
      return { path, ino: statSync(path).ino };
    };
    const left = () => readdirSync(folder).length;
    starter.release((await lock('1.lock')).path);
    expect(left()).toBe(0);
    const second = await lock('2.lock');
    const spares = left() - 1;
    starter.release(second.path);
    expect(left()).toBe(spares + 1);
    const third = await lock('3.lock');
    expect(third.ino).toBe(second.ino);
    const held = openRunLock(third.path);
    starter.release(third.path);
    expect(existsSync(third.path)).toBe(true);
    const fourth = await lock('4.lock');
    expect(fourth.ino).not.toBe(third.ino);
    closeSync(held);
    starter.release(fourth.path);
    starter.close();
    expect(left()).toBe(0);
  });

  it('may be cleared by another process: another one is taken', async () => {
    const { starter } = await helped();
    const folder = scratch();
    for (const name of ['1.lock', '2.lock']) await starter.lock(join(folder, name), inspectMachine());
    const { exit_code } = await starter.run(sh(`rm ${folder}/spare-*`));
    expect(exit_code).toBe(0);
    await starter.lock(join(folder, '3.lock'), inspectMachine());
    expect(isRunLocked(join(folder, '3.lock'))).toBe(false);
    expect(existsSync(join(folder, '3.lock'))).toBe(true);
  });
});
