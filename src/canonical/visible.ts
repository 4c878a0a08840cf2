/**
 * Text from outside, made harmless for a terminal. The attacker is a tool, a file name, a queue line or an edit that
 * hides what it does behind escape sequences, turns the reading direction, or writes in characters nobody sees.
 */
export function visible(text: string): string {
  return text.replace(HARMFUL, escaped);
}

// Controls but the tab, line separators, format and direction marks, invisible letters and lone surrogates. The selectors
// that choose how an emoji looks are left alone.
const HARMFUL =
  /[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\u2800]|[\p{Cf}\p{Cs}]|(?![\ufe00-\ufe0f])\p{Default_Ignorable_Code_Point}/gu;

function escaped(character: string): string {
  const code = character.codePointAt(0) as number;
  if (code > 0xffff) return `\\u{${hex(code, 5)}}`;
  return code < 0x100 ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}
