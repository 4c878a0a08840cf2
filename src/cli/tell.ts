import { visible } from '../canonical/visible.ts';
import { jsonLine } from '../lane/visible.ts';
import { explain, Refusal } from '../refusal.ts';
import type { Answer } from './answer.ts';
import { foldedOn } from './fold.ts';
import { say } from './say.ts';

/** Prints an answer in the form that was asked for and returns the exit code. */
export function tell(command: string, answer: Answer, json: boolean): number {
  const { refusal, lines, result, here, notes = [], is_plain = false, exit_code = 0 } = answer;
  const yes = { ok: true, command, result, ...(here && { here }) };
  if (json) say(1, jsonLine(refusal ? problem(command, refusal, answer) : yes));
  else {
    if (lines.length > 0) say(1, onScreen(command, lines));
    if (notes.length > 0) warn(notes);
    if (refusal) warn([is_plain ? errorLine(refusal) : reasonLine(refusal)]);
  }
  return refusal ? 1 : exit_code;
}

/** An error of a command: one line on stderr. */
export function tellError(command: string, error: unknown, json: boolean): 1 {
  const refusal = refusalFrom(error);
  if (json) say(1, jsonLine(problem(command, refusal, { result: null, lines: [] })));
  else warn([...saidLines(refusal), errorLine(refusal)]);
  return 1;
}

/** What another program said before it failed, each line behind a mark: no word of it is ours. */
function saidLines({ facts: { said } }: Refusal): string[] {
  return typeof said === 'string' ? said.split('\n').map((line) => `│ ${visible(line)}`) : [];
}

function warn(lines: readonly string[]): void {
  say(2, foldedOn(process.stderr, lines));
}

/** Their lines are for a program or to be copied, are the output of a tool, or stay as 000 and 001 say them. */
const EXACT: ReadonlySet<string> = new Set([
  'check',
  'run',
  'wait',
  'hook',
  'completion',
  'mcp config',
  'simulation new',
  'ledger head',
  'ledger export',
  'ledger prove',
]);

/** A command to copy stays in one line. */
function onScreen(command: string, lines: readonly string[]): readonly string[] {
  if (EXACT.has(command)) return lines;
  return lines.flatMap((line) => (/(^|: +)keyturn /.test(line) ? [line] : foldedOn(process.stdout, [line])));
}

/** What was not foreseen is a refusal too: short, and without a stack trace. */
export function refusalFrom(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new Refusal('INTERNAL', `Keyturn failed: ${message.slice(0, 300)}`);
}

function problem(
  command: string,
  { code, message, facts }: Refusal,
  { result, lines, is_decision = false }: Answer,
): object {
  const { number, advice } = explain(code);
  return {
    ok: false,
    command,
    code,
    number,
    message,
    advice,
    facts: is_decision ? { ...facts, lines } : facts,
    ...(result && { result }),
  };
}

function errorLine({ code, message }: Refusal): string {
  const { number, advice } = explain(code);
  return `[ERROR] ${visible(message)} (${code} ${number}) ${advice}`;
}

function reasonLine({ code, message }: Refusal): string {
  return `${code}: ${visible(message)} ${explain(code).advice}`;
}
