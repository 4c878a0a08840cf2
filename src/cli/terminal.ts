import { closeSync, constants, openSync, readSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { ReadStream, WriteStream } from 'node:tty';
import { Refusal, refuse } from '../refusal.ts';
import { atExitLetGo, isControllingTerminal } from './tty.ts';

/** The human's terminal. Never standard input: whoever pipes into Keyturn is not the human at the keyboard. */
export interface Terminal {
  /** Shows the question and returns the line that was typed. An abort while it waits is no answer. */
  ask(question: string, abort?: AbortSignal): Promise<string>;
  /** The same without an echo. */
  askSecret(question: string): Promise<string>;
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
  const { input, output } = openStreams();
  // A terminal that hangs up fails every read and write. That is no answer, and must be nothing worse.
  for (const stream of [input, output]) stream.on('error', () => {});
  atExitLetGo();
  return {
    ask: (question, abort) => readLine(input, output, question, true, abort),
    askSecret: (question) => readLine(input, output, question, false),
    write: (text) => void output.write(text),
    get columns() {
      return output.columns || COLUMNS;
    },
    get rows() {
      return output.rows || ROWS;
    },
    shows_stdout: isControllingTerminal(1),
    close: () => {
      input.destroy();
      output.destroy();
    },
  };
}

const COLUMNS = 80;
const ROWS = 24;

/** Each has a descriptor of its own: closed twice, one that they shared would end the process or another file. */
function openStreams(): { input: ReadStream; output: WriteStream } {
  const [reading, writing] = [openTty(), openTty()];
  try {
    return { input: new ReadStream(reading), output: new WriteStream(writing) };
  } catch {
    return refuse('NO_TERMINAL');
  }
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

// Far more than a terminal holds: whoever goes on typing is a program.
const TYPED_AHEAD_BYTES = 1024 * 1024;

/**
 * Throws away what was typed before the question was there. It cannot be an answer to it: it was meant for another
 * program, or somebody put it there who hopes that the question will come.
 */
function discardTypeAhead(input: ReadStream): void {
  // In raw mode a line that was not ended yet can be read too, and nothing that arrives is held back.
  input.setRawMode(true);
  const fd = openTty(constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const chunk = Buffer.allocUnsafe(4096);
    for (let total = 0; total < TYPED_AHEAD_BYTES; ) {
      const count = readWaiting(fd, chunk);
      if (count === 0) {
        if (input.readableLength > 0) input.read();
        return;
      }
      total += count;
    }
  } finally {
    closeSync(fd);
  }
  refuse('CONFIRMATION_DECLINED', 'Something types without end.');
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
async function readLine(
  input: ReadStream,
  output: WriteStream,
  question: string,
  echo: boolean,
  abort?: AbortSignal,
): Promise<string> {
  if (abort?.aborted || input.destroyed || input.readableEnded) throw nothingTyped();
  discardTypeAhead(input);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: echo ? output : silent, terminal: true, historySize: 0 });
  return new Promise((resolve, reject) => {
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
    // The question is written by hand where nothing is echoed, because then readline writes nothing at all.
    if (!echo) output.write(question);
    lines.question(echo ? question : '', (line) => {
      answered = true;
      abort?.removeEventListener('abort', giveUp);
      lines.close();
      if (!echo) output.write('\n');
      resolve(line);
    });
  });
}

function nothingTyped(): Refusal {
  return new Refusal('CONFIRMATION_DECLINED', 'Nothing was typed.');
}
