import { describe, expect, it } from 'vitest';
import { beginsCode, codeOf } from '../../src/canonical/code.ts';
import { sha256 } from '../../src/canonical/digest.ts';

const NONE = '0'.repeat(64);
const ALL = 'f'.repeat(64);

describe('the code of a digest', () => {
  it('is its first 80 bits in Crockford base32, grouped by four', () => {
    expect(codeOf(NONE)).toBe('0000-0000-0000-0000');
    expect(codeOf(ALL)).toBe('ZZZZ-ZZZZ-ZZZZ-ZZZZ');
    // 00001 00010 00011 00100 00101 00110 00111 01000, and the same again.
    expect(codeOf(`0886429 8e8`.replace(' ', '').repeat(2).padEnd(64, '7'))).toBe('1234-5678-1234-5678');
    expect(codeOf(sha256('one'))).not.toBe(codeOf(sha256('two')));
    expect(codeOf(`${'a'.repeat(20)}${'0'.repeat(44)}`)).toBe(codeOf('a'.repeat(64)));
    expect(codeOf(`${'a'.repeat(19)}b${'0'.repeat(44)}`)).not.toBe(codeOf('a'.repeat(64)));
  });

  it('is read in any case, with letters that look alike, and with or without hyphens', () => {
    for (const typed of ['000000', '0000-00', 'OoOo oO', ' 0000-0000-0000-0000 ', 'oooooo'])
      expect(beginsCode(typed, NONE), typed).toBe(true);
    const ones = '08421'.repeat(13).slice(0, 64);
    expect(codeOf(ones)).toBe('1111-1111-1111-1111');
    for (const typed of ['IlL1-i1', 'llllll']) expect(beginsCode(typed, ones), typed).toBe(true);
    expect(beginsCode('zzzz-zz', ALL)).toBe(true);
  });

  it('is not what is too short, too long or another', () => {
    for (const typed of ['', '00000', '-----00000', '000001', '0'.repeat(17), 'y', '０００００００'])
      expect(beginsCode(typed, NONE), typed).toBe(false);
  });
});
