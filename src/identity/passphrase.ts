import { isUtf8 } from 'node:buffer';
import { clearableBytes, clearableCopy } from '../canonical/clearable.ts';
import { isUtf8Continuation } from '../canonical/json.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';

/** Bytes are cleared by the call that takes them, also when it refuses. A string stays in memory until V8 reuses its place. */
export type Passphrase = string | Uint8Array;

/** Clears the passphrase when the act ends, however it ends. */
export async function forgetting<T>(passphrase: Passphrase, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } finally {
    if (typeof passphrase !== 'string') passphrase.fill(0);
  }
}

/** The bytes that a key is derived from: UTF-8 in NFC, so that every keyboard gives the same. A copy, cleared after the act. */
export async function withBytes<T>(passphrase: Passphrase, act: (bytes: Buffer) => Promise<T>): Promise<T> {
  const given = typeof passphrase === 'string' ? Buffer.from(passphrase) : clearableCopy(passphrase);
  const bytes = composed(given);
  return forgetting(bytes, () => act(bytes));
}

/** Whose passphrase it is to be: names that are tried first when it is guessed. */
export interface Chooser {
  readonly name: string;
  /** The name of the project's folder. */
  readonly project: string;
}

/** Refuses a passphrase that is guessed early. No message holds a part of it. */
export async function requirePassphrase(passphrase: Passphrase, chooser: Chooser): Promise<void> {
  await withBytes(passphrase, async (bytes) => {
    if (lettersIn(bytes) < limits.passphrase_chars_min)
      refuse('PASSPHRASE_WEAK', `The passphrase has fewer than ${limits.passphrase_chars_min} characters.`);
    const { guessesOf } = await import('./guess.ts'); // with its list, which no other command needs
    if (guessesOf(bytes, namesOf(chooser)) < limits.passphrase_guesses_log10)
      refuse(
        'PASSPHRASE_WEAK',
        'The passphrase is made of common words, names, repetitions or sequences, and is guessed early.',
      );
  });
}

/** Whole names and their parts. A part of two letters is in too many words. */
function namesOf({ name, project }: Chooser): string[] {
  const parts = [name, project, 'keyturn'].flatMap((whole) => [whole, ...whole.split(/[^\p{L}\p{N}]+/u)]);
  return parts.filter((part) => part.length > 2);
}

function lettersIn(bytes: Uint8Array): number {
  return bytes.reduce((count, byte) => (isUtf8Continuation(byte) ? count : count + 1), 0);
}

/** Clears what it is given, also when it refuses. */
function composed(bytes: Buffer): Buffer {
  try {
    if (bytes.length > limits.passphrase_bytes)
      refuse('INPUT_TOO_LARGE', `The passphrase has more than ${limits.passphrase_bytes} bytes.`);
    if (!isUtf8(bytes)) refuse('INPUT_NOT_UTF8', 'The passphrase is not valid UTF-8.');
    return composedBytes(bytes);
  } finally {
    bytes.fill(0);
  }
}

/** UTF-8 grows by this factor at most when it is brought to NFC (UAX 15). */
const GROWTH = 3;

/**
 * Piece by piece, a letter with its marks: normalisation needs strings, which cannot be cleared, and so none of them holds
 * more of the passphrase than that.
 */
function composedBytes(bytes: Buffer): Buffer {
  const made = clearableBytes(bytes.length * GROWTH);
  let length = 0;
  for (let at = 0; at < bytes.length; ) {
    const end = endOfPiece(bytes, at);
    if (end === at + 1) made[length++] = bytes[at]!;
    else length += made.write(bytes.toString('utf8', at, end).normalize('NFC'), length);
    at = end;
  }
  const exact = clearableCopy(made.subarray(0, length));
  made.fill(0);
  return exact;
}

function endOfPiece(bytes: Buffer, from: number): number {
  let end = endOfLetter(bytes, from);
  while (end < bytes.length && bytes[end]! >= 0x80) {
    const next = endOfLetter(bytes, end);
    if (!JOINS.test(bytes.toString('utf8', end, next))) break;
    end = next;
  }
  return end;
}

function endOfLetter(bytes: Buffer, from: number): number {
  let end = from + 1;
  while (end < bytes.length && isUtf8Continuation(bytes[end]!)) end += 1;
  return end;
}

/** What can become one letter with what stands before it: marks, and the vowels and endings of Hangul. */
const JOINS = /^[\p{M}\u1160-\u11ff]$/u;
