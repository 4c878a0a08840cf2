import { unmixed } from '../canonical/alphabet.ts';
import {
  type Alarm,
  type Block,
  hunkLines,
  type Line,
  type Piece,
  type Shown,
  type Weight,
} from '../keyturn.ts';
import { type Drawing, type Field, fieldLines, fieldWidth, folded, type Span } from './fold.ts';

/** Draws what `display/` says, line for line. What is shown, in which order and how loudly, is not decided here. */

/** The whole of it: what it does, the alarms, the fields, then its parts. */
export function drawShown(shown: Shown, drawing: Drawing, indent = ''): string[] {
  const headline = headlineOf(shown);
  const fields = shown.fields.map(fieldOf);
  const width = fieldWidth([headline, ...fields], indent);
  return [
    ...fieldLines([headline], drawing, indent, width),
    ...drawAlarms(shown.alarms, drawing, indent),
    ...fieldLines(fields, drawing, indent, width),
    ...drawContents(shown, drawing, indent),
  ];
}

export function drawAlarms(
  alarms: readonly Pick<Alarm, 'weight' | 'words' | 'about'>[],
  { paint, columns }: Drawing,
  indent = '',
): string[] {
  return alarms.flatMap(({ weight, words, about }) => {
    const text = about.length === 0 ? words : `${words}: ${about.map((piece) => piece.text).join('')}`;
    const loud = weight === 'alarm';
    const drawn = loud ? `!!! ${text} !!!` : `! ${text}`;
    return folded(`${indent}${drawn}`, columns, indent.length + 4).map((row) =>
      paint(loud ? 'alarm' : 'yellow', row),
    );
  });
}

/** What stands below the fields: text of several lines, and the parts, each with its number. */
export function drawContents({ blocks, parts }: Shown, drawing: Drawing, indent = ''): string[] {
  return [
    ...blocks.flatMap((block) => drawBlock(block, drawing, indent)),
    ...parts.flatMap((part, i) => [
      '',
      ...folded(`${indent}[${i + 1}/${parts.length}]`, drawing.columns),
      ...drawShown(part, drawing, `${indent}  `),
    ]),
  ];
}

/** What it does stands out, but for what the proposer chose of it. */
export function headlineOf({ headline }: Shown): Field {
  const spans = headline.value.map((piece) => spanOf(piece, headline.weight));
  return [headline.label, spans.map((span): Span => (typeof span === 'string' ? ['bold', span] : span))];
}

export function fieldOf({ label, value, weight }: Line): Field {
  return [label, value.map((piece) => spanOf(piece, weight))];
}

/** What the proposer or an MCP server chose is yellow, whatever the line weighs. */
function spanOf({ text, from }: Piece, weight: Weight): Span {
  if (from === 'agent' || from === 'server') return ['yellow', unmixed(text)];
  const style = STYLES[weight];
  return style === null ? text : [style, text];
}

const STYLES: Readonly<Record<Weight, 'alarm' | 'bold' | 'dim' | null>> = {
  alarm: 'alarm',
  warn: 'bold',
  plain: null,
  dim: 'dim',
};

/** Behind a mark in the margin: no line of a file or of SQL looks like a field. */
function drawBlock(
  { title, lines, hunks, kind, left_out }: Block,
  { paint, columns }: Drawing,
  indent: string,
): string[] {
  const margin = `${indent}│ `;
  return [
    ...folded(`${indent}${title.map(({ text }) => text).join('')}:`, columns),
    ...[...lines, ...hunkLines(hunks)].flatMap((text) => {
      const [first = '', ...more] = folded(`${margin}${text}`, columns, margin.length);
      return [first, ...more].map((row) => (kind === 'diff' ? painted(text, row, paint) : row));
    }),
    ...(left_out > 0 ? [paint('alarm', `${margin}${left_out} more lines are NOT SHOWN.`)] : []),
  ];
}

function painted(text: string, row: string, paint: Drawing['paint']): string {
  if (text.startsWith('+')) return paint('green', row);
  if (text.startsWith('-')) return paint('red', row);
  return text.startsWith('@@') || text.startsWith('\\') ? paint('dim', row) : row;
}
