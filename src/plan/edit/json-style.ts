import { editLimits } from '../../limits.ts';
import type { Container, JsonPlace, Member } from './json-locate.ts';
import { endingNear } from './line.ts';

/** How the text around a place is written, so that new text looks the same. */
export interface JsonStyle {
  /** One level of indentation. */
  readonly unit: string;
  readonly ending: string;
  /** The colon with its spaces. */
  readonly colon: string;
  /** What stands between a comma and the next element on the same line, and inside the braces of an object. */
  readonly gap: string;
  readonly padding: string;
}

const DEFAULT_UNIT = '  ';

export function styleAt(text: string, place: JsonPlace): JsonStyle {
  const colon = colonNear(text, place);
  const inner = place.own ?? place.around.at(-1);
  return {
    unit: unitNear(text, place),
    ending: endingNear(text, place.end),
    colon,
    gap: colon.endsWith(':') ? '' : ' ',
    padding: inner !== undefined && text.startsWith('{ ', inner.start) ? ' ' : '',
  };
}

/** The elements of a broken container stand on lines of their own. */
export function isBroken(text: string, container: Container | null | undefined): boolean {
  return container != null && container.first >= 0 && hasNewline(text, container.start, container.first);
}

export function hasNewline(text: string, start: number, end: number): boolean {
  const at = text.indexOf('\n', start);
  return at >= 0 && at < end;
}

/** The blanks that the line of this place begins with. */
export function indentAt(text: string, at: number): string {
  const start = lineStart(text, at);
  let end = start;
  while (text[end] === ' ' || text[end] === '\t') end += 1;
  return text.slice(start, end);
}

export function lineStart(text: string, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1;
}

/** From the nearest broken container: how much further right its elements stand than the line that opens it. */
function unitNear(text: string, { around, own }: JsonPlace): string {
  for (const container of [...(own === null ? [] : [own]), ...around.toReversed()]) {
    if (!isBroken(text, container)) continue;
    const outer = indentAt(text, container.start);
    const inner = indentAt(text, container.first);
    if (inner.length > outer.length && inner.startsWith(outer)) return inner.slice(outer.length);
  }
  return DEFAULT_UNIT;
}

function colonNear(text: string, place: JsonPlace): string {
  const member = place.members?.at(-1);
  if (member !== undefined) return colonOf(text, member);
  const before = /"([ \t]*:[ \t]*)$/.exec(
    text.slice(Math.max(0, place.start - editLimits.colon_chars), place.start),
  );
  const first = before ?? /"([ \t]{0,8}:[ \t]{0,8})/.exec(text.slice(0, editLimits.colon_chars));
  return first?.[1] ?? (text.includes('\n') ? ': ' : ':');
}

function colonOf(text: string, { key_end, value_start }: Member): string {
  const between = text.slice(key_end, value_start);
  return /^[ \t]*:[ \t]*$/.test(between) ? between : ': ';
}
