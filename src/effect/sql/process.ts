import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { sqlLimits } from '../../limits.ts';
import { isReasonCode, Refusal, refuse } from '../../refusal.ts';
import { Capture } from '../capture.ts';
import { giveBytes, type Stdio, withoutInherited } from '../child.ts';
import type { RunnerCommand } from './confine.ts';
import { ANSWER_FD, type Done, GUARD_FD, type Job, type SqlAnswer } from './job.ts';

export interface RunnerOptions {
  /** It is closed as soon as the runner has been started. */
  readonly command: RunnerCommand;
  readonly cwd: string;
  /** Open databases; the runner gets them from GUARD_FD on. */
  readonly guard_fds?: readonly number[];
}

export interface Patience {
  readonly timeout_ms: number;
  /** With a refusal as its reason, that is why the runner is given up; otherwise SQL_ABORTED. */
  readonly abort?: AbortSignal | undefined;
}

/** A child that answers one job after the other, until it is ended. */
export interface Runner {
  ask(job: Job, patience: Patience): Promise<Done>;
  /** Settles when the child is dead, with the reason that a question gets then. */
  readonly ended: Promise<Refusal>;
  end(): Promise<void>;
}

/** Gives one job to a fresh runner. Whatever comes of it, the runner is dead afterwards. */
export async function askRunner(options: RunnerOptions & Patience, job: Job): Promise<Done> {
  if (options.abort?.aborted) {
    options.command.close();
    throw whyAborted(options.abort);
  }
  const runner = startRunner(options);
  try {
    return await runner.ask(job, options);
  } finally {
    await runner.end();
  }
}

export function startRunner(options: RunnerOptions): Runner {
  const child = start(options);
  const ended = endOf(child);
  const lines = new Lines(child.stdio[ANSWER_FD] as Readable);
  child.stdin?.on('error', () => {}); // it died before it read: its end says so
  return {
    ended,
    async ask(job, patience) {
      const answered = lines.next();
      child.stdin?.write(`${JSON.stringify(job)}\n`);
      return doneOf(await soonest(answered, ended, patience));
    },
    // It has closed its copy and has nothing left to say: killed at once it cannot be late.
    async end() {
      kill(child);
      await ended;
    },
  };
}

function start({ command, cwd, guard_fds = [] }: RunnerOptions): ChildProcess {
  const [program, ...args] = command.argv;
  const nothing = openSync('/dev/null', 'r');
  const given: Stdio[] = ['pipe', 'ignore', 'pipe', 'pipe', ...guard_fds, ...command.fds];
  if (command.filter) given.push('pipe', 'pipe');
  try {
    const child = spawn(program!, args, {
      cwd,
      // Nothing is inherited: no proxy, no credentials, no option for node, and no open file.
      env: { TZ: 'UTC', LANG: 'C.UTF-8', HOME: '/nonexistent' },
      detached: true, // its own process group, so that the group can be killed
      shell: false,
      windowsHide: true,
      stdio: withoutInherited(given, nothing),
    });
    if (command.filter) {
      const filter_fd = GUARD_FD + guard_fds.length + command.fds.length;
      giveBytes(child, filter_fd, command.filter);
      (child.stdio[filter_fd + 1] as Readable | null)?.resume(); // bubblewrap's own status
    }
    return child;
  } finally {
    closeSync(nothing);
    command.close();
  }
}

function endOf(child: ChildProcess): Promise<Refusal> {
  const stderr = new Capture(sqlLimits.stderr_bytes);
  child.stderr?.on('data', (chunk: Uint8Array) => stderr.take(chunk));
  return new Promise((resolve) => {
    const failed = (why: string) => resolve(new Refusal('SQL_RUNNER_FAILED', why));
    child.once('error', (error) =>
      failed(`The SQL runner cannot be started: ${(error as NodeJS.ErrnoException).code}`),
    );
    child.once('close', (code, signal) =>
      failed(`The SQL runner died (${signal ?? code}). ${errorLine(stderr)}`),
    );
  });
}

/** The answer, unless the end of the runner, the time or an abort comes first. */
function soonest(answered: Promise<string>, ended: Promise<Refusal>, patience: Patience): Promise<string> {
  const { timeout_ms, abort } = patience;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => settle(() => reject(timedOut(timeout_ms))), timeout_ms);
    const onAbort = () => settle(() => reject(whyAborted(abort!)));
    const settle = (act: () => void) => {
      clearTimeout(timer);
      abort?.removeEventListener('abort', onAbort);
      act();
    };
    abort?.addEventListener('abort', onAbort, { once: true });
    answered.then(
      (line) => settle(() => resolve(line)),
      (error) => settle(() => reject(error)),
    );
    ended.then((refusal) => settle(() => reject(refusal)));
    if (abort?.aborted) onAbort();
  });
}

function whyAborted({ reason }: AbortSignal): Refusal {
  return reason instanceof Refusal ? reason : new Refusal('SQL_ABORTED');
}

/** The lines of a stream, one for each question. */
class Lines {
  #capture = new Capture(sqlLimits.answer_bytes);
  #waiting: { resolve(line: string): void; reject(error: Refusal): void } | null = null;

  constructor(stream: Readable) {
    stream.on('error', () => {});
    stream.on('data', (chunk: Uint8Array) => this.#take(chunk));
  }

  next(): Promise<string> {
    this.#capture = new Capture(sqlLimits.answer_bytes);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  #take(chunk: Uint8Array): void {
    this.#capture.take(chunk);
    if (this.#capture.total > sqlLimits.answer_bytes)
      this.#waiting?.reject(
        new Refusal(
          'SQL_RUNNER_FAILED',
          `The SQL runner answered more than ${sqlLimits.answer_bytes} bytes.`,
        ),
      );
    else if (chunk.includes(0x0a))
      this.#waiting?.resolve(Buffer.from(this.#capture.result().bytes).toString('utf8'));
  }
}

/** The runner reads hostile files, so its answer is looked at before it is believed. */
function doneOf(line: string): Done {
  const answer = parse(line);
  if (answer.ok) return answer.done;
  return refuse(isReasonCode(answer.code) ? answer.code : 'SQL_RUNNER_FAILED', answer.message, {
    ...answer.facts,
  });
}

function parse(line: string): SqlAnswer {
  try {
    return JSON.parse(line) as SqlAnswer;
  } catch {
    return refuse('SQL_RUNNER_FAILED', 'The SQL runner gave an answer that is no JSON.');
  }
}

function timedOut(timeout_ms: number): Refusal {
  return new Refusal('SQL_TIMED_OUT', `The SQL ran longer than ${timeout_ms} ms.`, { timeout_ms });
}

function errorLine(stderr: Capture): string {
  const lines = Buffer.from(stderr.result().bytes).toString('utf8').trim().split('\n');
  return (lines.find((line) => /error/i.test(line)) ?? lines[0] ?? '').slice(0, 300);
}

function kill(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group is gone already.
  }
}
