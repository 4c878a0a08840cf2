import { describe, expect, it } from 'vitest';
import { readConfirmation } from '../../src/finder/lexicon/confirmation.ts';
import { LEXICON, LEXICON_VERSION } from '../../src/finder/lexicon/lexicon.ts';

const read = (text: string, language: string) => readConfirmation(text, language);

describe('the confirmation lexicon', () => {
  it('knows ten languages, and its version names its words', () => {
    expect([...LEXICON.keys()].sort()).toEqual(['ar', 'de', 'en', 'es', 'fr', 'hi', 'it', 'ja', 'pt', 'zh']);
    expect(LEXICON_VERSION).toMatch(/^confirm-lexicon\/2\+sha256:[0-9a-f]{64}$/);
  });

  it.each([...LEXICON.keys()])(
    'takes every canonical token of %s and none of its ambiguous words',
    (language) => {
      const { affirmative, negative, ambiguous } = LEXICON.get(language)!;
      for (const token of affirmative)
        expect(read(token, language)).toMatchObject({ answer: 'YES', token, reason: 'CANONICAL' });
      for (const token of negative) expect(read(token, language)).toMatchObject({ answer: 'NO', token });
      for (const word of ambiguous)
        expect(read(word, language)).toMatchObject({
          answer: 'AMBIGUOUS',
          token: null,
          reason: 'AMBIGUOUS_WORD',
        });
    },
  );

  it('keeps token, language and version as the proof', () => {
    expect(read(' YES! ', 'en')).toEqual({
      answer: 'YES',
      token: 'yes',
      language: 'en',
      confirm_lexicon_version_ref: LEXICON_VERSION,
      reason: 'CANONICAL',
    });
  });

  it.each([
    ['Yes.', 'en'],
    ['si\u0301', 'es'],
    ['JA', 'de'],
    ['はい。', 'ja'],
    ['是的！', 'zh'],
    ['हाँ।', 'hi'],
  ])('normalises %s in %s', (text, language) => {
    expect(read(text, language).answer).toBe('YES');
  });

  it.each([
    ['okay', 'en', 'AMBIGUOUS_WORD'],
    ['fine', 'en', 'AMBIGUOUS_WORD'],
    ['maybe later', 'en', 'AMBIGUOUS_WORD'],
    ['vale', 'es', 'AMBIGUOUS_WORD'],
    ["d'accord", 'fr', 'AMBIGUOUS_WORD'],
    ['好的', 'zh', 'AMBIGUOUS_WORD'],
    ['', 'en', 'EMPTY'],
    ['  \n', 'en', 'EMPTY'],
    ['yes but not today', 'en', 'MORE_THAN_TOKEN'],
    ['yes, if it is free', 'en', 'MORE_THAN_TOKEN'],
    ['yes?', 'en', 'MORE_THAN_TOKEN'],
    ['yes!!', 'en', 'MORE_THAN_TOKEN'],
    ['yesterday', 'en', 'NOT_IN_LEXICON'],
    ['1', 'en', 'NOT_IN_LEXICON'],
    ['si', 'en', 'OTHER_LANGUAGE'],
    ['да', 'en', 'FOREIGN_SCRIPT'],
    ['уes', 'en', 'MIXED_SCRIPT'],
    ['yеs', 'en', 'MIXED_SCRIPT'],
    ['𝐲𝐞𝐬', 'en', 'FOREIGN_SCRIPT'],
    ['ye\u200bs', 'en', 'INVISIBLE_CHARACTER'],
    ['yes\u202e', 'en', 'INVISIBLE_CHARACTER'],
    ['\ufeffyes', 'en', 'INVISIBLE_CHARACTER'],
    ['ｙｅｓ', 'en', 'LOOK_ALIKE'],
    ['ⓨⓔⓢ', 'en', 'LOOK_ALIKE'],
    ['🅈🄴🅂', 'en', 'LOOK_ALIKE'],
    ['yeſ', 'en', 'LOOK_ALIKE'],
    ['ⓨes', 'en', 'LOOK_ALIKE'],
    ['Ⓝⓞ', 'en', 'LOOK_ALIKE'],
    ['⒮i', 'es', 'NOT_IN_LEXICON'],
    ['㊣', 'zh', 'NOT_IN_LEXICON'],
    ['yes'.padEnd(201), 'en', 'TOO_LONG'],
    ['yes', 'tlh', 'LANGUAGE_UNKNOWN'],
    ['yes', 'constructor', 'LANGUAGE_UNKNOWN'],
  ])('does not take %j in %s for an answer: %s', (text, language, reason) => {
    expect(read(text, language)).toMatchObject({ answer: 'AMBIGUOUS', token: null, reason });
  });

  it.each([
    ['sí', 'en', 'YES', 'es'],
    ['ja', 'en', 'YES', 'de'],
    ['yes', 'ja', 'YES', 'en'],
    ['nein', 'fr', 'NO', 'de'],
  ])('takes %j to a question in %s for a %s of another language', (text, asked, answer, language) => {
    expect(read(text, asked)).toMatchObject({ answer, language, reason: 'CANONICAL_ELSEWHERE' });
  });

  it.each([
    ['please do not do that', 'en'],
    ['tu das bitte nicht', 'de'],
    ['no lo hagas', 'es'],
    ['ne le fais pas', 'fr'],
    ['non farlo', 'it'],
    ['não faça isso', 'pt'],
    ['请不要做', 'zh'],
    ['今はしないで', 'ja'],
    ['لا تفعل هذا الآن', 'ar'],
    ['यह मत करो', 'hi'],
  ])('hears the short denial %j in %s as a no, and reads its token the same again', (text, language) => {
    const heard = read(text, language);
    expect(heard).toMatchObject({ answer: 'NO', reason: 'DENIAL' });
    expect(read(heard.token!, language).answer).toBe('NO');
  });

  it.each([
    ['I never said yes', 'en'],
    ['not if it rains', 'en'],
    ['why not', 'en'],
    ['ich weiß nicht', 'de'],
    ['no sé', 'es'],
    ['pourquoi pas', 'fr'],
    ['不知道', 'zh'],
  ])('leaves %j in %s open', (text, language) => {
    expect(read(text, language).answer).toBe('AMBIGUOUS');
  });

  it('no other letter in the place of one of yes makes a yes', () => {
    const made = [];
    for (let point = 0x80; point < 0x20000; point += 1) {
      if (point >= 0xd800 && point < 0xe000) continue;
      const letter = String.fromCodePoint(point);
      for (const text of [`${letter}es`, `y${letter}s`, `ye${letter}`])
        if (read(text, 'en').answer !== 'AMBIGUOUS') made.push(text);
    }
    expect(made).toEqual([]);
  });

  it('takes full-width forms where people write them, and blanks around a token', () => {
    expect(read('是的，我确认！', 'zh')).toMatchObject({ answer: 'YES', token: '是的,我确认' });
    expect(read('ｷｬﾝｾﾙ', 'ja')).toMatchObject({ answer: 'NO', token: 'キャンセル' });
    expect(read(`${' '.repeat(90)}yes${'\n '.repeat(50)}`, 'en').answer).toBe('YES');
  });
});
