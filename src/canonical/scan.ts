import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';

/** Looks at brackets outside strings, where the parser gave up. */
export function refuseDeepNesting(text: string): void {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) i = endOfString(text, i);
    else if (c === OPEN_BRACE || c === OPEN_BRACKET) {
      depth += 1;
      if (depth > limits.json_depth) refuse('JSON_TOO_DEEP');
    } else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) depth -= 1;
  }
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

const QUOTE = 34;
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
