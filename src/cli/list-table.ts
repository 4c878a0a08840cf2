import { visible } from '../canonical/visible.ts';
import type { CapabilityWord, ConversationStatus, Result, StatusWord } from '../keyturn.ts';
import { folded, inColumn, textWidth } from './fold.ts';
import type { Paint } from './paint.ts';
import { ageOf, painted } from './status-word.ts';

export interface TableLook {
  readonly now: Date;
  readonly paint: Paint;
  /** Undefined where nothing has to fit: there is no terminal. */
  readonly columns: number | undefined;
}

/** Where fewer characters fit in a line, each takes several lines. */
const TABLE_COLUMNS = 60;
/** The same where the ids leave fewer than this for tool, name and goal. */
const LEAST_ROOM = 24;
/** The most of the room that is left which the tool and the name take, where the goal needs it. */
const SHARES = [0.3, 0.2] as const;

/** What a line of a list tells. */
interface Line {
  /** Under a heading of its own each; short where others are told from it. */
  readonly ids: readonly string[];
  readonly status_word: StatusWord | CapabilityWord | ConversationStatus;
  readonly at: string;
  readonly tool: string;
  /** Whose it is, under the last heading but one. */
  readonly name: string;
  readonly goal: string | null;
}

interface Headings {
  readonly ids: readonly string[];
  /** `by` a person or an agent, `on` a host, or `for` a user. */
  readonly name: 'by' | 'on' | 'for';
  readonly tool?: 'simulation';
}

/** One line for each intent, in columns. */
export function intentLines(intents: readonly Intent[], look: TableLook): string[] {
  const lines = intents.map(({ intent_id, proposed_at: at, proposer: name, ...rest }) => ({
    ...rest,
    ids: [intent_id],
    at,
    name,
  }));
  return listLines({ ids: ['ID'], name: 'by' }, lines, look);
}

type Intent = Pick<
  Result<'intents.list'>['intents'][number],
  'intent_id' | 'status_word' | 'proposed_at' | 'tool' | 'proposer' | 'goal'
>;

/** One line for each, in columns. Tool, name and goal give way, so that each line fits the terminal. */
export function listLines(headings: Headings, lines: readonly Line[], look: TableLook): string[] {
  const { now, paint, columns } = look;
  const short = headings.ids.map((_, i) => shortIds(lines.map(({ ids }) => ids[i]!)));
  const rows = lines.map(({ ids, status_word, at, tool, name, goal }) => [
    ...ids.map((id, i) => visible(short[i]!(id))),
    status_word,
    ageOf(at, now),
    visible(tool),
    visible(name),
    goal === null ? '(not readable)' : visible(goal),
  ]);
  const { tool: of = 'tool', name: by } = headings;
  const head = [...headings.ids, 'STATUS', 'AGE', of.toUpperCase(), by.toUpperCase(), 'GOAL'];
  const widths = fitting([head, ...rows], columns);
  if (widths === null) return rows.flatMap((row, i) => narrow(headings, row, lines[i]!, look));
  const line = (row: readonly string[], style: (text: string, i: number) => string) =>
    row
      .map((text, i) => style(inColumn(text, widths[i]!), i))
      .join('  ')
      .trimEnd();
  const styled =
    ({ status_word }: Line) =>
    (text: string, i: number) => {
      if (i === headings.ids.length) return text.replace(status_word, () => painted(status_word, paint));
      return i === head.length - 1 ? paint('bold', text.trimEnd()) : text;
    };
  return [
    paint(
      'dim',
      line(head, (text) => text),
    ),
    ...rows.map((row, i) => line(row, styled(lines[i]!))),
  ];
}

/** Null where a row takes several lines. */
function fitting(rows: readonly (readonly string[])[], columns: number | undefined): number[] | null {
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => textWidth(row[i]!))));
  const gaps = 2 * (widths.length - 1);
  if (columns === undefined) return widths;
  const fixed = widths.slice(0, -3);
  const room = columns - 1 - gaps - sum(fixed);
  if (columns < TABLE_COLUMNS || room < LEAST_ROOM) return null;
  if (sum(widths) + gaps < columns) return widths;
  const kept = widths
    .slice(-3, -1)
    .map((one, i) => Math.min(one, Math.max(5, Math.floor(room * SHARES[i]!))));
  return [...fixed, ...kept, room - sum(kept)];
}

const sum = (widths: readonly number[]) => widths.reduce((total, one) => total + one, 0);

function narrow(
  headings: Headings,
  row: readonly string[],
  { status_word }: Line,
  { paint, columns = TABLE_COLUMNS }: TableLook,
): string[] {
  const ids = row.slice(0, headings.ids.length);
  const [, age = '', tool = '', name = '', goal = ''] = row.slice(headings.ids.length);
  return [
    `${ids[0]} ${painted(status_word, paint)} ${age}`,
    ...ids.slice(1).map((id, i) => `  ${headings.ids[i + 1]!.toLowerCase()} ${id}`),
    `  ${tool} ${headings.name} ${name}`,
    `  ${paint('bold', goal)}`,
  ].flatMap((line) => folded(line, columns, 4));
}

const SHORT = 8;

/** The first 8 characters of an id, or as many as tell it from the others that are shown. */
export function shortIds(ids: readonly string[]): (id: string) => string {
  return (id) => {
    let length = SHORT;
    // The id of a conversation can be the beginning of another one: whole, it is meant before that one.
    while (length < id.length && ids.some((other) => other !== id && other.startsWith(id.slice(0, length))))
      length += 1;
    return id.slice(0, length);
  };
}
