import { describe, expect, it } from 'vitest';
import { argument, visible } from '../../src/canonical/visible.ts';
import { indented, jsonLine } from '../../src/lane/visible.ts';

describe('text from outside on a terminal', () => {
  it('keeps what is harmless', () => {
    const text = 'Zoë said: 你好 🔑\t"quoted" \\x1b';
    expect(visible(text)).toBe(text);
  });

  it('shows every control character, direction mark and lone surrogate escaped', () => {
    expect(visible('\x1b[2J\r\n\0\x7f\x9b\u202e\u2066\u200b\ufeff\ud800')).toBe(
      '\\x1b[2J\\x0d\\x0a\\x00\\x7f\\x9b\\u202e\\u2066\\u200b\\ufeff\\ud800',
    );
    for (let code = 0; code < 0x20; code++)
      if (code !== 9) expect(visible(String.fromCharCode(code))).toMatch(/^\\x[01][0-9a-f]$/);
  });

  it('indents each line of an output and invents none', () => {
    expect(indented(Buffer.from(''))).toEqual([]);
    expect(indented(Buffer.from('a\n\nb'))).toEqual(['  a', '  ', '  b']);
    expect(indented(Buffer.from('a\r\nb\n'))).toEqual(['  a', '  b']);
    expect(indented(Buffer.from([0xff, 0x0a]))).toEqual(['  \ufffd']);
  });

  it('says the same in JSON without sending it raw', () => {
    const value = { text: '\x1b\x7f\x9b\u202e\u2028\ud800\u{e0041} Zoë 🔑' };
    const line = jsonLine(value);
    expect(JSON.parse(line)).toEqual(value);
    expect(visible(line)).toBe(line);
  });

  it('quotes an argument that could be mistaken for another', () => {
    expect(['--target', '/home/a_b-c.d', 'k=v'].map(argument)).toEqual(['--target', '/home/a_b-c.d', 'k=v']);
    expect(['', 'a b', '"', '[x]', 'é', '\x1b'].map(argument)).toEqual([
      '""',
      '"a b"',
      '"\\""',
      '"[x]"',
      '"é"',
      '"\\u001b"',
    ]);
  });
});
