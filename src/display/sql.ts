import { type Danger, type Statement, statementsOf } from '../effect/sql/statement.ts';
import type { SqlStep } from '../plan/model.ts';
import { Refusal } from '../refusal.ts';
import { type Alarm, block, derived, line, type Piece, registry, type Shown, worded } from './shown.ts';
import { alarm } from './tool.ts';

/** What SQL takes away, by statement: `2: drop table customers`. */
export function sqlAlarms(text: string): Alarm[] {
  const dangers = dangersIn(text);
  if (dangers === null)
    return [alarm('unseen', 'UNREADABLE SQL: what its statements do cannot be told from its text')];
  return (Object.keys(WORDS) as Danger[]).flatMap((danger) => {
    const found = dangers.filter((statement) => statement.danger === danger);
    if (found.length === 0) return [];
    const [kind, words] = WORDS[danger];
    return [
      alarm(
        kind,
        words,
        found.flatMap((statement, i) => aboutOf(statement, i > 0)),
      ),
    ];
  });
}

const WORDS: Readonly<Record<Danger, readonly [Alarm['alarm'], string]>> = {
  drop: ['drop', 'DROPS what a database holds'],
  truncate: ['truncate', 'EMPTIES a table'],
  delete: ['delete-all', 'DELETES EVERY ROW: no WHERE limits it'],
  update: ['update-all', 'CHANGES EVERY ROW: no WHERE limits it'],
  replace: ['replace', 'REPLACES what a database holds'],
};

/** The text was read when the effect was derived. One that cannot be read now is said, not guessed. */
function dangersIn(text: string): readonly Statement[] | null {
  try {
    return statementsOf(text);
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

const STATEMENT_CHARS = 80;

/** Enough of it to be found again: the whole text is shown below. */
function aboutOf({ number, text }: Statement, follows: boolean): Piece[] {
  const one_line = text.replace(/\s+/g, ' ');
  const start = one_line.length > STATEMENT_CHARS ? `${one_line.slice(0, STATEMENT_CHARS)}…` : one_line;
  return [...(follows ? [derived('; ')] : []), derived(`statement ${number}, ${start}`)];
}

/** A step of a pipeline. */
export function showSqlStep({ file, text, database, sha256 }: SqlStep): Shown {
  return {
    kind: 'sql',
    headline: line('SQL', [
      derived('of '),
      worded(file, 'registry'),
      derived(' on '),
      worded(database, 'registry'),
    ]),
    alarms: sqlAlarms(text),
    fields: [line('SHA-256', [derived(sha256)], 'dim')],
    blocks: [block('sql', [registry(file)], text, 'registry')],
    parts: [],
  };
}
