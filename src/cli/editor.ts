import { closeSync, constants, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type JsonObject, parseJson } from '../canonical/json.ts';
import { visible } from '../canonical/visible.ts';
import { runEditor } from '../keyturn.ts';
import { limits } from '../limits.ts';
import { explain, Refusal, refuse } from '../refusal.ts';
import { readInput } from './input.ts';
import { saysYes, tellAt } from './question.ts';
import { atTerminal } from './terminal.ts';

/**
 * Gives a value to the editor of the person at the terminal, as JSON, and reads what they made of it. What `take` refuses as not valid
 * can be edited again, as it was left.
 */
export async function edited<T>(value: JsonObject, take: (made: JsonObject) => Promise<T>): Promise<T> {
  const editor = process.env.VISUAL || process.env.EDITOR;
  if (!editor) refuse('USAGE', 'Say what changes with --arg, --plan or --goal, or set $EDITOR.');
  const terminal = openTerminal();
  // A folder that only its owner can enter: other users of this machine may not be meant to read what is proposed.
  const folder = mkdtempSync(join(tmpdir(), 'keyturn-edit-'));
  const path = join(folder, 'edit.json');
  try {
    writeFileSync(path, textOf(value), { mode: 0o600, flag: 'wx' });
    for (let left = limits.tries - 1; ; left -= 1) {
      if (!(await runEditor(editor, path, terminal)))
        refuse('CONFIRMATION_DECLINED', 'The editor ended with an error, so nothing was changed.');
      try {
        return await take(requireObject(parseJson(readInput(path, limits.json_bytes), limits.json_bytes)));
      } catch (error) {
        if (left === 0 || !(await isEditedAgain(error))) throw error;
      }
    }
  } finally {
    closeSync(terminal);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Asked where it is the text that is refused: what else stands against the act, no other text mends. */
async function isEditedAgain(error: unknown): Promise<boolean> {
  if (!(error instanceof Refusal) || explain(error.code).category !== 'VALIDATION_ERROR') return false;
  return atTerminal((terminal) => {
    tellAt(terminal, `${visible(error.message)} ${error.advice}`);
    return saysYes(terminal, 'Edit it again? (y/n)');
  });
}

function openTerminal(): number {
  try {
    return openSync('/dev/tty', constants.O_RDWR | constants.O_NOCTTY);
  } catch {
    return refuse('NO_TERMINAL');
  }
}

/** Editors obey what stands in the first or last lines of a file. An agent wrote these values: they stand in none of them. */
const AWAY = '\n'.repeat(12);
/** Emacs obeys the lines after this, which it looks for in the last 3000 characters. Escaped as JSON may be, it does not find it. */
const OBEYED = /l(?=ocal variables:)/gi;

function textOf(value: JsonObject): string {
  const lines = JSON.stringify(value, null, 2).split('\n');
  const text = lines.map((line) => escaped(line).replace(OBEYED, unitsOf)).join('\n');
  return `${AWAY}${text}\n${AWAY}`;
}

/** What is invisible is written as JSON escapes it. */
function escaped(line: string): string {
  return [...line].map((one) => (visible(one) === one ? one : unitsOf(one))).join('');
}

function unitsOf(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}

function requireObject(value: unknown): JsonObject {
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    refuse('SHAPE_INVALID', 'What was saved is not a JSON object.');
  return value as JsonObject;
}
