import { spawn as spawnProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readSync, renameSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { stripVTControlCharacters } from 'node:util';
import { spawn as spawnInTerminal } from '@lydell/node-pty';
import { buildSync } from 'esbuild';

/** Runs the real command line, in a real terminal or with none at all. */

const ROOT = resolve(import.meta.dirname, '..', '..');

export interface Where {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Standard input, where there is no terminal. */
  readonly stdin?: string | Uint8Array;
  readonly columns?: number;
  readonly rows?: number;
  /** At a terminal: standard output and error go to files of this folder, and the terminal shows only the rest. */
  readonly split?: string;
  /** At a terminal: another program than the command line itself. The words are then its own. */
  readonly program?: string;
}

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end without any terminal: in a session of its own, so that /dev/tty cannot be opened. */
export function keyturn(words: readonly string[], where: Where): Promise<Finished> {
  const child = spawnProcess(process.execPath, [cliPath(), ...words], {
    cwd: where.cwd,
    env: isolated(where),
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  child.stdin.on('error', () => {}); // a command that refuses early does not read on
  child.stdin.end(where.stdin ?? '');
  return new Promise((done, failed) => {
    child.on('error', failed);
    child.on('close', (code, signal) => {
      if (code === null) return failed(new Error(`killed by ${signal}`));
      done({ code, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() });
    });
  });
}

/** A command in a pseudo-terminal of its own, which is its standard input and output and its /dev/tty. */
export interface Session {
  /** Waits until this text has been printed after what was expected before. */
  expect(text: string): Promise<void>;
  type(line: string): void;
  /** Keys as they are, without the Enter. */
  press(keys: string): void;
  /** What was printed so far, as text: no escape sequences, line feeds only. */
  readonly text: string;
  readonly raw: string;
  readonly exited: Promise<number>;
  readonly pid: number;
  /** Closes the terminal under the command, as when its window is closed. */
  hangUp(): void;
  kill(): void;
}

const EXPECT_MS = 20_000;

export function inTerminal(words: readonly string[], where: Where): Session {
  const [program, args] = where.program ? [where.program, [...words]] : commandLine(words, where.split);
  const pty = spawnInTerminal(program, args, {
    name: 'xterm-256color',
    cols: where.columns ?? 200,
    rows: where.rows ?? 50,
    cwd: where.cwd,
    env: isolated(where),
    encoding: null,
  });
  const text_of = new StringDecoder();
  let raw = '';
  let seen = 0;
  let ended: number | null = null;
  let waiting: (() => void) | null = null;
  const wake = () => waiting?.();
  const read = (bytes: Buffer) => {
    raw += text_of.write(bytes);
    wake();
  };
  pty.onData((chunk) => read(chunk as unknown as Buffer));
  const hangUp = readToTheEnd(pty, read);
  const exited = new Promise<number>((done) => {
    pty.onExit(({ exitCode, signal }) => {
      ended = signal ? 128 + signal : exitCode;
      done(ended);
      wake();
    });
  });
  const text = () => stripVTControlCharacters(raw).replaceAll('\r', '');
  const until = async (wanted: string) => {
    const deadline = AbortSignal.timeout(EXPECT_MS);
    for (;;) {
      const at = text().indexOf(wanted, seen);
      if (at !== -1) {
        seen = at + wanted.length;
        return;
      }
      if (ended !== null || deadline.aborted)
        throw new Error(
          `expected ${JSON.stringify(wanted)}, ${ended === null ? 'time is up' : 'it ended'}:\n${text()}`,
        );
      await new Promise<void>((go) => {
        waiting = go;
        deadline.addEventListener('abort', () => go(), { once: true });
      });
    }
  };
  return {
    expect: until,
    type: (line) => pty.write(`${line}\r`),
    press: (keys) => pty.write(keys),
    get text() {
      return text();
    },
    get raw() {
      return raw;
    },
    exited,
    pid: pty.pid,
    hangUp,
    kill: () => pty.kill('SIGKILL'),
  };
}

/**
 * When a command has ended, libuv takes the first read that does not fill its buffer for the end of the terminal. A read of a terminal
 * never fills it, and on a busy machine more is to come: it is read here, before the terminal is closed. Returns how to close it at once.
 */
function readToTheEnd(pty: object, read: (bytes: Buffer) => void): () => void {
  const { _socket: socket, _fd: fd } = pty as {
    readonly _socket: { destroy(): unknown };
    readonly _fd: number;
  };
  const close = socket.destroy.bind(socket);
  socket.destroy = () => {
    socket.destroy = close;
    for (let bytes = rest(fd); bytes !== null; bytes = rest(fd)) read(bytes);
    return close();
  };
  return () => {
    socket.destroy = close;
    (pty as { destroy(): void }).destroy();
  };
}

/** Null where there is no more: EIO after the last process has closed the terminal, EAGAIN where another still has it open. */
function rest(fd: number): Buffer | null {
  const bytes = Buffer.alloc(64 * 1024);
  try {
    const length = readSync(fd, bytes);
    return length === 0 ? null : bytes.subarray(0, length);
  } catch (error) {
    if (['EIO', 'EAGAIN'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}

function commandLine(words: readonly string[], split: string | undefined): [string, string[]] {
  if (split === undefined) return [process.execPath, [cliPath(), ...words]];
  const script = `exec "$0" "$@" >'${split}/stdout' 2>'${split}/stderr'`;
  return ['/bin/sh', ['-c', script, process.execPath, cliPath(), ...words]];
}

/** A whole conversation: each question with what is typed at it. */
export async function converse(
  words: readonly string[],
  where: Where,
  turns: readonly (readonly [question: string, answer: string])[],
): Promise<{ code: number; text: string }> {
  const session = inTerminal(words, where);
  try {
    for (const [question, answer] of turns) {
      await session.expect(question);
      session.type(answer);
    }
    const code = await session.exited;
    return { code, text: session.text };
  } finally {
    session.kill();
  }
}

/** Nothing of the person who runs the tests: no home, no colour setting, no Keyturn project above. */
function isolated({ cwd, env }: Where): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    HOME: cwd,
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    ...env,
  };
}

/** `dist/cli.cjs` when it is newer than all of src/, or else a bundle made now: never an older program. */
export const cliPath = once(() => {
  const sources = filesUnder(join(ROOT, 'src'));
  const newest = Math.max(...sources.map(({ mtimeMs }) => mtimeMs));
  const dist = join(ROOT, 'dist', 'cli.cjs');
  const built = statSync(dist, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return built > newest ? dist : join(bundleOf(sources), 'cli.mjs');
});

interface SourceFile {
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
}

function filesUnder(folder: string): SourceFile[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return files.map((entry) => {
    const path = join(entry.parentPath, entry.name);
    const { size, mtimeMs } = statSync(path);
    return { path, size, mtimeMs };
  });
}

/** One bundle for one state of src/, shared by all test files. Inside node_modules, where it finds its dependencies. */
function bundleOf(sources: readonly SourceFile[]): string {
  const cache = join(ROOT, 'node_modules', '.cache', 'keyturn-cli');
  const folder = join(cache, createHash('sha256').update(JSON.stringify(sources)).digest('hex').slice(0, 16));
  if (existsSync(folder)) return folder;
  const fresh = `${folder}.${process.pid}`;
  buildSync({
    absWorkingDir: ROOT,
    entryPoints: { cli: 'src/cli/cli.ts' },
    outdir: fresh,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    outExtension: { '.js': '.mjs' },
    logLevel: 'silent',
  });
  try {
    renameSync(fresh, folder);
  } catch {
    rmSync(fresh, { recursive: true, force: true }); // another test file was faster
  }
  return folder;
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
