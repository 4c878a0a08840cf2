import { type CheckAnswer, checkEligibility, type Verifier } from '../lane/check.ts';
import { queueFolder } from '../lane/folder.ts';
import { reasonLine, reasonOf, type ShownReason } from '../lane/reason.ts';
import { jsonLine } from '../lane/visible.ts';
import { Refusal, refuse } from '../refusal.ts';
import type { LaneAnswer } from './lane-schema.ts';
import { say } from './say.ts';

interface Question {
  readonly id: string;
  readonly hash: string;
  readonly queue: string;
  readonly verifier: string | null;
}

/** `keyturn lane check`: the controller of 000 on the plain files. Returns the exit code. */
export async function laneCheck(words: readonly string[]): Promise<number> {
  const json = words.includes('--json');
  const verdict = await answer(words);
  const reason = verdict.code === null ? null : reasonOf({ code: verdict.code, message: verdict.message });
  say(1, json ? jsonLine(asJson(verdict, reason)) : verdict.line);
  if (reason !== null && !json) say(2, reasonLine(reason));
  return verdict.ok ? 0 : 1;
}

async function answer(words: readonly string[]): Promise<CheckAnswer> {
  try {
    const { id, hash, queue, verifier } = parse(words);
    return await checkEligibility(queueFolder(queue), { id, hash }, await external(verifier));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { code, message } = reasonOf(error);
    return { ok: false, line: `[ERROR] ${message}`, code, message, executed_at: null };
  }
}

/** Loaded only when asked for: an external verifier is a child process. */
async function external(command: string | null): Promise<Verifier | undefined> {
  if (command === null) return undefined;
  const { externalVerifier } = await import('../lane/verifier.ts');
  return externalVerifier(command);
}

/** By hand, because the command parser would cost more than the check. Unknown and repeated words are refused. */
function parse(words: readonly string[]): Question {
  const options = new Map<string, string>();
  const operands: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as string;
    if (word === '--json') continue;
    if (!word.startsWith('-')) {
      operands.push(word);
      continue;
    }
    const [name = '', inline] = splitOption(word);
    if (!OPTIONS.has(name)) refuse('USAGE', `lane check knows no option ${JSON.stringify(name)}.`);
    if (options.has(name)) refuse('USAGE', `The option ${name} is given twice.`);
    const value = inline ?? words[++i];
    if (value === undefined || value === '') refuse('USAGE', `The option ${name} needs a value.`);
    options.set(name, value);
  }
  return question(operands, options);
}

// `--registry` is taken so that check and run accept the same words. It is never opened here (000, precondition 4).
const OPTIONS: ReadonlySet<string> = new Set(['--queue', '--verifier', '--registry']);

function splitOption(word: string): [string, string | undefined] {
  const equals = word.indexOf('=');
  return equals === -1 ? [word, undefined] : [word.slice(0, equals), word.slice(equals + 1)];
}

function question(operands: readonly string[], options: ReadonlyMap<string, string>): Question {
  const [id, hash] = operands;
  if (id === undefined || hash === undefined || operands.length > 2)
    refuse('USAGE', 'lane check takes one id and one hash, and nothing else.');
  const queue = options.get('--queue');
  if (queue === undefined) refuse('USAGE', 'lane check needs --queue DIR.');
  return { id, hash, queue, verifier: options.get('--verifier') ?? null };
}

function asJson({ ok, line, executed_at }: CheckAnswer, reason: ShownReason | null): LaneAnswer<'check'> {
  if (ok) return { ok, line, code: null, message: null, advice: null, executed_at: null };
  const { code, message, advice } = reason ?? reasonOf(new Refusal('INTERNAL'));
  return { ok, line, code, message, advice, executed_at };
}
