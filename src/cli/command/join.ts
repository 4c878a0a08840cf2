import { visible } from '../../canonical/visible.ts';
import { type JoinedLedger, joinLedger } from '../../keyturn.ts';
import type { Answer, Call } from '../answer.ts';
import { folderOf } from '../project.ts';
import { requireConfirmed } from '../question.ts';
import type { Result } from '../schema.ts';
import { fields } from '../table.ts';
import { atTerminal, type Terminal } from '../terminal.ts';

/** So many characters of the fingerprint are typed: enough that no other key with the same ones can be found. */
const TYPED = 16;

/** A further host joins a shared ledger. The human compares, because nothing on this host knows which ledger is right. */
export async function join(call: Call): Promise<Answer> {
  const at = folderOf(call);
  const { root: project, ...ledger } = await atTerminal((terminal) =>
    joinLedger({ at, confirm: (found) => confirmLedger(terminal, found) }),
  );
  const result: Result<'store join'> = { project, ...ledger };
  return {
    result,
    lines: [
      `[OK] ${visible(project)} has joined ${visible(ledger.origin)}`,
      `Ledger key: ${ledger.ledger_key}`,
      `Executor key: ${ledger.executor_key}`,
      'To run something here, a human adds that key: `keyturn executor add KEY --reason …` where their key file is.',
    ],
  };
}

/** The human types the beginning of the fingerprint that the owner of the ledger told them. */
export async function confirmLedger(
  terminal: Terminal,
  { store, origin, founder, ledger_key, entries }: JoinedLedger,
): Promise<boolean> {
  await requireFingerprint(terminal, ledger_key, [
    ['Store', visible(store)],
    ['Ledger', visible(origin)],
    ['Founded by', `${visible(founder.name)}, key ${founder.key}`],
    ['Entries', String(entries)],
  ]);
  return true;
}

/** The human compares the key of a ledger with what its owner told them, by typing the beginning of its fingerprint. */
export async function requireFingerprint(
  terminal: Terminal,
  ledger_key: string,
  found: readonly (readonly [string, string])[],
): Promise<void> {
  const lines = fields([...found, ['Ledger key', ledger_key]]);
  terminal.write(
    `${[...lines, 'On the first host, `keyturn ledger verify` prints the ledger key.'].join('\n')}\n`,
  );
  const begin = ledger_key.slice('sha256:'.length).slice(0, TYPED);
  await requireConfirmed(terminal, QUESTION, { isAnswer: (typed) => typed === begin, wrong: NOT_THE_SAME });
}

const QUESTION = `The first ${TYPED} characters behind "sha256:", as the owner of the ledger told you: `;
const NOT_THE_SAME = 'What was typed is not the beginning of the fingerprint.';
