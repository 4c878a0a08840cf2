import { closeSync, constants, openSync, readSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { ReadStream, WriteStream } from 'node:tty';
import { cliLimits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import { SecretLine } from './secret-line.ts';
import { atExitLetGo, isControllingTerminal } from './tty.ts';

/** The human's terminal. Never standard input: a program that pipes into Keyturn is not the human at the keyboard. */
export interface Terminal {
  /** Shows the question and returns the line that was typed. An abort while it waits is no answer. */
  ask(question: string, abort?: AbortSignal): Promise<string>;
  /** The same without an echo. The bytes are the caller's to clear: no other copy is left. */
  askSecret(question: string): Promise<Buffer>;
  write(text: string): void;
  /** How many characters fit in a line. */
  readonly columns: number;
  /** How many lines fit on the screen. */
  readonly rows: number;
  /** Whether what goes to standard output is seen here, and not at another terminal. */
  readonly shows_stdout: boolean;
  close(): void;
}

export function openTerminal(): Terminal {
  const output = openOutput();
  atExitLetGo();
  return {
    ask: (question, abort) => readLine(output, question, abort),
    askSecret: (question) => readHidden(output, question),
    write: (text) => void output.write(text),
    get columns() {
      return output.columns || COLUMNS;
    },
    get rows() {
      return output.rows || ROWS;
    },
    shows_stdout: isControllingTerminal(1),
    close: () => void output.destroy(),
  };
}

const COLUMNS = 80;
const ROWS = 24;

/** Each stream has a descriptor of its own: closed twice, one that they shared would end the process or another file. */
function openOutput(): WriteStream {
  const fd = openTty();
  try {
    return quiet(new WriteStream(fd));
  } catch {
    return refuse('NO_TERMINAL');
  }
}

/** For one question: a stream that outlived it would read more than its answer, and take the beginning of the next answer. */
function openInput(output: WriteStream, options: InputOptions = {}): ReadStream {
  if (output.destroyed) throw nothingTyped();
  try {
    return discardTyped(
      quiet(new ReadStream(openTty(), options as ConstructorParameters<typeof ReadStream>[1])),
    );
  } catch (error) {
    // The terminal was there when the conversation began.
    throw error instanceof Refusal && error.code !== 'NO_TERMINAL' ? error : nothingTyped();
  }
}

/** Node reads into this buffer, and into no other. It passes the options on to its sockets, which its types do not say. */
interface InputOptions {
  readonly onread?: { readonly buffer: Buffer; readonly callback: (count: number) => boolean };
}

/** A terminal that hangs up fails every read and write. That is no answer, and must be nothing worse. */
function quiet<T extends ReadStream | WriteStream>(stream: T): T {
  stream.on('error', () => {});
  return stream;
}

/** Opens the terminal for one conversation and closes it, however that ends. */
export async function atTerminal<T>(talk: (terminal: Terminal) => Promise<T>): Promise<T> {
  const terminal = openTerminal();
  try {
    return await talk(terminal);
  } finally {
    terminal.close();
  }
}

function openTty(flags: number = constants.O_RDWR): number {
  try {
    return openSync('/dev/tty', flags | constants.O_NOCTTY);
  } catch {
    return refuse('NO_TERMINAL');
  }
}

export function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r+'));
    return true;
  } catch {
    return false;
  }
}

/**
 * Throws away what was typed before the question was there. It cannot be an answer to it: it was meant for another
 * program, or an attacker typed it before, in the hope that the question will come.
 */
function discardTyped(input: ReadStream): ReadStream {
  // In raw mode a line that was not ended yet can be read too, and nothing that arrives is held back.
  input.setRawMode(true);
  const fd = openTty(constants.O_RDONLY | constants.O_NONBLOCK);
  const chunk = Buffer.alloc(4096);
  try {
    for (let total = 0; total < cliLimits.typed_before_bytes; ) {
      const count = readWaiting(fd, chunk);
      if (count === 0) return input;
      total += count;
    }
  } finally {
    chunk.fill(0); // a passphrase that was typed too early is one too
    closeSync(fd);
  }
  input.destroy();
  return refuse('CONFIRMATION_DECLINED', 'Something types without end.');
}

function readWaiting(fd: number, chunk: Buffer): number {
  try {
    return readSync(fd, chunk);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EAGAIN' || code === 'EIO') return 0;
    throw error;
  }
}

/** One line. The end of input, Ctrl-C or an abort is no answer, and no answer is a refusal. */
async function readLine(output: WriteStream, question: string, abort?: AbortSignal): Promise<string> {
  if (abort?.aborted) throw nothingTyped();
  const input = openInput(output);
  const lines = createInterface({ input, output, terminal: true, historySize: 0 });
  return new Promise<string>((resolve, reject) => {
    let answered = false;
    const giveUp = () => {
      if (answered) return;
      answered = true;
      lines.close();
      output.write('\n');
      reject(nothingTyped());
    };
    for (const end of ['SIGINT', 'close', 'error']) lines.on(end, giveUp);
    abort?.addEventListener('abort', giveUp, { once: true });
    lines.question(question, (line) => {
      answered = true;
      abort?.removeEventListener('abort', giveUp);
      lines.close();
      resolve(line);
    });
  }).finally(() => input.destroy());
}

/** One line that is not shown. It is read into memory that is cleared, and never into a string, which could not be. */
async function readHidden(output: WriteStream, question: string): Promise<Buffer> {
  const line = new SecretLine();
  await new Promise<void>((ended) => {
    const buffer = Buffer.alloc(4096);
    const callback = (count: number) => {
      const state = line.take(buffer.subarray(0, count));
      buffer.fill(0);
      if (state === 'open') return true;
      input.setRawMode(false);
      input.destroy();
      return false;
    };
    const input = openInput(output, { onread: { buffer, callback } });
    for (const end of ['end', 'error', 'close']) input.once(end, () => ended());
    output.write(question);
    input.resume();
  });
  output.write('\n');
  return line.finish() ?? Promise.reject(nothingTyped());
}

function nothingTyped(): Refusal {
  return new Refusal('CONFIRMATION_DECLINED', 'Nothing was typed.');
}
