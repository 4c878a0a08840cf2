/** One way to read what stands at a place: which bytes it means, and where what comes after it begins. */
export interface EscapeRead {
  readonly bytes: readonly number[];
  readonly end: number;
}

const PERCENT = 0x25;
const BACKSLASH = 0x5c;
const RETURN = 0x0d;
const NEWLINE = 0x0a;

/** JSON in JSON in JSON doubles a backslash three times; a URL in a URL writes each % as %25. */
const BACKSLASHES = 8;
const PERCENTS = 3;

/** A backslash in a URL, and in a URL in a URL: JSON that a URL holds. So many in a row are JSON in JSON. */
const ENCODED = ['%5c', '%255c'];
const ENCODED_BACKSLASHES = 3;

const QUOTE = 0x27;

/** A quote within quotes, as `set -x` of a shell and shlex.quote of Python write it. */
const QUOTED = [`'\\''`, `'"'"'`];

/** Whether an escape can begin with this byte. */
export function isEscaping(byte: number): boolean {
  return byte === BACKSLASH || byte === PERCENT || byte === RETURN || byte === QUOTE;
}

const SHORT: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  t: 9,
  n: 10,
  v: 11,
  f: 12,
  r: 13,
  e: 27,
};

/**
 * What stands here, read as an escape: every way to read it but as the byte itself. Null where the text goes on, and what comes next decides it.
 * Several can be right at once: `%2541` is a % before 41 in a URL, and an A in a URL that another URL holds.
 */
export function escapesAt(text: Uint8Array, at: number, is_last: boolean): readonly EscapeRead[] | null {
  if (text[at] === PERCENT) {
    const [plain, escaped] = [percentAt(text, at + 1, is_last), encodedAt(text, at, is_last)];
    return plain === null || escaped === null ? null : [...plain, ...escaped];
  }
  if (text[at] === BACKSLASH) return backslashAt(text, at, is_last);
  if (text[at] === QUOTE) return quotedAt(text, at, is_last);
  if (at + 1 >= text.length) return is_last ? [] : null;
  // A terminal, and protocols of lines, write the end of a line as two bytes.
  return text[at + 1] === NEWLINE ? [{ bytes: [NEWLINE], end: at + 2 }] : [];
}

function percentAt(text: Uint8Array, from: number, is_last: boolean): EscapeRead[] | null {
  const found: EscapeRead[] = [];
  for (let at = from, level = 0; level < PERCENTS; at += 2, level += 1) {
    const value = digitsAt(text, at, 2);
    if (value === null && !is_last) return null;
    if (value === null || value < 0) break;
    found.push({ bytes: [value], end: at + 2 });
    if (value !== PERCENT) break;
  }
  return found;
}

function quotedAt(text: Uint8Array, at: number, is_last: boolean): EscapeRead[] | null {
  if (!is_last && QUOTED.some((quoted) => isCut(text, at, quoted))) return null;
  return QUOTED.filter((quoted) => startsWith(text, at, quoted)).map((quoted) => ({
    bytes: [QUOTE],
    end: at + quoted.length,
  }));
}

/** An escape whose backslash a URL escapes, and mostly what comes behind it: `%5C%22`, `%5Cn`, `%5Cu0022`. */
function encodedAt(text: Uint8Array, at: number, is_last: boolean): EscapeRead[] | null {
  const found: EscapeRead[] = [];
  for (const mark of ENCODED) {
    const letter = behindMarks(text, at, mark);
    const run = (letter - at) / mark.length;
    for (let many = 2; many <= run; many *= 2)
      found.push({ bytes: [BACKSLASH], end: at + many * mark.length });
    const escaped = run === 0 ? [] : encodedLetterAt(text, letter, mark);
    if ((escaped === null || isCut(text, letter, mark)) && !is_last) return null;
    found.push(...(escaped ?? []));
  }
  return found;
}

function behindMarks(text: Uint8Array, from: number, mark: string): number {
  let at = from;
  while (at < from + ENCODED_BACKSLASHES * mark.length && startsWith(text, at, mark)) at += mark.length;
  return at;
}

/** What stands for itself behind a backslash is mostly escaped as the backslash is. */
function encodedLetterAt(text: Uint8Array, at: number, mark: string): EscapeRead[] | null {
  const percent = mark.slice(0, -2);
  if (text[at] !== PERCENT) return letterAt(text, at, mark);
  if (isCut(text, at, percent)) return null;
  if (!startsWith(text, at, percent)) return [];
  const value = digitsAt(text, at + percent.length, 2);
  if (value === null) return null;
  return value < 0 || /[A-Za-z0-9]/.test(String.fromCharCode(value))
    ? []
    : [{ bytes: [value], end: at + mark.length }];
}

/** The letters of a mark stand for both cases, as the digits of a URL do. */
function startsWith(text: Uint8Array, at: number, mark: string): boolean {
  for (let next = 0; next < mark.length; next += 1) {
    const byte = text[at + next];
    const code = mark.charCodeAt(next);
    if (byte !== code && (code < 0x61 || byte !== (code & ~0x20))) return false;
  }
  return true;
}

/** Whether the text ends within what may become this mark. */
function isCut(text: Uint8Array, at: number, mark: string): boolean {
  const left = text.length - at;
  return left < mark.length && startsWith(text, at, mark.slice(0, Math.max(0, left)));
}

/** Any number of backslashes counts as one escape: how many there are says only how deep it is. */
function backslashAt(text: Uint8Array, at: number, is_last: boolean): EscapeRead[] | null {
  let letter = at;
  while (text[letter] === BACKSLASH && letter <= at + BACKSLASHES) letter += 1;
  const run = letter - at;
  const found: EscapeRead[] = [];
  for (let many = 2; many <= run && many <= BACKSLASHES; many *= 2)
    found.push({ bytes: [BACKSLASH], end: at + many });
  if (run > BACKSLASHES) return found;
  const escaped = letterAt(text, letter);
  return escaped === null && !is_last ? null : [...found, ...(escaped ?? [])];
}

function letterAt(text: Uint8Array, at: number, mark = '\\'): EscapeRead[] | null {
  if (at >= text.length) return null;
  const letter = String.fromCharCode(text[at]!);
  if (letter === 'u') return unitAt(text, at + 1, mark);
  if (letter === 'x') return byteAt(text, at + 1);
  const short = SHORT[letter];
  if (short !== undefined) return [{ bytes: [short], end: at + 1 }];
  // JSON, shells and languages let any mark stand for itself behind a backslash.
  return /[A-Za-z0-9]/.test(letter) ? [] : [{ bytes: [text[at]!], end: at + 1 }];
}

/** A byte to some languages, and a character to others. */
function byteAt(text: Uint8Array, at: number): EscapeRead[] | null {
  const value = digitsAt(text, at, 2);
  if (value === null) return null;
  if (value < 0) return [];
  const whole = { bytes: [value], end: at + 2 };
  return value < 0x80 ? [whole] : [whole, { bytes: utf8Of(value), end: at + 2 }];
}

function unitAt(text: Uint8Array, at: number, mark: string): EscapeRead[] | null {
  const unit = digitsAt(text, at, 4);
  if (unit === null) return null;
  if (unit < 0) return [];
  if (unit < 0xd800 || unit > 0xdbff) return [{ bytes: utf8Of(unit), end: at + 4 }];
  let letter = at + 4;
  if (mark !== '\\') letter = behindMarks(text, letter, mark);
  else while (text[letter] === BACKSLASH && letter < at + 4 + BACKSLASHES) letter += 1;
  if (letter >= text.length || isCut(text, letter, mark)) return null;
  if (letter === at + 4 || text[letter] !== 0x75) return [];
  const low = digitsAt(text, letter + 1, 4);
  if (low === null) return null;
  if (low < 0xdc00 || low > 0xdfff) return [];
  return [{ bytes: utf8Of(0x10000 + (unit - 0xd800) * 0x400 + low - 0xdc00), end: letter + 5 }];
}

const utf8Of = (code: number) => [...Buffer.from(String.fromCodePoint(code))];

/** Hexadecimal digits as a number: -1 where there are others, null where the text ends among them. */
function digitsAt(text: Uint8Array, at: number, many: number): number | null {
  let value = 0;
  for (let place = at; place < at + many; place += 1) {
    const byte = text[place];
    if (byte === undefined) return null;
    const digit = digitOf(byte);
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

function digitOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

/** How a byte of ASCII may be written, in small letters, and without levels that repeat what stands here. */
export function spellingsOf(byte: number): string[] {
  const hex = byte.toString(16).padStart(2, '0');
  const short = Object.entries(SHORT).flatMap(([letter, code]) => (code === byte ? [letter] : []));
  const own = /[A-Za-z0-9]/.test(String.fromCharCode(byte)) ? [] : [String.fromCharCode(byte)];
  const escaped = [`u00${hex}`, `x${hex}`, ...short, ...own].map((text) => `\\${text}`);
  const encoded = ENCODED.flatMap((mark) => [
    ...escaped.map((text) => `${mark}${text.slice(1)}`),
    ...own.map(() => `${mark}${mark.slice(0, -2)}${hex}`),
  ]);
  return [
    `%${hex}`,
    `%25${hex}`,
    `%2525${hex}`,
    ...escaped,
    ...encoded,
    ...(byte === NEWLINE ? ['\r\n'] : []),
    ...(byte === QUOTE ? QUOTED : []),
  ];
}
