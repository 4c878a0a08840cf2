import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import type { Duplex, Readable } from 'node:stream';
import { limits } from '../limits.ts';
import { Capture, type CapturedStream } from './capture.ts';
import { Redactor } from './redact.ts';
import { openRunLock } from './run-lock.ts';
import type { Redacted } from './secret-form.ts';
import type { RunUser } from './user.ts';

export interface ChildCommand {
  /** The program and its arguments. There is no shell, ever. */
  readonly argv: readonly string[];
  /** Descriptors that the child receives as 3, 4, … */
  readonly fds?: readonly number[];
  /** Bytes that the child can read from one more descriptor, after `fds`. */
  readonly filter?: Uint8Array | undefined;
  /** Gives the child one more descriptor to write to, after those; its first 4 KiB are `Outcome.status`. */
  readonly with_status?: boolean;
  /** The lock of the run, a FIFO. The child has its reading end open as one more descriptor, after those. */
  readonly lock?: string | undefined;
  /** The whole environment. Nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** What must not be seen in its output. */
  readonly redacted?: readonly Redacted[] | undefined;
  readonly cwd: string;
  readonly timeout_ms: number;
  readonly stdout_bytes: number;
  readonly stderr_bytes: number;
  readonly abort?: AbortSignal | undefined;
  readonly onOutput?: OnOutput | undefined;
  /** Left out, it is our own. */
  readonly user?: RunUser | undefined;
}

/**
 * Told what a child prints as it comes, without its secrets and no more than is captured, and how many bytes beyond that were dropped. It
 * must not throw.
 */
export type OnOutput = (chunk: Uint8Array, stream: 'stdout' | 'stderr', dropped: number) => void;

export interface ChildOutcome {
  /** False only when it is certain that the program did not begin. */
  readonly started: boolean;
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly timed_out: boolean;
  readonly aborted: boolean;
  readonly stdout: CapturedStream;
  readonly stderr: CapturedStream;
  readonly started_at: string;
  readonly finished_at: string;
  readonly error?: string;
  readonly status?: string;
}

/**
 * Runs one program to its end. Standard input is empty. On timeout or abort the whole process group gets SIGKILL; under
 * bubblewrap that takes the pid namespace with it, so nothing survives. Without a sandbox a process that moved to its
 * own session does survive: that is one of the things that `sandbox: none` gives away.
 */
export function runChild(command: ChildCommand, inherited?: readonly number[]): Promise<ChildOutcome> {
  const started_at = new Date().toISOString();
  if (command.abort?.aborted) return Promise.resolve({ ...notStarted('aborted', started_at), aborted: true });
  let child: ChildProcess;
  try {
    child = start(command, inherited);
  } catch (error) {
    return Promise.resolve(notStarted(errorName(error), started_at));
  }
  return follow(child, command, started_at);
}

function start(command: ChildCommand, inherited: readonly number[] | undefined): ChildProcess {
  const [program, ...args] = command.argv;
  const nothing = openSync('/dev/null', 'r');
  let lock: number | null = null;
  try {
    if (command.lock !== undefined) lock = openRunLock(command.lock);
    const child = spawn(program!, args, {
      cwd: command.cwd,
      env: command.env as NodeJS.ProcessEnv,
      detached: true, // its own process group, so that the group can be killed
      shell: false,
      windowsHide: true,
      stdio: withoutInherited(descriptors(command, lock), nothing, inherited),
      ...becoming(command.user),
    });
    if (command.filter) giveBytes(child, firstExtra(command), command.filter);
    return child;
  } finally {
    closeSync(nothing);
    if (lock !== null) closeSync(lock);
  }
}

/** Between fork and exec: the groups are dropped, then the ids are set, and a failure of the latter starts nothing. */
export function becoming(user: RunUser | undefined): { uid?: number; gid?: number } {
  return user?.switched ? { uid: user.uid, gid: user.gid } : {};
}

export type Stdio = 'ignore' | 'pipe' | 'ipc' | number;

function descriptors(command: ChildCommand, lock: number | null): Stdio[] {
  const stdio: Stdio[] = ['ignore', 'pipe', 'pipe', ...(command.fds ?? [])];
  if (command.filter) stdio.push('pipe');
  if (command.with_status) stdio.push('pipe');
  if (lock !== null) stdio.push(lock);
  return stdio;
}

/** The number of the first descriptor after those that were passed on. */
function firstExtra({ fds }: ChildCommand): number {
  return 3 + (fds?.length ?? 0);
}

/** Writes what fits into the pipe's buffer, and ends it. A child that died before it read says so by its end. */
export function giveBytes(child: ChildProcess, fd: number, bytes: Uint8Array): void {
  const pipe = child.stdio?.[fd] as Duplex | null | undefined;
  pipe?.on('error', () => {});
  pipe?.resume(); // nothing comes back, and the end of it belongs to the end of the child
  pipe?.end(bytes);
}

/** `nothing` is an open /dev/null. */
export function withoutInherited(
  stdio: Stdio[],
  nothing: number,
  inherited: readonly number[] = inheritable(),
): Stdio[] {
  const given = stdio.length;
  for (const fd of inherited) {
    while (stdio.length <= fd) stdio.push('ignore');
    if (fd >= given) stdio[fd] = nothing;
  }
  return stdio;
}

/**
 * Descriptors that our own parent left open without close-on-exec. A child would inherit them, and one open folder is
 * enough to walk out of any sandbox. Node closes none of them, so each is covered with /dev/null.
 */
export function inheritable(): number[] {
  const found: number[] = [];
  for (const fd of listDescriptors()) {
    if (fd > 2 && !isCloseOnExec(fd)) found.push(fd);
  }
  return found;
}

/** Throws without /proc: it is then unknown what the child would inherit, and nothing is started. */
function listDescriptors(): number[] {
  return readdirSync('/proc/self/fd').map(Number);
}

const O_CLOEXEC = 0o2000000;
/** The flags stand in the second line; what follows can be long. */
const FLAGS_BYTES = 64;

function isCloseOnExec(fd: number): boolean {
  const head = Buffer.alloc(FLAGS_BYTES);
  let length: number;
  try {
    const info = openSync(`/proc/self/fdinfo/${fd}`, 'r');
    try {
      length = readSync(info, head);
    } finally {
      closeSync(info);
    }
  } catch {
    return true; // the descriptor that listed the folder is gone by now
  }
  const flags = /^flags:\s*([0-7]+)\n/m.exec(head.toString('latin1', 0, length))?.[1];
  return (Number.parseInt(flags ?? '0', 8) & O_CLOEXEC) !== 0;
}

function follow(child: ChildProcess, command: ChildCommand, started_at: string): Promise<ChildOutcome> {
  const { redacted, onOutput } = command;
  const tell = (stream: 'stdout' | 'stderr') => (kept: Uint8Array, dropped: number) =>
    onOutput?.(kept, stream, dropped);
  const stdout = captureOf(child.stdout, command.stdout_bytes, redacted, tell('stdout'));
  const stderr = captureOf(child.stderr, command.stderr_bytes, redacted, tell('stderr'));
  const status = command.with_status
    ? captureOf(statusPipe(child, command), limits.child_status_bytes)
    : null;
  const watch = watchFor(child, command);
  return new Promise<ChildOutcome>((resolve) => {
    let end: Pick<ChildOutcome, 'exit_code' | 'signal'> = { exit_code: null, signal: null };
    const finish = () =>
      resolve({
        started: true,
        ...end,
        ...watch.reasons(),
        stdout: stdout.result(),
        stderr: stderr.result(),
        started_at,
        finished_at: new Date().toISOString(),
        ...(status ? { status: Buffer.from(status.result().bytes).toString('latin1') } : {}),
      });
    child.once('error', (error) => {
      if (child.pid === undefined) resolve(notStarted(errorName(error), started_at));
    });
    child.once('exit', (exit_code, signal) => {
      watch.stop(); // from here on nothing of the tool's own can be late
      end = { exit_code, signal };
      killGroup(child); // what it left behind: nothing runs in the background
      afterDrain(() => stdout.came() + stderr.came(), finish);
    });
    child.once('close', finish);
  }).finally(() => {
    watch.stop();
    for (const stream of child.stdio) stream?.destroy();
  });
}

/** Kills the child when it is late or no longer wanted, and remembers why. */
function watchFor(child: ChildProcess, { timeout_ms, abort }: ChildCommand) {
  let timed_out = false;
  let aborted = false;
  const timer = setTimeout(() => {
    timed_out = true;
    killGroup(child);
  }, timeout_ms);
  const onAbort = () => {
    aborted = true;
    killGroup(child);
  };
  abort?.addEventListener('abort', onAbort, { once: true });
  return {
    reasons: () => ({ timed_out, aborted }),
    stop: () => {
      clearTimeout(timer);
      abort?.removeEventListener('abort', onAbort);
    },
  };
}

function statusPipe(child: ChildProcess, command: ChildCommand): Readable | null {
  return child.stdio[firstExtra(command) + (command.filter ? 1 : 0)] as Readable | null;
}

/** Nothing that is redacted gets as far as the capture. */
function captureOf(
  stream: Readable | null,
  max_bytes: number,
  redacted: readonly Redacted[] = [],
  tell: (kept: Uint8Array, dropped: number) => void = () => {},
) {
  const capture = new Capture(max_bytes);
  const take = (chunk: Uint8Array) => {
    const kept = capture.take(chunk);
    if (chunk.length > 0) tell(chunk.subarray(0, kept), chunk.length - kept);
  };
  const redactor = new Redactor(redacted);
  let came = 0;
  stream?.on('data', (chunk: Uint8Array) => {
    came += chunk.length;
    take(redactor.take(chunk));
  });
  stream?.on('error', () => {}); // the pipe broke: what was captured until then is what there is
  return {
    came: () => came,
    result: () => {
      take(redactor.end());
      return capture.result();
    },
  };
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group is gone already.
  }
}

/** Calls back when no more output comes, also when a grandchild keeps the other end of a pipe open. */
function afterDrain(total: () => number, done: () => void): void {
  let seen = total();
  let rounds = 0;
  const look = () => {
    rounds += 1;
    if (total() === seen || rounds >= limits.drain_rounds) return done();
    seen = total();
    wait();
  };
  // setImmediate: after a busy moment the timer comes due before the pipe was read; look only after that.
  const wait = () => setTimeout(() => setImmediate(look), limits.drain_ms).unref();
  wait();
}

/** The outcome of what certainly did not begin. */
export function notStarted(error: string, started_at = new Date().toISOString()): ChildOutcome {
  const nothing: CapturedStream = { bytes: new Uint8Array(), total: 0, truncated: false };
  return {
    started: false,
    exit_code: null,
    signal: null,
    timed_out: false,
    aborted: false,
    stdout: nothing,
    stderr: nothing,
    started_at,
    finished_at: new Date().toISOString(),
    error,
  };
}

function errorName(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? (error as Error).message;
}
