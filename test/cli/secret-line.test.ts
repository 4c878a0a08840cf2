import { describe, expect, it } from 'vitest';
import { SecretLine } from '../../src/cli/secret-line.ts';
import { expectRefusal } from '../support/refusal.ts';

/** What is there after these keys, each chunk as one read gives it. */
function typed(...chunks: (string | Uint8Array)[]): string | null {
  const line = new SecretLine();
  for (const chunk of chunks) line.take(Buffer.from(chunk as string));
  return line.finish()?.toString() ?? null;
}

describe('a line that is not shown', () => {
  it('is what was typed until Enter, and nothing after it', () => {
    expect(typed('correct horse\r')).toBe('correct horse');
    expect(typed('cor', 'rect', '\n')).toBe('correct');
    expect(typed('one\rtwo\r')).toBe('one');
    expect(typed('one\r', 'two\r')).toBe('one');
    expect(typed('\r')).toBe('');
    expect(typed('a\tb\r')).toBe('a\tb');
  });

  it('is no answer without Enter, after Ctrl-C, or after Ctrl-D on an empty line', () => {
    expect(typed('correct')).toBeNull();
    expect(typed('correct\x03\r')).toBeNull();
    expect(typed('\x04', 'x\r')).toBeNull();
    expect(typed('x\x7f\x04')).toBeNull();
    expect(typed('x\x04y\r')).toBe('xy');
  });

  it('loses a whole letter by Backspace, and all by Ctrl-U', () => {
    expect(typed('abc\x7f\x08d\r')).toBe('ad');
    expect(typed('aö猫🜁\x7f\x7fb\r')).toBe('aöb');
    expect(typed('\x7f\x7fa\r')).toBe('a');
    expect(typed('wrong\x15right\r')).toBe('right');
  });

  it('is not changed by arrows, function keys, Alt or other control characters', () => {
    expect(typed('a\x1b[Ab\x1b[1;5Cc\x1bOPd\x1b[15~e\r')).toBe('abcde');
    expect(typed('a\x1bxb\x00\x01\x0cc\r')).toBe('abc');
    expect(typed('a\x1b', '[', 'A', 'b\r')).toBe('ab');
    expect(typed('a\x1b\r')).toBe('a');
    expect(typed('a\x1b[\r')).toBe('a');
  });

  it('keeps letters that arrive in two reads whole', () => {
    const bytes = Buffer.from('ö\r');
    expect(typed(bytes.subarray(0, 1), bytes.subarray(1))).toBe('ö');
  });

  it('is refused when it is too long, and never cut', async () => {
    expect(typed(`${'x'.repeat(1024)}\r`)).toHaveLength(1024);
    await expectRefusal('INPUT_TOO_LARGE', () => typed(`${'x'.repeat(1025)}\r`));
    await expectRefusal('INPUT_TOO_LARGE', () => typed('x'.repeat(1_000_000), '\r'));
  });
});
