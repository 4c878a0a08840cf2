import { visible } from '../canonical/visible.ts';
import type { OnOutput, Progress } from '../keyturn.ts';
import { cliLimits } from '../limits.ts';
import type { Call } from './answer.ts';
import { COLUMNS, folded } from './fold.ts';
import { say } from './say.ts';

/** What is shown of a run while it goes on, on standard error and for a person only. */
export interface Live {
  readonly on: { readonly onProgress?: (progress: Progress) => void; readonly onOutput?: OnOutput };
  /** Shows a last line that has no end. */
  end(): void;
}

/** A plan says how far it is in one line that is gone when it ends; a tool shows its output line by line. */
export function liveOf({ options }: Call): Live | null {
  if (options.json || !process.stderr.isTTY) return null;
  // A terminal that hangs up must not end a run half way.
  process.stderr.on('error', () => {});
  const write = (text: string) => void process.stderr.write(text);
  const lines = new OutputLines((line) => {
    const rows = folded(`${MARGIN}${visible(line)}`, process.stderr.columns || COLUMNS, MARGIN.length);
    write(`${rows.join('\n')}\n`);
  });
  return {
    on: {
      onProgress: ({ done, of, what }) =>
        write(what === 'done' ? '\r\x1b[K' : `\r\x1b[K[${done}/${of}] ${visible(what)}`),
      onOutput: (chunk, stream) => lines.take(chunk, stream),
    },
    end: () => lines.end(),
  };
}

/** No line of a tool looks like one of ours. */
const MARGIN = '│ ';

/** Makes lines of bytes as they come, for each stream by itself. */
export class OutputLines {
  readonly #show: (line: string) => void;
  readonly #rest = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };

  constructor(show: (line: string) => void) {
    this.#show = show;
  }

  take(chunk: Uint8Array, stream: 'stdout' | 'stderr'): void {
    let rest = Buffer.concat([this.#rest[stream], chunk]);
    for (let end = endOf(rest); end !== -1; end = endOf(rest)) {
      this.#show(rest.toString('utf8', 0, end).replace(/\r?\n$/, ''));
      rest = rest.subarray(end);
    }
    this.#rest[stream] = Buffer.from(rest);
  }

  end(): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      if (this.#rest[stream].length > 0) this.#show(this.#rest[stream].toString('utf8'));
      this.#rest[stream] = Buffer.alloc(0);
    }
  }
}

/** Behind the first line; -1 where it goes on. */
function endOf(bytes: Buffer): number {
  const feed = bytes.indexOf(0x0a);
  if (feed !== -1 && feed < cliLimits.live_line_bytes) return feed + 1;
  return bytes.length < cliLimits.live_line_bytes ? -1 : cliLimits.live_line_bytes;
}

/** Says how far it is. What cannot be written must not end a run half way: the answer at its end says no by itself. */
export function sayStep(call: Call, lines: readonly string[]): void {
  if (call.options.json || lines.length === 0) return;
  try {
    say(1, lines);
  } catch {
    // The last lines cannot be written either, and that is an error.
  }
}
