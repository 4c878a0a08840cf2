import { closeSync, fstatSync, ftruncateSync, writeSync } from 'node:fs';
import { type Logger, pino } from 'pino';
import { openToAppend, statAt, withPlace } from './durable/beneath-write.ts';
import { limits } from './limits.ts';
import { Refusal, refuse } from './refusal.ts';
import {
  type Counted,
  errorCode,
  type Facts,
  type Operation,
  SILENT,
  type Telemetry,
  tellable,
} from './telemetry.ts';

type Level = 'error' | 'warn' | 'info' | 'debug';

export interface LogPlace {
  readonly level: Level;
  /** Beneath the project. `null` is standard error. */
  readonly file: string | null;
}

const STDERR = 2;

/**
 * The log of an operator: one line of JSON for each fact of telemetry. A place that cannot be a log is refused at once;
 * from then on it is best effort, because a line that is lost must not stop or change what it tells about.
 */
export async function openLog(root: string, { level, file }: LogPlace): Promise<Telemetry> {
  const fd = file === null ? STDERR : await roomFor(() => openLogFile(root, file));
  if (fd === null) return SILENT;
  const sink = sinkOf(fd, file !== null);
  return { ...telling(loggerTo(sink, level)), close: sink.close };
}

/** A full disk is no error of the configuration. */
async function roomFor(open: () => Promise<number>): Promise<number | null> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof Refusal && error.code === 'DISK_FULL') return null;
    throw error;
  }
}

/** The attacker puts something else where the log will be, so that our lines land in it. */
async function openLogFile(root: string, file: string): Promise<number> {
  return withPlace(root, file, (place) => {
    // Looked at before, because a named pipe would let us wait; and after, because only what is open counts.
    const before = statAt(place);
    if (before?.isSymbolicLink()) refuse('FILE_IS_SYMLINK', `The log ${file} is a symbolic link.`);
    if (before !== null && !before.isFile()) refuse('FILE_NOT_REGULAR', `The log ${file} is not a file.`);
    const fd = openToAppend(place, 0o600);
    const opened = fstatSync(fd);
    if (opened.isFile() && opened.nlink === 1) return fd;
    closeSync(fd);
    if (opened.isFile()) refuse('FILE_HARD_LINKED', `The log ${file} has more than one name.`);
    return refuse('FILE_NOT_REGULAR', `The log ${file} is not a file.`);
  });
}

interface Sink {
  write(line: string): void;
}

/**
 * One write for each line, at once: the lines of several processes stay whole, and none is lost at an exit.
 */
function sinkOf(fd: number, is_file: boolean): Sink & { close(): void } {
  let closed = false;
  return {
    write: (line) => {
      // The number may be another file's by now.
      if (closed) return;
      const bytes = Buffer.from(line);
      const before = is_file ? fstatSync(fd).size : 0;
      const written = writeSync(fd, bytes);
      if (is_file && written < bytes.length) takeBack(fd, before, written);
    },
    close: () => {
      if (is_file && !closed) closeSync(fd);
      closed = true;
    },
  };
}

/** A disk that fills up takes part of a line. It is removed, unless another process has written since. */
function takeBack(fd: number, before: number, written: number): void {
  if (fstatSync(fd).size === before + written) ftruncateSync(fd, before);
}

/** The second wall: what must never be in a log, if it came through the vocabulary. */
const SECRET = [
  'argument',
  'arguments',
  'args',
  'argv',
  'body',
  'content',
  'declared_goal',
  'env',
  'err',
  'error',
  'fields',
  'goal',
  'hash',
  'message',
  'name',
  'output',
  'passphrase',
  'password',
  'path',
  'reason',
  'secret',
  'seed',
  'signer',
  'stderr',
  'stdout',
  'text',
  'token',
  'url',
  'user_id',
  'utterance',
];

export function loggerTo(sink: Sink, level: Level, first_wall = tellable): Logger {
  return pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: (facts) => ({ ...first_wall(facts) }) },
      redact: { paths: SECRET.flatMap((key) => [key, `*.${key}`]), remove: true },
    },
    sink,
  );
}

/** Each line has one of these words, so that nothing else is ever a message. */
type Word = 'begins' | 'ends' | 'decides' | 'refused';
const BEGINS: ReadonlySet<Operation> = new Set<Operation>(['dispatch', 'grant', 'run']);
/** What reaches the world, or a person: each has a line without `debug`, too. */
const TOLD: ReadonlySet<Operation> = new Set<Operation>([...BEGINS, 'notify']);

function telling(logger: Logger): Omit<Telemetry, 'close'> {
  // The end of an operation is logged there; the entry point does not log it again.
  const told = new WeakSet<object>();
  const room = roomForRefusals();
  const tell = (level: Level, word: Word, facts: Facts) => {
    try {
      logger[level](facts, word);
    } catch {
      // Whatever went wrong, the line is given up.
    }
  };
  return {
    span: async (operation, act, { about, end } = {}) => {
      const from = performance.now();
      const since = () => ({ operation, took_ms: Math.round(performance.now() - from), ...about });
      if (BEGINS.has(operation)) tell('info', 'begins', { operation, ...about });
      try {
        const answer = await act();
        const facts: Facts = { code: 'OK', ...since(), ...end?.(answer) };
        tell(levelOf(operation, facts), 'ends', facts);
        return answer;
      } catch (error) {
        if (error instanceof Error) told.add(error);
        tell(levelOfError(error), 'ends', { ...since(), code: errorCode(error) });
        throw error;
      }
    },
    count: (what: Counted, facts) => {
      if (what === 'decision') tell(facts.allowed === true ? 'debug' : 'info', 'decides', facts);
    },
    refused: (entry_point, error) => {
      if (error instanceof Error && told.has(error)) return;
      const code = errorCode(error);
      const left_out = room(code);
      if (left_out !== null)
        tell(levelOfError(error), 'refused', { entry_point, code, ...(left_out > 0 && { left_out }) });
    },
  };
}

/** Whether there may be one more line about this code: null where not, else how many were left out before it. */
function roomForRefusals(): (code: string) => number | null {
  const minutes = new Map<string, { begun_ms: number; lines: number; left_out: number }>();
  return (code) => {
    const at_ms = performance.now();
    const known = minutes.get(code);
    const is_going = known !== undefined && at_ms - known.begun_ms < 60_000;
    if (is_going && known.lines >= limits.refused_lines_minute) {
      known.left_out += 1;
      return null;
    }
    if (is_going) known.lines += 1;
    else minutes.set(code, { begun_ms: at_ms, lines: 1, left_out: 0 });
    return is_going ? 0 : (known?.left_out ?? 0);
  };
}

function levelOf(operation: Operation, { code }: Facts): Level {
  if (code !== 'OK') return 'warn';
  return TOLD.has(operation) ? 'info' : 'debug';
}

/** A refusal is a no, as it should be. A store that fails, and an unexpected error, need an operator. */
function levelOfError(error: unknown): Level {
  return error instanceof Refusal && !TROUBLE.test(error.code) ? 'warn' : 'error';
}

const TROUBLE =
  /^(STORE_|LEDGER_|OBJECT_CORRUPT|DISK_FULL|WRITE_FAILED|RECORDING_FAILED|PROJECTION_DRIFT|INTERNAL)/;
