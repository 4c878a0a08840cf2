import { describe, expect, it } from 'vitest';
import { unmixed } from '../../src/canonical/alphabet.ts';
import { quotedPart, visible } from '../../src/canonical/visible.ts';

describe('a word of several alphabets', () => {
  it('shows the letters of the rarer one by their codes', () => {
    expect(unmixed('р\u0430ypal')).toBe('\\u0440\\u0430ypal');
    expect(unmixed('\u0391pprove and run \u043ence')).toBe('\\u0391pprove and run \\u043ence');
    expect(unmixed('/home/\u0430da/.ssh')).toBe('/home/\\u0430da/.ssh');
    // A Latin p in a Russian word.
    expect(unmixed('п\u0070ивет')).toBe('п\\u0070ивет');
    expect(unmixed('\u0561dmin')).toBe('\\u0561dmin');
  });

  it('is every word that mixes them, and no other', () => {
    for (const honest of [
      'plain words, 24 of them',
      'отчёт.txt for the bank',
      'привет, мир',
      'α and β are Greek',
      'Tシャツ 3枚 東京Tower',
      'naïve café Straße',
      'a\u0301 decomposed',
      '',
    ])
      expect(unmixed(honest)).toBe(honest);
  });

  it('leaves the escapes that stand in a text already', () => {
    for (const text of ['\u202eпривет', 'line\nпривет', 'tab\tпривет', '\u{e0041}привет']) {
      expect(unmixed(visible(text))).toBe(visible(text));
      expect(unmixed(quotedPart(text))).toBe(quotedPart(text));
    }
  });
});
