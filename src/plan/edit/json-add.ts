import type { Json } from '../../canonical/json.ts';
import { refuse } from '../../refusal.ts';
import type { JsonPlace, Member } from './json-locate.ts';
import { renderBroken, renderInline } from './json-render.ts';
import { hasNewline, indentAt, isBroken, type JsonStyle, styleAt } from './json-style.ts';
import { trimmedEnd } from './line.ts';
import type { Splice } from './splice.ts';

/** A new last member, written like the members before it. */
export function addProperty(text: string, place: JsonPlace, key: string, value: Json): Splice[] {
  const { members } = place;
  if (members === null) refuse('EDIT_TARGET_UNFIT', 'The path does not lead to an object.');
  if (members.some((member) => member.name === key)) refuse('EDIT_KEY_EXISTS', undefined, { key });
  const style = styleAt(text, place);
  const last = members.at(-1);
  if (last === undefined) return fillEmpty(text, place, style, key, value);
  const before = members.at(-2)?.comma ?? place.start;
  return hasNewline(text, before, last.key_start)
    ? appendLine(text, place, style, last, key, value)
    : appendInline(style, last, memberInline(key, value, style));
}

/** After the last member and its comments, on a line of its own. The comma goes straight after the last value. */
function appendLine(
  text: string,
  place: JsonPlace,
  style: JsonStyle,
  last: Member,
  key: string,
  value: Json,
): Splice[] {
  const indent = indentAt(text, last.key_start);
  const end = trimmedEnd(text, last.value_end, place.end - 1);
  const line = style.ending + indent + memberBroken(key, value, style, indent);
  if (last.comma >= 0) return [insertion(end, `${line},`)];
  return [insertion(last.value_end, ','), insertion(end, line)];
}

function appendInline(style: JsonStyle, last: Member, member: string): Splice[] {
  return last.comma >= 0
    ? [insertion(last.comma + 1, `${style.gap}${member},`)]
    : [insertion(last.value_end, `,${style.gap}${member}`)];
}

function fillEmpty(text: string, place: JsonPlace, style: JsonStyle, key: string, value: Json): Splice[] {
  const [start, end] = [place.start + 1, place.end - 1];
  const filled = trimmedEnd(text, start, end);
  const indent = indentAt(text, place.start);
  const inner = indent + style.unit;
  if (filled > start) {
    const member = hasNewline(text, start, end)
      ? style.ending + inner + memberBroken(key, value, style, inner)
      : ` ${memberInline(key, value, style)}`;
    return [insertion(filled, member)];
  }
  const broken = isOnItsOwn(text, place) || hasNewline(text, start, end);
  const inside = broken
    ? style.ending + inner + memberBroken(key, value, style, inner) + style.ending + indent
    : style.padding + memberInline(key, value, style) + style.padding;
  return [{ start, end, text: inside }];
}

/** Whether a new container here is broken into lines: when the one around it is, or the file has lines at all. */
export function isOnItsOwn(text: string, { around }: JsonPlace): boolean {
  return around.length === 0 ? text.includes('\n') : isBroken(text, around.at(-1));
}

function memberInline(key: string, value: Json, style: JsonStyle): string {
  return JSON.stringify(key) + style.colon + renderInline(value, style);
}

function memberBroken(key: string, value: Json, style: JsonStyle, indent: string): string {
  return JSON.stringify(key) + style.colon + renderBroken(value, style, indent);
}

function insertion(at: number, text: string): Splice {
  return { start: at, end: at, text };
}
