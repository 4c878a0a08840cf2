import { describe, expect, it } from 'vitest';
import { visible } from '../../src/canonical/visible.ts';

describe('text from outside', () => {
  it('keeps what people write', () => {
    for (const text of [
      'plain text, with  two spaces\tand a tab',
      'Zoë, naïve, e\u0301, Ångström, Việt Nam, Tiê\u0301\u0323ng',
      '你好 こんにちは 한국어 हिन्दी ไทยนี้ עִבְרִית العَرَبِيَّة Ελληνικά',
      '🔑 ❤\ufe0f ☎\ufe0e 👍🏽 🇩🇪 € → │ “quoted”',
    ])
      expect(visible(text)).toBe(text);
  });

  it('shows every space but the plain one', () => {
    for (const space of '\u00a0\u1680\u2000\u2003\u2007\u2009\u200a\u202f\u205f\u3000\u2028\u2029')
      expect(visible(`a${space}b`)).toMatch(/^a\\(x|u)[0-9a-f]+b$/);
  });

  it('shows marks that cross out or enclose, and heaps of marks', () => {
    for (const mark of '\u0334\u0335\u0336\u0337\u0338\u20d2\u20dd\u20e0\u20e3\u0488\u20ff')
      expect(visible(`a${mark}`)).toMatch(/^a\\u[0-9a-f]{4}$/);
    expect(visible(`a${'\u0301'.repeat(5)}`)).toBe(`a${'\u0301'.repeat(3)}\\u0301\\u0301`);
  });

  it('shows selectors that follow no emoji', () => {
    expect(visible('pay\ufe0f')).toBe('pay\\ufe0f');
    expect(visible('1\ufe0f')).toBe('1\\ufe0f');
    expect(visible('a\ufe00\u{e0100}')).toBe('a\\ufe00\\u{e0100}');
    expect(visible('🔑\ufe0f\ufe0f')).toBe('🔑\ufe0f\\ufe0f');
  });

  it('shows whatever else nobody can see', () => {
    const unseen = [
      ...'\u00ad\u034f\u061c\u115f\u1160\u17b4\u180b\u180e\u200b\u200d\u2060\u2064\u2800\u3164\ufeff\uffa0\ufff9',
      ...'\u{13441}\u{16fe4}\u{1d159}\u{1d173}\u{e0001}\u{e0041}',
      // Private and unassigned: a font may show anything there, or nothing.
      ...'\ue000\u{f0000}\u0378\uffff',
    ];
    for (const character of unseen) expect(visible(character)).toMatch(/^\\[ux]/);
  });
});
