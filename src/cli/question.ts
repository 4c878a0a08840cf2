import { limits } from '../limits.ts';
import { type ReasonCode, Refusal, refuse } from '../refusal.ts';
import { fitted } from './fold.ts';
import type { Terminal } from './terminal.ts';

/** A line at the terminal of the person who answers, folded as it fits. */
export function tellAt(terminal: Pick<Terminal, 'write' | 'columns'>, line: string): void {
  terminal.write(
    fitted(line, terminal.columns)
      .map((row) => `${row}\n`)
      .join(''),
  );
}

/** Asks a few times at most, where it is one of these that is refused. */
export async function withTries<T>(
  terminal: Pick<Terminal, 'write' | 'columns'>,
  again: readonly ReasonCode[],
  ask: () => Promise<T>,
): Promise<T> {
  for (let left = limits.tries - 1; ; left -= 1) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Refusal && again.includes(error.code)) || left === 0) throw error;
      tellAt(terminal, `${error.message} ${error.advice}`);
    }
  }
}

interface Expected {
  readonly isAnswer: (typed: string) => boolean;
  /** What is said to anything else, before it is asked again. */
  readonly wrong: string;
  readonly abort?: AbortSignal;
}

/** What was typed, where it is an answer: anything else is asked again. The end of input, Ctrl-C and an abort end it at once. */
export function typedAnswer(
  terminal: Terminal,
  question: string,
  { isAnswer, wrong, abort }: Expected,
): Promise<string> {
  return withTries(terminal, ['CONFIRMATION_WRONG'], async () => {
    const typed = (await terminal.ask(question, abort)).trim();
    return isAnswer(typed) ? typed : refuse('CONFIRMATION_WRONG', wrong);
  });
}

/** What has to be typed before it is done. Such a question has no other no than Enter. */
export async function requireConfirmed(
  terminal: Terminal,
  question: string,
  { isAnswer, ...expected }: Expected,
): Promise<void> {
  const isEnded = (typed: string) => typed === '' || isAnswer(typed);
  const typed = await typedAnswer(terminal, question, { ...expected, isAnswer: isEnded });
  if (typed === '') refuse('CONFIRMATION_DECLINED');
}

/** The answer to a question that ends with (y/n). Enter is a no. What is neither is asked again, and then it is a no. */
export async function saysYes(terminal: Terminal, question: string, abort?: AbortSignal): Promise<boolean> {
  const expected = { isAnswer: isYesOrNo, wrong: 'That is neither y nor n.', ...(abort && { abort }) };
  try {
    return /^y/i.test(await typedAnswer(terminal, `${question} `, expected));
  } catch (error) {
    if (error instanceof Refusal && error.code === 'CONFIRMATION_WRONG') return false;
    throw error;
  }
}

const isYesOrNo = (typed: string) => /^(y|yes|n|no|)$/i.test(typed);
