import { until } from './processes.ts';
import { inTerminal, type Where } from './pty.ts';

const PASSPHRASE = 'seven lanterns under the harbour';

/** What a person types, by what stands before the cursor. */
const ANSWERS: readonly (readonly [RegExp, string])[] = [
  [/(passphrase|same again)[^\n]*: $/i, PASSPHRASE],
  [/\(y\/n\) $/, 'y'],
];

/** Runs commands in a real terminal, with a person who answers what they are asked. Stops at the first that fails. */
export async function inShell(commands: string, where: Where): Promise<{ code: number; text: string }> {
  const session = inTerminal(['-euo', 'pipefail', '-c', commands], {
    rows: 500,
    ...where,
    program: '/bin/bash',
  });
  let code: number | null = null;
  void session.exited.then((ended) => {
    code = ended;
  });
  let answered = 0;
  try {
    await until(() => {
      const { text } = session;
      const [, answer] = ANSWERS.find(([question]) => question.test(text.slice(answered))) ?? [];
      if (answer !== undefined) {
        answered = text.length;
        session.type(answer);
      }
      return code !== null;
    });
    return { code: code!, text: session.text };
  } finally {
    session.kill();
  }
}
