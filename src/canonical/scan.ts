import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';

/** Looks at brackets outside strings, where the parser gave up. */
export function refuseDeepNesting(text: string): void {
  if (isDeeperThan(text, limits.json_depth)) refuse('JSON_TOO_DEEP');
}

/**
 * Whether brackets outside strings stand deeper. JSON.parse takes any depth, and JSON.stringify and every function that calls itself end
 * with a RangeError at some thousand levels.
 */
export function isDeeperThan(text: string, most: number): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) i = endOfString(text, i);
    else if (c === OPEN_BRACE || c === OPEN_BRACKET) {
      depth += 1;
      if (depth > most) return true;
    } else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) depth -= 1;
  }
  return false;
}

/** JSON.parse keeps the last of two equal keys in silence. The text is known to be valid JSON here. */
export function refuseDuplicateKeys(text: string): void {
  const objects: (Set<string> | null)[] = [];
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === OPEN_BRACE) objects.push(new Set());
    else if (c === OPEN_BRACKET) objects.push(null);
    else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) objects.pop();
    else if (c === QUOTE) {
      const end = endOfString(text, i);
      const keys = objects.at(-1);
      if (keys && isFollowedByColon(text, end + 1)) {
        const key = JSON.parse(text.slice(i, end + 1)) as string;
        if (keys.has(key))
          refuse('JSON_DUPLICATE_KEY', `The key ${JSON.stringify(key.slice(0, 80))} appears twice.`);
        keys.add(key);
      }
      i = end;
    }
  }
}

/** The text of a member of an object, as it was written; null where it is not there. JSON.parse keeps the last of two equal keys, and so does this. */
export function memberText(text: string, member: string): string | null {
  let depth = 0;
  let from = -1;
  let found: string | null = null;
  const end = (at: number) => {
    if (from >= 0) found = text.slice(from, at).trim();
    from = -1;
  };
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === OPEN_BRACE || c === OPEN_BRACKET) depth += 1;
    else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) {
      depth -= 1;
      if (depth === 0) end(i);
    } else if (c === COMMA && depth === 1) end(i);
    else if (c === QUOTE) {
      const start = i;
      i = endOfString(text, i);
      const is_key = depth === 1 && from < 0 && isFollowedByColon(text, i + 1);
      if (is_key && JSON.parse(text.slice(start, i + 1)) === member) from = text.indexOf(':', i + 1) + 1;
    }
  }
  return found;
}

/** Whether a number of the text is another one once it was parsed: it has more digits than a double keeps, or is too large for one. */
export function hasInexactNumber(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) i = endOfString(text, i);
    else if (c === MINUS || (c >= ZERO && c <= NINE)) {
      NUMBER.lastIndex = i;
      const [number] = NUMBER.exec(text) ?? [''];
      if (decimal(number) !== decimal(String(Number(number)))) return true;
      i += Math.max(number.length - 1, 0);
    }
  }
  return false;
}

const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** The digits and the exponent of a number, without the zeros at either end: the same for each way to write it. */
function decimal(number: string): string {
  const [, whole = '', part = '', exponent = '0'] =
    /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(number) ?? [];
  const digits = `${whole}${part}`.replace(/^0+/, '');
  const short = digits.replace(/0+$/, '');
  return short === '' ? whole : `${short}e${Number(exponent) - part.length + digits.length - short.length}`;
}

const QUOTE = 34;
const COMMA = 44;
const MINUS = 45;
const ZERO = 48;
const NINE = 57;
const BACKSLASH = 92;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const COLON = 58;

function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === BACKSLASH) i += 1;
    else if (c === QUOTE) return i;
  }
  return text.length;
}

function isFollowedByColon(text: string, from: number): boolean {
  let i = from;
  while (' \t\r\n'.includes(text.charAt(i)) && i < text.length) i += 1;
  return text.charCodeAt(i) === COLON;
}
