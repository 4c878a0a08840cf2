import { randomUUID } from 'node:crypto';
import { linkSync, lstatSync, mkdirSync, readdirSync, renameSync, statSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import type { ChildCommand, ChildOutcome } from './child.ts';
import { inspectMachine, type Machine } from './machine.ts';
import { isRunLocked } from './run-lock.ts';

const SPARE = 'spare-';

/** Makes the locks of runs. */
export class RunLocks {
  readonly #run: (command: ChildCommand) => Promise<ChildOutcome>;
  readonly #spares: string[] = [];
  readonly #released = new Set<string>();
  #making: Promise<void> | null = null;
  #made = 0;
  #is_closed = false;

  constructor(run: (command: ChildCommand) => Promise<ChildOutcome>) {
    this.#run = run;
  }

  /** Makes the lock of one run. Where something of an earlier step of the run still holds it, both hold the same one. */
  async make(path: string, machine: Machine = inspectMachine()): Promise<void> {
    this.#released.delete(path);
    if (isFifo(path)) return;
    this.#made += 1;
    const folder = dirname(path);
    while (!linked(await this.#spare(folder, machine), path));
    if (this.#is_closed) this.close();
  }

  /** Leaves no file of a run that is over. A sandbox ends a moment after its tool: what is still held is looked at again later. */
  release(path: string): void {
    this.#released.add(path);
    for (const each of this.#released) if (this.#isLetGo(each)) this.#released.delete(each);
  }

  close(): void {
    this.#is_closed = true;
    for (const spare of this.#spares.splice(0)) removed(spare);
    for (const path of this.#released) this.#isLetGo(path);
    this.#released.clear();
  }

  /** Takes away a lock that nothing holds. One that cannot be looked at is found when a human settles the run. */
  #isLetGo(path: string): boolean {
    try {
      if (isRunLocked(path)) return false;
      this.#reuse(path);
    } catch {
      // It stays.
    }
    return true;
  }

  /**
   * A FIFO that nothing has open is like a new one, so it is the lock of a later run: to start mkfifo(1) costs as much as a child. Should
   * something open it after this look, that run counts as still at work, and is not settled. A process that runs one tool leaves none.
   */
  #reuse(path: string): void {
    if (this.#is_closed || this.#made === 1 || this.#spares.length >= limits.spare_run_locks) {
      removed(path);
      return;
    }
    const spare = spareIn(dirname(path));
    try {
      renameSync(path, spare);
      this.#spares.push(spare);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }

  async #spare(folder: string, machine: Machine): Promise<string> {
    for (;;) {
      const spare = this.#spares.pop();
      if (spare !== undefined && dirname(spare) === folder) return spare;
      if (spare !== undefined) removed(spare);
      this.#making ??= this.#makeSpares(folder, machine).finally(() => {
        this.#making = null;
      });
      await this.#making;
    }
  }

  async #makeSpares(folder: string, machine: Machine): Promise<void> {
    const mkfifo = requireMkfifo(machine);
    const paths = Array.from({ length: this.#made === 1 ? 1 : limits.spare_run_locks }, () =>
      spareIn(folder),
    );
    clearFolder(folder);
    const { exit_code } = await this.#run({
      argv: [mkfifo, '--mode=600', ...paths],
      env: {},
      cwd: '/',
      timeout_ms: limits.mkfifo_ms,
      stdout_bytes: 0,
      stderr_bytes: 0,
    });
    if (exit_code !== 0) refuse('LOCK_UNAVAILABLE', `No FIFO can be made in ${folder}.`, { path: folder });
    this.#spares.push(...paths);
  }
}

function spareIn(folder: string): string {
  return join(folder, `${SPARE}${randomUUID()}`);
}

/** Refuses before anything is claimed. */
export function requireMkfifo({ mkfifo }: Machine): string {
  return mkfifo ?? refuse('LOCK_UNAVAILABLE', 'mkfifo (coreutils) is not installed.');
}

/** False where another process has cleared the spare one away. */
function linked(spare: string, path: string): boolean {
  try {
    linkSync(spare, path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return false;
    return refuse('LOCK_UNAVAILABLE', `${path} cannot be made: ${code}`, { path });
  } finally {
    removed(spare);
  }
}

/** Whatever else is there is found when the lock is made. */
function isFifo(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isFIFO() ?? false;
  } catch {
    return false;
  }
}

function clearFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const names = readdirSync(folder).filter((name) => name.startsWith(SPARE));
    for (const path of names.map((name) => join(folder, name))) {
      const made_ms = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
      if (Date.now() - made_ms > limits.spare_run_lock_ms) removed(path);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    refuse('LOCK_UNAVAILABLE', `${folder} cannot be used: ${code}`, { path: folder });
  }
}

function removed(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
