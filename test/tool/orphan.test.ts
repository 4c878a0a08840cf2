import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { inspectMachine } from '../../src/effect/machine.ts';
import { isRunLocked, openRunLock } from '../../src/effect/run-lock.ts';
import { Starter } from '../../src/effect/starter.ts';
import { prepareRun } from '../../src/tool/run.ts';
import { isRunning, until } from '../support/processes.ts';
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
     const lock = ${JSON.stringify(lock)};
     const prepared = prepareRun(${JSON.stringify(effect)}, { hidden: [], protected: [], lock });
     await prepared.run();`,
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
    expect(statSync(lock).mode & 0o777).toBe(0o600);
    writeFileSync(join(folder, 'go'), '');
    expect(await running).toMatchObject({ started: true, exit_code: 0 });
    prepared.close();
    expect(isRunLocked(lock)).toBe(false);
    expect(readdirSync(join(folder, 'runs'))).toEqual([]);
  });

  it('in a sandbox is held by the sandbox, and the tool gets nothing of it', async () => {
    const folder = scratch();
    const lock = join(folder, 'runs/one.lock');
    script(folder, `ls -l /proc/self/fd; while [ ! -e ${folder}/go ]; do sleep 0.02; done`);
    const sandbox = { read: ['.'] };
    const prepared = prepareRun(effectOf(folder, { executable: 'tool.sh', sandbox }), { ...BARE, lock });
    const running = prepared.run();
    await until(() => isRunLocked(lock));
    writeFileSync(join(folder, 'go'), '');
    const { exit_code, stdout } = await running;
    prepared.close();
    expect(exit_code).toBe(0);
    const open = [
      ...Buffer.from(stdout.bytes)
        .toString()
        .matchAll(/ -> (.*)$/gm),
    ].map(([, path]) => path!);
    expect(open.length).toBeGreaterThan(3);
    expect(open.filter((path) => path.includes('lock') || path.includes('spare'))).toEqual([]);
    await until(() => !isRunLocked(lock));
  });

  it('gives the tool no way to write', async () => {
    const folder = scratch();
    const lock = join(folder, 'one.lock');
    script(folder, 'echo evil >&3 || echo no; ls -l /proc/self/fd >&2');
    const prepared = prepareRun(effectOf(folder, { executable: 'tool.sh' }), { ...BARE, lock });
    const { stdout, stderr } = await prepared.run();
    prepared.close();
    expect(Buffer.from(stdout.bytes).toString()).toBe('no\n');
    expect(Buffer.from(stderr.bytes).toString()).toContain(`3 -> ${lock}`);
  });

  it('is held until the last step of its run that holds it has ended', async () => {
    const folder = scratch();
    const lock = join(folder, 'one.lock');
    const starter = new Starter();
    await starter.lock(lock, inspectMachine());
    const left = openRunLock(lock); // what an earlier step left behind
    starter.release(lock);
    script(folder, 'exit 0');
    const around = { ...BARE, lock, starter };
    const prepared = prepareRun(effectOf(folder, { executable: 'tool.sh' }), around);
    expect(await prepared.run()).toMatchObject({ started: true, exit_code: 0 });
    prepared.close();
    expect(isRunLocked(lock)).toBe(true);
    closeSync(left);
    expect(isRunLocked(lock)).toBe(false);
    starter.close();
    expect(existsSync(lock)).toBe(false);
  });

  it('is refused where it cannot be taken or looked at', async () => {
    const folder = scratch();
    const lock = join(folder, 'one.lock');
    writeFileSync(lock, '');
    symlinkSync('one.lock', join(folder, 'link'));
    const machine = { ...inspectMachine(), mkfifo: null };
    const starter = new Starter();
    const effect = effectOf(folder, {});
    await expectRefusal('LOCK_UNAVAILABLE', () => prepareRun(effect, { ...BARE, lock, machine }));
    await expectRefusal('LOCK_UNAVAILABLE', () => isRunLocked(lock));
    await expectRefusal('LOCK_UNAVAILABLE', () => isRunLocked(join(folder, 'link')));
    await expectRefusal('LOCK_UNAVAILABLE', () => starter.lock(join(folder, 'link'), inspectMachine()));
    await expectRefusal('LOCK_UNAVAILABLE', () => starter.lock(join(lock, 'one'), inspectMachine()));
    expect(readdirSync(folder).filter((name) => name.startsWith('spare-'))).toEqual([]);
    expect(isRunLocked(join(folder, 'none'))).toBe(false);
  });
});

function pidIn(path: string): number {
  return existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0;
}

function kill(pid: number): void {
  process.kill(pid, 'SIGKILL');
}
