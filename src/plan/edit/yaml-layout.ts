import { isMap, isSeq, type Node } from 'yaml';
import type { Json } from '../../canonical/json.ts';
import { refuse } from '../../refusal.ts';
import { endingNear, trimmedEnd } from './line.ts';
import type { Splice } from './splice.ts';
import type { YamlPlace } from './yaml-locate.ts';
import {
  indentedBy,
  isBlockValue,
  renderBlock,
  renderFlow,
  renderLiteral,
  renderPair,
  type YamlStyle,
} from './yaml-render.ts';
import { columnOf, isBlockCollection, isFlow } from './yaml-style.ts';

/** Where the new text of a value goes. `text` is the document, `place` the value in it. */
export function layValue(text: string, place: YamlPlace, value: Json, style: YamlStyle): Splice[] {
  const { node, parent } = place;
  if (parent === null) return layDocument(text, place, value, style);
  if (isFlow(parent) || isFlow(node)) return layInline(text, place, renderFlow(value, style));
  if (isOnNextLine(text, place)) return layBelow(text, place, value, style);
  if (isBlockValue(value)) return layBlock(text, place, value, style);
  const literal = renderLiteral(value);
  if (literal === null) return layInline(text, place, renderFlow(value, style));
  const column = columnOf(text, place.item_start) + Math.max(style.unit, 2);
  return layHead(text, place, literal.head, indentedBy(literal.lines, column));
}

/** The text of the old value, without the line ending that a block carries. */
function extent(text: string, { node, mark_end }: YamlPlace): { start: number; end: number } {
  const range = node?.range ?? [mark_end, mark_end];
  if (mark_end < 0 && node?.range == null) refuse('EDIT_TARGET_UNFIT', 'The key has no value to change.');
  const [start, end] = range;
  if (start === end && mark_end >= 0) return { start: mark_end, end: mark_end };
  return { start, end: trimmedEnd(text, start, end) };
}

function isOnNextLine(text: string, place: YamlPlace): boolean {
  return text.slice(Math.max(place.mark_end, 0), extent(text, place).start).includes('\n');
}

function layDocument(text: string, place: YamlPlace, value: Json, style: YamlStyle): Splice[] {
  const { start, end } = extent(text, place);
  const block = isBlockValue(value) && !isFlow(place.node);
  const lines = block ? renderBlock(value, style) : [renderFlow(value, style)];
  return [{ start, end, text: lines.join(endingNear(text, end)) }];
}

function layInline(text: string, place: YamlPlace, rendered: string): Splice[] {
  const { start, end } = extent(text, place);
  const glued = start === place.mark_end;
  return [{ start, end, text: glued ? ` ${rendered}` : rendered }];
}

/** A head on the line of the key, more lines below it. A comment on that line stays between them. */
function layHead(text: string, place: YamlPlace, head: string, lines: readonly string[]): Splice[] {
  const { start, end } = extent(text, place);
  const first = head === '' ? { start: place.mark_end, end, text: '' } : layInline(text, place, head)[0]!;
  const below = endOfLine(text, end);
  const ending = endingNear(text, start);
  return [first, { start: below, end: below, text: lines.map((line) => ending + line).join('') }];
}

/** A map or list after a key goes below it; after a dash it starts on the line of the dash. */
function layBlock(text: string, place: YamlPlace, value: Json, style: YamlStyle): Splice[] {
  const lines = renderBlock(value, style);
  if (isMap(place.parent))
    return layHead(text, place, '', indentedBy(lines, blockColumn(text, place, value, style)));
  const { start } = extent(text, place);
  const column = start === place.mark_end ? columnOf(text, start) + 1 : columnOf(text, start);
  return layHead(text, place, lines[0]!, indentedBy(lines.slice(1), column));
}

/** The old value starts on a line below its key or dash. */
function layBelow(text: string, place: YamlPlace, value: Json, style: YamlStyle): Splice[] {
  const { start, end } = extent(text, place);
  const line_start = start - columnOf(text, start);
  if (isBlockValue(value)) {
    const lines = indentedBy(renderBlock(value, style), blockColumn(text, place, value, style));
    return [{ start: line_start, end, text: lines.join(endingNear(text, start)) }];
  }
  const head = { start: place.mark_end, end: place.mark_end, text: ` ${renderFlow(value, style)}` };
  const next = text.indexOf('\n', end) + 1;
  if (next > 0 && text.slice(end, next).trim() === '')
    return [head, { start: line_start, end: next, text: '' }];
  // The end of the file, or a comment that stays: the ending before the value goes instead.
  return [head, { start: line_start - endingNear(text, line_start).length, end, text: '' }];
}

/** The column of a block below its key: where the old one stood, if it was of the same kind. */
function blockColumn(text: string, place: YamlPlace, value: Json, style: YamlStyle): number {
  const { node } = place;
  const same = Array.isArray(value) ? isSeq(node) : isMap(node);
  if (same && isBlockCollection(node)) return columnOf(text, node!.range![0]);
  const own = columnOf(text, place.item_start);
  if (!isMap(place.parent)) return own + 2;
  return Array.isArray(value) && style.indentless ? own : own + style.unit;
}

/** A new last pair of a map. */
export function layPair(text: string, map: Node, key: string, value: Json, style: YamlStyle): Splice[] {
  if (!isMap(map)) refuse('EDIT_TARGET_UNFIT', 'The path does not lead to a map.');
  const [start, end] = map.range!;
  if (isFlow(map))
    return layFlowPair(text, [start, end], map.items.length, renderFlow({ [key]: value }, style));
  const at = trimmedEnd(text, start, end);
  const ending = endingNear(text, at);
  const lines = indentedBy(renderPair(key, value, style), columnOf(text, start));
  return [{ start: at, end: at, text: lines.map((line) => ending + line).join('') }];
}

/** `braced` is the pair in braces of its own, which it leaves here. */
function layFlowPair(text: string, [start, end]: [number, number], size: number, braced: string): Splice[] {
  const pair = braced.slice(1, -1).trim();
  const inside = text.slice(start + 1, end - 1);
  if (size === 0) {
    if (inside.trim() !== '') refuse('EDIT_TARGET_UNFIT', 'The map holds only comments.');
    return [{ start: start + 1, end: end - 1, text: pair }];
  }
  const last = trimmedEnd(text, start + 1, end - 1);
  const trailing = text[last - 1] === ',';
  return [{ start: last, end: last, text: trailing ? ` ${pair},` : `, ${pair}` }];
}

/** The end of this line, before its ending. */
function endOfLine(text: string, at: number): number {
  const newline = text.indexOf('\n', at);
  if (newline < 0) return text.length;
  return text[newline - 1] === '\r' && newline - 1 >= at ? newline - 1 : newline;
}
