import { closeSync, openSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { ReadStream, WriteStream } from 'node:tty';
import { Refusal, refuse } from '../refusal.ts';

/** The human's terminal. Never standard input: whoever pipes into Keyturn is not the human at the keyboard. */
export interface Terminal {
  /** Shows the question and returns the line that was typed. An abort while it waits is no answer. */
  ask(question: string, abort?: AbortSignal): Promise<string>;
  /** The same without an echo. */
  askSecret(question: string): Promise<string>;
  write(text: string): void;
  close(): void;
}

export function openTerminal(): Terminal {
  const fd = openTty();
  const input = new ReadStream(fd);
  const output = new WriteStream(fd);
  return {
    ask: (question, abort) => readLine(input, output, question, true, abort),
    askSecret: (question) => readLine(input, output, question, false),
    write: (text) => void output.write(text),
    close: () => {
      input.destroy();
      output.destroy();
    },
  };
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

function openTty(): number {
  try {
    return openSync('/dev/tty', 'r+');
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

/** One line. The end of input or Ctrl-C is no answer, and no answer is a refusal. */
function readLine(
  input: ReadStream,
  output: WriteStream,
  question: string,
  echo: boolean,
  abort?: AbortSignal,
): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: echo ? output : silent, terminal: true, historySize: 0 });
  return new Promise((resolve, reject) => {
    let answered = false;
    const giveUp = () => {
      if (answered) return;
      answered = true;
      lines.close();
      output.write('\n');
      reject(new Refusal('CONFIRMATION_DECLINED', 'Nothing was typed.'));
    };
    lines.once('SIGINT', giveUp);
    lines.once('close', giveUp);
    abort?.addEventListener('abort', giveUp, { once: true });
    // The question is written by hand where nothing is echoed, because then readline writes nothing at all.
    if (!echo) output.write(question);
    lines.question(echo ? question : '', (line) => {
      answered = true;
      lines.close();
      if (!echo) output.write('\n');
      resolve(line);
    });
  });
}
