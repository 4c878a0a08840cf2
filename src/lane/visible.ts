import { visible } from '../canonical/visible.ts';

/** One line of JSON. It may say any character, but a terminal that shows it must not obey one. */
export function jsonLine(value: object): string {
  return JSON.stringify(value).replace(/[^\x20-\x7e]/gu, (c) => (visible(c) === c ? c : inJson(c)));
}

function inJson(character: string): string {
  return character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The lines of captured output, each indented by two spaces as 001 prints them. */
export function indented(output: Uint8Array): string[] {
  const text = Buffer.from(output).toString('utf8');
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => `  ${visible(line.endsWith('\r') ? line.slice(0, -1) : line)}`);
}
