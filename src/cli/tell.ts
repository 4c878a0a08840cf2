import { visible } from '../canonical/visible.ts';
import { jsonLine } from '../lane/visible.ts';
import { explain, Refusal } from '../refusal.ts';
import type { Answer } from './answer.ts';
import { say } from './say.ts';

/** Prints an answer in the form that was asked for and returns the exit code. */
export function tell(command: string, answer: Answer, json: boolean): number {
  const { refusal, lines, result, notes = [], is_plain = false, exit_code = 0 } = answer;
  if (json) say(1, jsonLine(refusal ? problem(command, refusal, result) : { ok: true, command, result }));
  else {
    if (lines.length > 0) say(1, lines);
    if (notes.length > 0) say(2, notes);
    if (refusal) say(2, is_plain ? errorLine(refusal) : reasonLine(refusal));
  }
  return refusal ? 1 : exit_code;
}

/** An error of a command: one line on stderr. */
export function tellError(command: string, error: unknown, json: boolean): 1 {
  const refusal = refusalFrom(error);
  if (json) say(1, jsonLine(problem(command, refusal, {})));
  else say(2, errorLine(refusal));
  return 1;
}

/** What was not foreseen is a refusal too: short, and without a stack trace. */
export function refusalFrom(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new Refusal('INTERNAL', `Keyturn failed: ${message.slice(0, 300)}`);
}

function problem(command: string, { code, message, facts }: Refusal, more: object): object {
  const { number, advice } = explain(code);
  return { ok: false, command, code, number, message, advice, facts: { ...facts, ...more } };
}

function errorLine({ code, message }: Refusal): string {
  const { number, advice } = explain(code);
  return `[ERROR] ${visible(message)} (${code} ${number}) ${advice}`;
}

function reasonLine({ code, message }: Refusal): string {
  return `${code}: ${visible(message)} ${explain(code).advice}`;
}
