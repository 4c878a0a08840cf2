import { appendFileSync, closeSync, fstatSync, mkdirSync, openSync, readSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Recent } from '../canonical/recent.ts';
import type { CallMarks } from '../journey/call-marks.ts';
import { limits, mcpLimits } from '../limits.ts';

type Mark = { readonly call: string; readonly intent: string } | { readonly answered: string };

/**
 * Marks of calls in a file that several processes append to. What it says is found again in the ledger if it is lost, only slower; and an
 * answer whose mark is lost is given again in place of a second run. So it is not synced.
 */
export function callMarks(path: string): CallMarks {
  const last = new Recent<string, string>(limits.remembered_claims);
  const answered = new Recent<string, true>(limits.remembered_claims);
  let read = 0;
  const take = (mark: Mark) => {
    if ('answered' in mark) answered.set(mark.answered, true);
    else last.set(mark.call, mark.intent);
  };
  const catchUp = () => {
    const { text, end } = readFrom(path, read);
    read = end;
    for (const line of text.split('\n')) if (line !== '') take(markIn(line));
  };
  const add = (mark: Mark) => {
    catchUp();
    take(mark);
    append(path, `${JSON.stringify(mark)}\n`);
  };
  return {
    last: (call) => {
      catchUp();
      return last.get(call) ?? null;
    },
    began: (call, intent) => {
      if (last.get(call) !== intent) add({ call, intent });
    },
    answered: (intent) => add({ answered: intent }),
    isAnswered: (intent) => {
      catchUp();
      return answered.get(intent) !== undefined;
    },
  };
}

/** A line that is none, because a process died while it wrote it, marks nothing. */
function markIn(line: string): Mark {
  try {
    const value = JSON.parse(line) as Partial<{ call: string; intent: string; answered: string }>;
    if (typeof value.answered === 'string') return { answered: value.answered };
    return { call: String(value.call), intent: String(value.intent) };
  } catch {
    return { call: '', intent: '' };
  }
}

/** What was appended since, whole lines only. A file that became shorter was begun anew: all of it counts. */
function readFrom(path: string, from: number): { readonly text: string; readonly end: number } {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    return { text: '', end: 0 };
  }
  try {
    const { size } = fstatSync(fd);
    const start = size < from ? 0 : from;
    if (size === start) return { text: '', end: size };
    const bytes = Buffer.alloc(size - start);
    readSync(fd, bytes, 0, bytes.length, start);
    const whole = bytes.lastIndexOf(0x0a) + 1;
    return { text: bytes.toString('utf8', 0, whole), end: start + whole };
  } finally {
    closeSync(fd);
  }
}

function append(path: string, line: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const is_full = sizeOf(path) > mcpLimits.marks_bytes;
    // The marks of long ago are not needed: what is open or unread is found in the ledger.
    if (is_full) writeFileSync(path, line, { mode: 0o600 });
    else appendFileSync(path, line, { mode: 0o600 });
  } catch {
    // A disk that is full refuses no call for this.
  }
}

function sizeOf(path: string): number {
  try {
    const fd = openSync(path, 'r');
    try {
      return fstatSync(fd).size;
    } finally {
      closeSync(fd);
    }
  } catch {
    return 0;
  }
}
