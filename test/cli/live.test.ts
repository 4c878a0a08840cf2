import { describe, expect, it } from 'vitest';
import { OutputLines } from '../../src/cli/live.ts';

function shown(...chunks: (readonly ['stdout' | 'stderr', string | Uint8Array])[]): string[] {
  const lines: string[] = [];
  const output = new OutputLines((line) => void lines.push(line));
  for (const [stream, chunk] of chunks) output.take(Buffer.from(chunk as string), stream);
  output.end();
  return lines;
}

describe('output as it comes', () => {
  it('is shown line by line, each stream by itself', () => {
    expect(shown(['stdout', 'one\ntw'], ['stderr', 'oops\n'], ['stdout', 'o\r\n\nthree'])).toEqual([
      'one',
      'oops',
      'two',
      '',
      'three',
    ]);
  });

  it('a character that comes in two parts is one character', () => {
    const bytes = Buffer.from('grün\n');
    expect(shown(['stdout', bytes.subarray(0, 3)], ['stdout', bytes.subarray(3)])).toEqual(['grün']);
  });

  it('a line without an end is shown in parts and does not gather', () => {
    const lines = shown(['stdout', 'x'.repeat(10_000)], ['stdout', '\nlast\n']);
    expect(lines.slice(0, -1).join('')).toBe('x'.repeat(10_000));
    expect(lines.at(-1)).toBe('last');
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(4096);
  });
});
