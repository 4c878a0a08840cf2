import type { Json } from '../../canonical/json.ts';

/** How a document is written where a block value goes. */
export interface YamlStyle {
  readonly unit: number;
  /** Lists under a key start in the column of the key. */
  readonly indentless: boolean;
  readonly quote: 'plain' | 'single' | 'double';
  readonly padding: string;
}

/** The text of a value on one line, as it may stand inside brackets. */
export function renderFlow(value: Json, style: YamlStyle): string {
  if (typeof value !== 'object' || value === null) return renderScalar(value, style);
  const inner = { ...style, quote: 'plain' } as const;
  if (isArray(value)) return `[${value.map((item) => renderFlow(item, inner)).join(', ')}]`;
  const pairs = Object.entries(value).map(([key, item]) => `${renderKey(key)}: ${renderFlow(item, inner)}`);
  return pairs.length === 0 ? '{}' : `{${style.padding}${pairs.join(', ')}${style.padding}}`;
}

/** The lines of a map or list in block form, the first one at column 0. The value is not empty. */
export function renderBlock(value: Json, style: YamlStyle): string[] {
  const inner = { ...style, quote: 'plain' } as const;
  if (isArray(value)) return value.flatMap((item) => renderItem(item, inner));
  return Object.entries(value as object).flatMap(([key, item]) => renderPair(key, item as Json, inner));
}

export function renderPair(key: string, value: Json, style: YamlStyle): string[] {
  const head = `${renderKey(key)}:`;
  if (isBlockValue(value)) {
    const lines = renderBlock(value, style);
    return [head, ...(isArray(value) && style.indentless ? lines : indentedBy(lines, style.unit))];
  }
  const literal = renderLiteral(value);
  if (literal !== null) return [`${head} ${literal.head}`, ...indentedBy(literal.lines, style.unit)];
  return [`${head} ${renderFlow(value, style)}`];
}

function renderItem(value: Json, style: YamlStyle): string[] {
  if (isBlockValue(value)) {
    const [first, ...rest] = renderBlock(value, style);
    return [`- ${first}`, ...indentedBy(rest, 2)];
  }
  const literal = renderLiteral(value);
  if (literal !== null) return [`- ${literal.head}`, ...indentedBy(literal.lines, 2)];
  return [`- ${renderFlow(value, style)}`];
}

export function indentedBy(lines: readonly string[], columns: number): string[] {
  return lines.map((line) => (line === '' ? '' : ' '.repeat(columns) + line));
}

export function isBlockValue(value: Json): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}

/** Text of several lines as a literal block, where that says exactly the same; otherwise nothing. */
export function renderLiteral(value: Json): { head: string; lines: string[] } | null {
  if (typeof value !== 'string' || !/^[^\s#][^\n]*\n/.test(value) || HARD.test(value)) return null;
  if (/[ \t](\n|$)/.test(value) || value.endsWith('\n\n')) return null;
  const ended = value.endsWith('\n');
  return { head: ended ? '|' : '|-', lines: (ended ? value.slice(0, -1) : value).split('\n') };
}

export function renderScalar(value: string | number | boolean | null, style: YamlStyle): string {
  if (typeof value === 'number') return renderNumber(value);
  if (typeof value !== 'string') return String(value);
  if (style.quote === 'single' && !HARD.test(value) && !/[\n\t]/.test(value)) {
    return `'${value.replaceAll("'", "''")}'`;
  }
  return style.quote === 'plain' && isPlainSafe(value) ? value : renderDouble(value);
}

/** `1e-7` is a number for YAML 1.2 and a text for YAML 1.1; `1.0e-7` is a number for both. */
function renderNumber(value: number): string {
  const text = JSON.stringify(value);
  return /^-?\d+e/.test(text) ? text.replace('e', '.0e') : text;
}

function renderKey(key: string): string {
  return isPlainSafe(key) ? key : renderDouble(key);
}

/** What no version of YAML reads as anything but this text. Everything else is quoted. */
const PLAIN = /^[\p{L}_/][\p{L}\p{N}_./+@-]*(?: [\p{L}\p{N}_./+@-]+)*$/u;
const WORDS = /^(true|false|yes|no|on|off|y|n|null)$/i;

function isPlainSafe(text: string): boolean {
  return text.length <= 200 && PLAIN.test(text) && !WORDS.test(text);
}

/** Control characters, line separators and what YAML does not print. */
const HARD = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/;

/** A JSON string is a double-quoted YAML text, once what YAML does not print is escaped. */
function renderDouble(text: string): string {
  return JSON.stringify(text).replace(
    /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
