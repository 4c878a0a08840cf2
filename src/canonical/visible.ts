/**
 * Text from outside, made harmless for a terminal. The attacker is a tool, a file name, a queue line or an edit that
 * hides what it does behind escape sequences, turns the reading direction, or writes in invisible characters.
 */
export function visible(text: string): string {
  return text.replace(HARMFUL, escaped);
}

/** Controls but the tab, every space but the plain one, line separators, lone surrogates, and what no font need show. */
const UNSEEN = '[\\x00-\\x08\\x0a-\\x1f\\x7f-\\x9f]|(?! )[\\p{Z}\\p{Cf}\\p{Cs}\\p{Co}\\p{Cn}]';

/** Invisible by their nature, though their category does not say so: blanks, fillers and joiners of some scripts. */
const BLANKS = '[\\u2800\\u2d7f\\u{1107f}\\u{13441}\\u{13442}\\u{16fe4}\\u{1d159}]';

/** Marks that cross out or enclose what stands before them, and heaps of marks that reach into other lines. */
const MARKS = '[\\p{Me}\\u0334-\\u0338\\u20d0-\\u20ff]|(?<=\\p{M}{3})\\p{M}';

/** A selector chooses how an emoji looks. Anywhere else it is only there to make two equal texts differ. */
const SELECTORS =
  '(?<!\\p{Extended_Pictographic})[\\ufe0e\\ufe0f]|(?![\\ufe0e\\ufe0f])\\p{Default_Ignorable_Code_Point}';

const HARMFUL = new RegExp(`${UNSEEN}|${BLANKS}|${MARKS}|${SELECTORS}`, 'gu');

function escaped(character: string): string {
  const code = character.codePointAt(0) as number;
  if (code > 0xffff) return `\\u{${hex(code, 5)}}`;
  return code < 0x100 ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}

/** One word of a command line, a path or a name. Quoted wherever a reader could take it for two, or for another one. */
export function argument(text: string): string {
  return isPlainWord(text) ? text : `"${quotedPart(text)}"`;
}

export function isPlainWord(text: string): boolean {
  return PLAIN.test(text);
}

/** A piece of what stands between the quotes. No two texts look the same there. */
export function quotedPart(text: string): string {
  return visible(JSON.stringify(text).slice(1, -1));
}

const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;
