import { refuse } from '../../refusal.ts';

/** One piece of SQL text. Comments and white space are no tokens. */
export interface SqlToken {
  readonly kind: 'word' | 'quoted' | 'string' | 'number' | 'parameter' | 'symbol';
  /** As written; for a quoted name without its quotes, for a parameter without its dollar. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Cuts SQL into tokens by the rules of DuckDB's scanner, so that a preview can say what each statement is before its
 * tables exist. This scanner is not the wall: the runner asks DuckDB for the kind of each statement before it runs, and
 * a difference is a refusal. Where the two might read a text differently, and where a reader's eye might differ from
 * both, the text is refused.
 */
export function sqlTokensOf(text: string): SqlToken[] {
  refuseTrickery(text);
  const tokens: SqlToken[] = [];
  for (let at = 0; at < text.length; ) {
    const token = tokenAt(text, at);
    if (token.kind !== 'nothing') tokens.push(token as SqlToken);
    at = token.end;
  }
  return tokens;
}

type Scanned = SqlToken | { readonly kind: 'nothing'; readonly end: number };

/** A text that shows otherwise than it runs: NUL and other controls, a bare carriage return, turned writing. */
function refuseTrickery(text: string): void {
  const found = /[\x00-\x08\x0b\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069]|\r(?!\n)|[\ud800-\udfff]/.exec(
    text.replace(/[\ud800-\udbff][\udc00-\udfff]/g, '  '),
  );
  if (found)
    malformed('a control character, a lone surrogate or a character that turns the text', found.index);
}

const SPACE = /[ \t\n\f\r]+/y;
const LINE_COMMENT = /--[^\n\r]*/y;
const WORD = /[A-Za-z_\u0080-\uffff][A-Za-z0-9_$\u0080-\uffff]*/y;
const NUMBER = /[0-9][A-Za-z0-9_.]*/y;
const DOLLAR_QUOTE = /\$([A-Za-z_\u0080-\uffff][A-Za-z0-9_\u0080-\uffff]*)?\$/y;
const PARAMETER = /\$[A-Za-z0-9_]+/y;
/** DuckDB takes these for spaces, other readers take them for letters or for nothing. */
const ODD_SPACE = /[\u0085\u00a0\u1680\u180e\u2000-\u200f\u2028\u2029\u202f\u205f-\u2064\u3000\ufeff]/;

function tokenAt(text: string, at: number): Scanned {
  const blank = match(SPACE, text, at) ?? match(LINE_COMMENT, text, at);
  if (blank) return { kind: 'nothing', end: at + blank.length };
  if (text.startsWith('/*', at)) return { kind: 'nothing', end: endOfComment(text, at) };
  if (text[at] === "'") return piece('string', text, at, endOfQuote(text, at, "'"));
  if (text[at] === '"') return quoted(text, at);
  if (text[at] === '$') return dollar(text, at);
  const word = match(WORD, text, at);
  if (word) return wordAt(text, at, word);
  const number = match(NUMBER, text, at);
  if (number) return piece('number', text, at, at + number.length);
  return piece('symbol', text, at, at + 1);
}

function wordAt(text: string, at: number, word: string): SqlToken {
  const odd = ODD_SPACE.exec(word);
  if (odd) malformed('an invisible or unusual space', at + odd.index);
  const after = at + word.length;
  if (/^e$/i.test(word) && text[after] === "'") return piece('string', text, at, endOfEscaped(text, after));
  if (/^u$/i.test(word) && text[after] === '&') malformed('a U& literal', at);
  return piece('word', text, at, after);
}

function quoted(text: string, at: number): SqlToken {
  const end = endOfQuote(text, at, '"');
  return { kind: 'quoted', text: text.slice(at + 1, end - 1).replaceAll('""', '"'), start: at, end };
}

function dollar(text: string, at: number): SqlToken {
  const tag = match(DOLLAR_QUOTE, text, at);
  if (tag) {
    const close = text.indexOf(tag, at + tag.length);
    if (close < 0) malformed('a quote that never ends', at);
    return piece('string', text, at, close + tag.length);
  }
  const name = match(PARAMETER, text, at);
  if (!name) malformed('a dollar that names no parameter', at);
  return { kind: 'parameter', text: name.slice(1), start: at, end: at + name.length };
}

/** Two quotes in a row are one inside. A backslash means nothing here. */
function endOfQuote(text: string, at: number, quote: string): number {
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] !== quote) continue;
    if (text[i + 1] !== quote) return i + 1;
    i++;
  }
  return malformed('a quote that never ends', at);
}

function endOfEscaped(text: string, at: number): number {
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === "'" && text[i + 1] === "'") i++;
    else if (text[i] === "'") return i + 1;
  }
  return malformed('a quote that never ends', at);
}

/** Comments nest. */
function endOfComment(text: string, at: number): number {
  let depth = 0;
  for (let i = at; i < text.length - 1; i++) {
    const two = text.slice(i, i + 2);
    if (two !== '/*' && two !== '*/') continue;
    depth += two === '/*' ? 1 : -1;
    i++;
    if (depth === 0) return i + 1;
  }
  return malformed('a comment that never ends', at);
}

/** Sticky: it matches here or not at all. Its place is set each time, so nothing is carried along. */
function match(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? null;
}

function piece(kind: SqlToken['kind'], text: string, start: number, end: number): SqlToken {
  return { kind, text: text.slice(start, end), start, end };
}

function malformed(what: string, at: number): never {
  return refuse('SQL_MALFORMED', `The SQL has ${what}, at character ${at + 1}.`, { character: at + 1 });
}
