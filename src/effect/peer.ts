import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { limits } from '../limits.ts';
import { becoming, type ChildCommand, giveBytes, type Stdio, withoutInherited } from './child.ts';
import { Redactor } from './redact.ts';

/** A program that is talked to line by line for as long as it lives. */
export interface PeerCommand
  extends Pick<
    ChildCommand,
    'argv' | 'fds' | 'filter' | 'with_status' | 'env' | 'redacted' | 'cwd' | 'user'
  > {
  /** The longest line that is taken. A program that writes a longer one is ended. */
  readonly line_bytes: number;
  /** What is kept of its standard error: the end of it. */
  readonly stderr_bytes: number;
  /** One line, without its end. It must not throw. */
  readonly onLine: (line: Buffer) => void;
  /** It is gone, or was ended here. Called once. */
  readonly onEnd: (why: PeerEnd) => void;
}

export type PeerEnd = 'ended' | 'line too long' | 'not started';

export interface Peer {
  /** One line. Resolves when it was handed to the system; rejects where the pipe broke. A pipe takes no headers. */
  send(line: string, headers?: Readonly<Record<string, string>>): Promise<void>;
  /** Ends it, with all that it started in its process group. */
  kill(): void;
  stderr(): Buffer;
}

/** Starts a program and keeps it. There is no shell, nothing is inherited, and its whole group dies with `kill`. */
export function startPeer(command: PeerCommand): Peer {
  const child = spawned(command);
  let is_over = false;
  let ending: NodeJS.Timeout | null = null;
  const over = (why: PeerEnd) => {
    if (is_over) return;
    is_over = true;
    if (ending) clearTimeout(ending);
    killGroup(child);
    for (const stream of child.stdio) stream?.destroy();
    command.onEnd(why);
  };
  child.once('error', () => over(child.pid === undefined ? 'not started' : 'ended'));
  // What it wrote last is still in the pipe, which a child of it may hold open for ever.
  const soonOver = () => {
    ending ??= setTimeout(() => over('ended'), limits.last_output_ms);
  };
  child.once('exit', () => {
    killGroup(child);
    soonOver();
  });
  child.once('close', () => over('ended'));
  // It lives on, and can say nothing any more.
  child.stdout!.once('end', soonOver);
  const errors = new Tail(command.stderr_bytes);
  const redacted = new Redactor(command.redacted ?? []);
  child.stderr!.on('data', (chunk: Buffer) => errors.take(redacted.take(chunk)));
  child.stdin!.on('error', () => {}); // `send` says so, and the end of the child does
  for (const stream of [child.stdout!, child.stderr!]) stream.on('error', () => {});
  const lines = new Lines(command, () => over('line too long'));
  child.stdout!.on('data', (chunk: Buffer) => lines.take(chunk));
  child.unref();
  for (const stream of child.stdio) (stream as { unref?: () => void } | null)?.unref?.();
  return {
    send: (line) =>
      new Promise((done, failed) => {
        if (is_over) return failed(new Error('The program has ended.'));
        child.stdin!.write(`${line}\n`, (error) => (error ? failed(error) : done()));
      }),
    kill: () => over('ended'),
    stderr: () => errors.bytes(),
  };
}

function spawned(command: PeerCommand): ChildProcess {
  const [program, ...args] = command.argv;
  const nothing = openSync('/dev/null', 'r');
  try {
    const stdio: Stdio[] = ['pipe', 'pipe', 'pipe', ...(command.fds ?? [])];
    const filter_fd = stdio.length;
    if (command.filter) stdio.push('pipe');
    if (command.with_status) stdio.push('pipe');
    const child = spawn(program!, args, {
      cwd: command.cwd,
      env: command.env as NodeJS.ProcessEnv,
      detached: true, // its own process group, so that the group can be killed
      shell: false,
      windowsHide: true,
      stdio: withoutInherited(stdio, nothing),
      ...becoming(command.user),
    });
    if (command.filter) giveBytes(child, filter_fd, command.filter);
    return child;
  } finally {
    closeSync(nothing);
  }
}

/** Cuts what comes into lines. Secrets are taken out before a line is told. */
class Lines {
  readonly #command: PeerCommand;
  readonly #tooLong: () => void;
  readonly #redactor: Redactor;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(command: PeerCommand, tooLong: () => void) {
    this.#command = command;
    this.#tooLong = tooLong;
    this.#redactor = new Redactor(command.redacted ?? []);
  }

  take(chunk: Uint8Array): void {
    let rest = Buffer.from(this.#redactor.take(chunk));
    for (;;) {
      const end = rest.indexOf(0x0a);
      const part = end < 0 ? rest : rest.subarray(0, end);
      this.#bytes += part.length;
      if (this.#bytes > this.#command.line_bytes) {
        this.#tooLong();
        return;
      }
      this.#parts.push(part);
      if (end < 0) return;
      const line = this.#parts.length === 1 ? part : Buffer.concat(this.#parts);
      this.#parts = [];
      this.#bytes = 0;
      if (line.length > 0) this.#command.onLine(line);
      rest = rest.subarray(end + 1);
    }
  }
}

/** The last bytes of a stream. */
class Tail {
  readonly #most: number;
  #kept: Buffer = Buffer.alloc(0);

  constructor(most: number) {
    this.#most = most;
  }

  take(chunk: Uint8Array): void {
    this.#kept = Buffer.from(Buffer.concat([this.#kept, chunk]).subarray(-this.#most));
  }

  bytes(): Buffer {
    return this.#kept;
  }
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group is gone already.
  }
}
