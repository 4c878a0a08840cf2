/**
 * Text from outside, made harmless for a terminal. The attacker is a tool, a file name or a queue line that hides what
 * it does behind escape sequences, or turns the reading direction.
 */
export function visible(text: string): string {
  return text.replace(HARMFUL, escaped);
}

/** The lines of captured output, each indented by two spaces as 001 prints them. */
export function indented(output: Uint8Array): string[] {
  const text = Buffer.from(output).toString('utf8');
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => `  ${visible(line.endsWith('\r') ? line.slice(0, -1) : line)}`);
}

/** One argument of argv. Quoted wherever a reader could mistake it for two, or for another one. */
export function argument(text: string): string {
  return PLAIN.test(text) ? text : visible(JSON.stringify(text));
}

const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

// Controls but the tab, line separators, direction marks, invisible joiners and lone surrogates.
const HARMFUL =
  /[\x00-\x08\x0a-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\p{Cs}/gu;

function escaped(character: string): string {
  const code = character.codePointAt(0) as number;
  return code < 0x100 ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}
