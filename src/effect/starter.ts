import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { limits } from '../limits.ts';
import { type ChildCommand, type ChildOutcome, type OnOutput, runChild, withoutInherited } from './child.ts';
import type { Machine } from './machine.ts';
import { ownProgram } from './own-program.ts';
import { RunLocks } from './run-locks.ts';

/** What the helper is asked. `fds` are those of the process that asks. */
export type StarterRequest =
  | {
      readonly id: number;
      readonly command: Omit<ChildCommand, 'abort' | 'onOutput'>;
      /** Whether what it prints is told before its end. */
      readonly is_told: boolean;
    }
  | { readonly id: number; readonly abort: true };

export type StarterReport =
  | 'ready'
  | { readonly id: number; readonly printed: readonly Parameters<OnOutput>[] }
  | { readonly id: number; readonly outcome: ChildOutcome };

/** To start the helper costs as much as a few children: one command of a person runs fewer. */
const BEFORE_HELPER = 4;

/** Each fork copies the tables of the memory that the helper has touched, and each write after it the page: it keeps little, and has no threads for it. */
const SMALL = ['--max-semi-space-size=1', '--single-threaded'];

/**
 * Starts the children of one opened project. Node forks, and a fork takes the longer the more memory the process has; nothing else
 * happens meanwhile. So the children of a process that runs many are started by a helper, a small process that does nothing else.
 * A helper dies with the process that it belongs to, and ends its children before.
 */
export class Starter {
  readonly #locks = new RunLocks((command) => this.run(command));
  readonly #before_helper: number;
  readonly #late_ms: number;
  #helper: Helper | null = null;
  #started = 0;
  #is_closed = false;

  constructor(before_helper = BEFORE_HELPER, late_ms: number = limits.starter_answer_ms) {
    this.#before_helper = before_helper;
    this.#late_ms = late_ms;
  }

  /** Rejects where the helper died: what became of the child is not known then. */
  run(command: ChildCommand): Promise<ChildOutcome> {
    return this.#begin(command, 1);
  }

  /** The same for what changes nothing, such as a look at the attributes of files. */
  look(command: ChildCommand): Promise<ChildOutcome> {
    return this.#begin(command, 1 / limits.looks_a_run);
  }

  #begin(command: ChildCommand, weight: number): Promise<ChildOutcome> {
    this.#started += weight;
    if (this.#helper?.isDead) this.#helper = null;
    if (this.#started > this.#before_helper && !this.#is_closed) this.#helper ??= startHelper(this.#late_ms);
    const by_helper = this.#helper?.isReady && !command.abort?.aborted;
    return by_helper ? this.#helper!.run(command) : runChild(command);
  }

  lock(path: string, machine: Machine): Promise<void> {
    return this.#locks.make(path, machine);
  }

  release(path: string): void {
    this.#locks.release(path);
  }

  close(): void {
    this.#is_closed = true;
    this.#locks.close();
    this.#helper?.end();
    this.#helper = null;
  }
}

/** Null where this installation has none: children are then started from here. */
function startHelper(late_ms: number): Helper | null {
  const program = ownProgram(import.meta.url, 'starter-process.ts', 'starter-process.js');
  return program && new Helper([...SMALL, ...program.options, program.path], late_ms);
}

interface Waiting {
  resolve(outcome: ChildOutcome): void;
  reject(error: Error): void;
  readonly tell?: OnOutput;
}

/** The helper tells now and then what came; what it had not told at the end is in the outcome. */
function restTeller(onOutput: OnOutput) {
  const told = { stdout: { kept: 0, dropped: 0 }, stderr: { kept: 0, dropped: 0 } };
  const tell: OnOutput = (chunk, stream, dropped) => {
    told[stream].kept += chunk.length;
    told[stream].dropped += dropped;
    onOutput(chunk, stream, dropped);
  };
  const end = (outcome: ChildOutcome) => {
    for (const stream of ['stdout', 'stderr'] as const) {
      const { bytes, total } = outcome[stream];
      const { kept, dropped } = told[stream];
      if (total > kept + dropped) onOutput(bytes.subarray(kept), stream, total - bytes.length - dropped);
    }
  };
  return { tell, end };
}

class Helper {
  readonly #child: ChildProcess;
  readonly #late_ms: number;
  readonly #waiting = new Map<number, Waiting>();
  #next = 0;
  #is_over = false;
  isReady = false;
  isDead = false;

  constructor(args: readonly string[], late_ms: number) {
    this.#late_ms = late_ms;
    const nothing = openSync('/dev/null', 'r');
    try {
      this.#child = spawn(process.execPath, args, {
        cwd: '/',
        env: {},
        detached: true, // a Ctrl-C at the terminal is for us: what runs is then ended in order
        serialization: 'advanced',
        stdio: withoutInherited(['ignore', 'ignore', 'ignore', 'ipc'], nothing),
      });
    } finally {
      closeSync(nothing);
    }
    this.#child.on('message', (told: StarterReport) => this.#hear(told));
    this.#child.on('error', () => this.#die());
    this.#child.on('disconnect', () => this.#die());
    this.#child.on('exit', () => this.#die());
    this.#keepAlive();
  }

  run({ abort, onOutput, ...command }: ChildCommand): Promise<ChildOutcome> {
    this.#next += 1;
    const id = this.#next;
    const timers = [this.#endWithin(command.timeout_ms + this.#late_ms)];
    const onAbort = () => {
      this.#ask({ id, abort: true });
      timers.push(this.#endWithin(this.#late_ms));
    };
    return new Promise<ChildOutcome>((resolve, reject) => {
      const teller = onOutput && restTeller(onOutput);
      const ended = (outcome: ChildOutcome) => {
        teller?.end(outcome);
        resolve(outcome);
      };
      this.#waiting.set(id, { resolve: ended, reject, ...(teller && { tell: teller.tell }) });
      this.#keepAlive();
      this.#ask({ id, command, is_told: onOutput !== undefined });
      abort?.addEventListener('abort', onAbort, { once: true });
    }).finally(() => {
      abort?.removeEventListener('abort', onAbort);
      for (const timer of timers) clearTimeout(timer);
      this.#waiting.delete(id);
      this.#keepAlive();
      if (this.#is_over) this.end();
    });
  }

  /** What runs still ends as it would. */
  end(): void {
    this.#is_over = true;
    if (this.#waiting.size === 0 && this.#child.connected) this.#child.disconnect();
  }

  /** The helper ends what is late. One that does not, because it hangs, is killed, and all that it ran is in doubt. */
  #endWithin(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#child.kill('SIGKILL'), Math.min(ms, limits.timer_ms));
  }

  #ask(asked: StarterRequest): void {
    if (this.isDead) return;
    this.#child.send(asked, (error) => error && this.#die());
  }

  #hear(told: StarterReport): void {
    if (told === 'ready') this.isReady = true;
    else if ('outcome' in told) this.#waiting.get(told.id)?.resolve(told.outcome);
    else for (const each of told.printed) this.#waiting.get(told.id)?.tell?.(...each);
  }

  #die(): void {
    this.isDead = true;
    for (const { reject } of this.#waiting.values()) reject(new Error('The process that starts tools died.'));
  }

  /** Node waits for it only while something runs. */
  #keepAlive(): void {
    const act = this.#waiting.size > 0 ? 'ref' : 'unref';
    this.#child[act]();
    this.#child.channel?.[act]();
  }
}
