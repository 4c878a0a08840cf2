import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { isReasonCode, Refusal, refuse } from '../../refusal.ts';
import { Capture } from '../capture.ts';
import { giveBytes, type Stdio, withoutInherited } from '../child.ts';
import type { RunnerCommand } from './confine.ts';
import { ANSWER_FD, type Answer, type Done, type Job, SANDBOX_FD, sqlLimits } from './job.ts';

export interface RunnerOptions {
  /** It is closed as soon as the runner has been started. */
  readonly command: RunnerCommand;
  readonly cwd: string;
  readonly timeout_ms: number;
  readonly abort?: AbortSignal | undefined;
  /** The open real database: the runner holds DuckDB's lock on it. */
  readonly guard_fd?: number | undefined;
}

/** A runner that has answered. It holds its lock until it is released. */
export interface Answered {
  readonly done: Done;
  release(): Promise<void>;
}

const STDERR_BYTES = 4096;
/** Escaped twice over, the rows still fit. */
const ANSWER_BYTES = 4 * sqlLimits.rows_bytes;

/** Gives the job to a fresh runner and waits for its answer. Whatever goes wrong, the runner is dead afterwards. */
export async function askRunner(options: RunnerOptions, job: Job): Promise<Answered> {
  if (options.abort?.aborted) {
    options.command.close();
    refuse('SQL_ABORTED');
  }
  const child = start(options);
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.once('error', () => resolve());
  });
  // It has closed its copy and has nothing left to say: killed at once it cannot be late.
  const release = () => {
    kill(child);
    return ended;
  };
  try {
    return { done: doneOf(await answerOf(child, options, job)), release };
  } catch (error) {
    kill(child);
    await ended;
    throw error;
  }
}

function start({ command, cwd, guard_fd }: RunnerOptions): ChildProcess {
  const [program, ...args] = command.argv;
  const nothing = openSync('/dev/null', 'r');
  const given: Stdio[] = ['pipe', 'ignore', 'pipe', 'pipe', guard_fd ?? nothing, ...command.fds];
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
      giveBytes(child, SANDBOX_FD + command.fds.length, command.filter);
      (child.stdio[SANDBOX_FD + command.fds.length + 1] as Readable | null)?.resume(); // bubblewrap's own status
    }
    return child;
  } finally {
    closeSync(nothing);
    command.close();
  }
}

function answerOf(child: ChildProcess, options: RunnerOptions, job: Job): Promise<string> {
  return new Promise((resolve, reject) => {
    const stderr = new Capture(STDERR_BYTES);
    child.stderr?.on('data', (chunk: Uint8Array) => stderr.take(chunk));
    const timer = setTimeout(() => settle(() => reject(timedOut(options.timeout_ms))), options.timeout_ms);
    const onAbort = () => settle(() => reject(new Refusal('SQL_ABORTED')));
    const settle = (act: () => void) => {
      clearTimeout(timer);
      options.abort?.removeEventListener('abort', onAbort);
      act();
    };
    options.abort?.addEventListener('abort', onAbort, { once: true });
    const failed = (why: string) => settle(() => reject(new Refusal('SQL_RUNNER_FAILED', why)));

    readLine(child.stdio[ANSWER_FD] as Readable, (line) => settle(() => resolve(line)), failed);
    child.once('error', (error) =>
      failed(`The SQL runner cannot be started: ${(error as NodeJS.ErrnoException).code}`),
    );
    child.once('close', (code, signal) =>
      failed(`The SQL runner died (${signal ?? code}). ${errorLine(stderr)}`),
    );
    send(child.stdin, job);
  });
}

function send(stdin: Writable | null, job: Job): void {
  stdin?.on('error', () => {}); // it died before it read: its end says so
  stdin?.write(`${JSON.stringify(job)}\n`);
}

function readLine(stream: Readable, onLine: (line: string) => void, onFailure: (why: string) => void): void {
  const capture = new Capture(ANSWER_BYTES);
  stream.on('error', () => {});
  stream.on('data', (chunk: Uint8Array) => {
    capture.take(chunk);
    if (capture.total > ANSWER_BYTES) onFailure('The SQL runner answered more than it may.');
    else if (chunk.includes(0x0a)) onLine(Buffer.from(capture.result().bytes).toString('utf8'));
  });
}

/** The runner reads hostile files, so its answer is looked at before it is believed. */
function doneOf(line: string): Done {
  const answer = parse(line);
  if (answer.ok) return answer.done;
  return refuse(isReasonCode(answer.code) ? answer.code : 'SQL_RUNNER_FAILED', answer.message, {
    ...answer.details,
  });
}

function parse(line: string): Answer {
  try {
    return JSON.parse(line) as Answer;
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
