import { refuse } from '../../refusal.ts';
import type { JsonPlace, Member } from './json-locate.ts';
import { endOfComment } from './json-scan.ts';
import { lineStart } from './json-style.ts';
import type { Splice } from './splice.ts';

/**
 * Removes a member up to its comma. A member with lines of its own takes them along, with a comment behind it; all
 * other comments stay.
 */
export function removeProperty(text: string, place: JsonPlace, key: string): Splice[] {
  const { members } = place;
  if (members === null) refuse('EDIT_TARGET_UNFIT', 'The path does not lead to an object.');
  const index = members.findIndex((member) => member.name === key);
  const member = members[index];
  if (member === undefined) refuse('EDIT_KEY_MISSING', undefined, { key });
  if (members.length === 1 && isAlone(text, place, member)) return [cut(place.start + 1, place.end - 1)];
  const previous = members[index - 1];
  const line = ownLine(text, member);
  if (line === null) return cutInline(text, member, previous, members[index + 1]);
  return previous === undefined || member.comma >= 0
    ? [line]
    : [cut(previous.comma, previous.comma + 1), line];
}

/** Nothing but blanks around it in its object. */
function isAlone(text: string, place: JsonPlace, member: Member): boolean {
  return (
    isBlank(text, place.start + 1, member.key_start) &&
    (member.comma < 0 || isBlank(text, member.value_end, member.comma)) &&
    isBlank(text, endOf(member), place.end - 1)
  );
}

/** The whole lines of a member that shares them with nothing but comments behind it. */
function ownLine(text: string, member: Member): Splice | null {
  const start = lineStart(text, member.key_start);
  if (!isBlank(text, start, member.key_start)) return null;
  let at = endOf(member);
  for (;;) {
    if (text[at] === '\n') return cut(start, at + 1);
    if (text[at] === ' ' || text[at] === '\t' || text[at] === '\r') at += 1;
    else {
      const end = endOfComment(text, at);
      if (end < 0 || text.slice(at, end).includes('\n')) return null;
      at = end;
    }
  }
}

function cutInline(
  text: string,
  member: Member,
  previous: Member | undefined,
  next: Member | undefined,
): Splice[] {
  const end = endOf(member);
  if (next !== undefined) {
    const clear = isBlank(text, end, next.key_start);
    return [cut(member.key_start, clear ? next.key_start : end + blanksAfter(text, end))];
  }
  if (previous === undefined) return [cut(member.key_start, end)];
  const clear = isBlank(text, previous.comma + 1, member.key_start);
  const start = clear ? previous.comma + 1 : member.key_start;
  // A trailing comma leaves with its member, and the comma before becomes the trailing one.
  if (member.comma >= 0) return [cut(start, end)];
  return clear ? [cut(previous.comma, end)] : [cut(previous.comma, previous.comma + 1), cut(start, end)];
}

/** Where the member ends, the comma after it included. */
function endOf(member: Member): number {
  return member.comma >= 0 ? member.comma + 1 : member.value_end;
}

function blanksAfter(text: string, at: number): number {
  let end = at;
  while (text[end] === ' ' || text[end] === '\t') end += 1;
  return end - at;
}

function isBlank(text: string, start: number, end: number): boolean {
  return text.slice(start, end).trim() === '';
}

function cut(start: number, end: number): Splice {
  return { start, end, text: '' };
}
