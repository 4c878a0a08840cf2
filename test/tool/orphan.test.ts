import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { inspectMachine } from '../../src/effect/machine.ts';
import { isRunLocked, lockRun } from '../../src/effect/run-lock.ts';
import { prepareRun } from '../../src/tool/run.ts';
import { until } from '../support/processes.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { effectOf, script } from './fixture.ts';

const ROOT = join(import.meta.dirname, '../..');
const BARE = { hidden: [], protected: [] };

/** A Keyturn of its own that runs this tool without a sandbox. */
function runElsewhere(folder: string, lock: string): ChildProcess {
  const effect = effectOf(folder, { executable: 'tool.sh' });
  const main = join(folder, 'main.mts');
  writeFileSync(
    main,
    `import { prepareRun } from ${JSON.stringify(join(ROOT, 'src/tool/run.ts'))};
     const prepared = prepareRun(${JSON.stringify(effect)}, { hidden: [], protected: [] });
     await prepared.run({ lock: ${JSON.stringify(lock)} });`,
  );
  const loader = join(ROOT, 'node_modules/tsx/dist/loader.mjs');
  const child = spawn(process.execPath, ['--import', loader, main], { stdio: 'inherit' });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return child;
}

describe('a tool without a sandbox whose Keyturn was killed', () => {
  it('dies, and what moved away and ignores signals keeps the lock until it ends', async () => {
    const folder = scratch();
    const lock = join(folder, 'runs/one.lock');
    const [first, moved] = [join(folder, 'first'), join(folder, 'moved')];
    const inner = `trap "" TERM HUP INT; echo $$ > ${moved}; exec sleep 1000`;
    script(
      folder,
      `trap '' TERM HUP INT; setsid sh -c '${inner}' & echo $$ > ${first}; while :; do sleep 1; done`,
    );
    onTestFinished(() => [first, moved].map(pidIn).filter(isRunning).forEach(kill));
    const keyturn = runElsewhere(folder, lock);
    await until(() => pidIn(first) > 0 && pidIn(moved) > 0);
    expect(isRunLocked(lock)).toBe(true);

    keyturn.kill('SIGKILL');
    await once(keyturn, 'exit');
    await until(() => !isRunning(pidIn(first)));
    expect(isRunning(pidIn(moved))).toBe(true);
    expect(isRunLocked(lock)).toBe(true);

    kill(pidIn(moved));
    await until(() => !isRunLocked(lock));
  });
});

describe('the lock of a run', () => {
  it('is held while the tool runs, and free when it has ended', async () => {
    const folder = scratch();
    const lock = join(folder, 'runs/one.lock');
    script(folder, `touch ${folder}/begun; while [ ! -e ${folder}/go ]; do sleep 0.02; done`);
    const prepared = prepareRun(effectOf(folder, { executable: 'tool.sh' }), { ...BARE, lock });
    expect(isRunLocked(lock)).toBe(false);
    const running = prepared.run();
    await until(() => existsSync(join(folder, 'begun')));
    expect(isRunLocked(lock)).toBe(true);
    expect(isRunLocked(lock)).toBe(true);
    writeFileSync(join(folder, 'go'), '');
    expect(await running).toMatchObject({ started: true, exit_code: 0 });
    prepared.close();
    expect(isRunLocked(lock)).toBe(false);
    expect(statSync(lock).mode & 0o777).toBe(0o600);
  });

  it('gives the tool no way to write', async () => {
    const folder = scratch();
    const lock = join(folder, 'one.lock');
    script(folder, 'echo evil >&3; echo evil > /proc/self/fd/9; echo end');
    const prepared = prepareRun(effectOf(folder, { executable: 'tool.sh' }), { ...BARE, lock });
    await prepared.run();
    prepared.close();
    expect(readFileSync(lock, 'utf8')).toBe('');
  });

  it('keeps a second run of the same name from starting', async () => {
    const folder = scratch();
    const lock = join(folder, 'one.lock');
    const held = await lockRun(lock);
    onTestFinished(() => closeSync(held));
    script(folder, `touch ${folder}/ran`);
    const prepared = prepareRun(effectOf(folder, { executable: 'tool.sh' }), { ...BARE, lock });
    expect(await prepared.run()).toMatchObject({ started: false, error: 'LOCK_UNAVAILABLE' });
    prepared.close();
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });

  it('is refused where it cannot be taken or looked at', async () => {
    const folder = scratch();
    const lock = join(folder, 'one.lock');
    writeFileSync(lock, '');
    symlinkSync('one.lock', join(folder, 'link'));
    const machine = { ...inspectMachine(), flock: null };
    const effect = effectOf(folder, {});
    await expectRefusal('LOCK_UNAVAILABLE', () => prepareRun(effect, { ...BARE, lock, machine }));
    await expectRefusal('LOCK_UNAVAILABLE', () => isRunLocked(lock, machine));
    await expectRefusal('LOCK_UNAVAILABLE', () => isRunLocked(join(folder, 'link')));
    await expectRefusal('LOCK_UNAVAILABLE', () => lockRun(join(folder, 'link')));
    expect(isRunLocked(join(folder, 'none'))).toBe(false);
  });
});

function pidIn(path: string): number {
  return existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0;
}

function kill(pid: number): void {
  process.kill(pid, 'SIGKILL');
}

function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
