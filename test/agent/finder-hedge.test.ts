import { describe, expect, it } from 'vitest';
import { languageOf } from '../../src/finder/language.ts';
import { answer, catalog, examine, field, simulation } from './examples.ts';

const amount = field({ type: 'number', extract: 'number' });
/** One known by its phrases and one by its words, each in ten languages. */
const bank = catalog([
  simulation('money.move', {
    summary: {
      en: 'move my pocket money',
      es: 'mover mi dinero de bolsillo',
      fr: 'transférer mon argent de poche',
      de: 'mein Taschengeld verschieben',
      pt: 'mover minha mesada agora',
      it: 'spostare la mia paghetta',
      zh: '转移我的零花钱',
      ja: 'お小遣いを移動する',
      ar: 'نقل مصروفي الشخصي',
      hi: 'मेरा जेब खर्च भेजना',
    },
    fields: { amount },
  }),
  simulation('quiet.on', { summary: { en: 'turn on do not disturb' } }),
]);
const house = catalog([
  simulation('door.lock', {
    summary: { en: 'Secure it' },
    words: {
      en: { acts: ['lock'], things: ['door'] },
      es: { acts: ['cerrar'], things: ['puerta'] },
      fr: { acts: ['verrouiller'], things: ['porte'] },
      de: { acts: ['verriegeln'], things: ['Tür'] },
      pt: { acts: ['trancar'], things: ['porta'] },
      it: { acts: ['chiudere'], things: ['porta'] },
      zh: { acts: ['锁'], things: ['门'] },
      ja: { acts: ['施錠'], things: ['ドア'] },
      ar: { acts: ['أغلق'], things: ['الباب'] },
      hi: { acts: ['बंद'], things: ['दरवाज़ा'] },
    },
    side_effecting: true,
  }),
  simulation('key.revoke', {
    summary: { en: 'Take it back' },
    words: { en: { acts: ['no longer needs', 'revoke'], things: ['key'] } },
    side_effecting: true,
  }),
  simulation('door.state', {
    summary: { en: 'Look at it' },
    words: { en: { acts: ['show'], things: ['door state', 'door'] } },
  }),
]);
const MATCH = 'SIMULATION_MATCH';

describe('a goal that is meant', () => {
  it.each([
    'move my pocket money 500',
    'mover mi dinero de bolsillo 500',
    'transférer mon argent de poche 500',
    'mein Taschengeld verschieben 500',
    'mover minha mesada agora 500',
    'spostare la mia paghetta 500',
    '转移我的零花钱 500',
    'お小遣いを移動する 500',
    'نقل مصروفي الشخصي 500',
    'मेरा जेब खर्च भेजना 500',
    'turn on do not disturb',
    "I don't care how, move my pocket money 500",
    'no, move my pocket money 500',
    'can you move my pocket money 500?',
  ])('is a match: %s', (text) => {
    expect(examine(bank, text).packet.kind).toBe(MATCH);
  });

  it.each([
    'lock the door',
    'cerrar la puerta',
    'verrouiller la porte',
    'die Tür verriegeln',
    'trancar a porta',
    'chiudere la porta',
    '锁门',
    'ドアを施錠して',
    'أغلق الباب',
    'दरवाज़ा बंद करो',
    'she no longer needs the key',
    'show the door',
  ])('is a match by words: %s', (text) => {
    expect(examine(house, text).packet.kind).toBe(MATCH);
  });
});

describe('a goal that is denied or only thought about', () => {
  it.each([
    'do not move my pocket money 500',
    "don't move my pocket money 500",
    'never move my pocket money 500',
    'what if I move my pocket money 500',
    'I do not want to move my pocket money 500',
    'move my pocket money 500? no!',
    'nicht move my pocket money 500',
    'stop: move my pocket money 500',
    'cancel move my pocket money 500',
    'should I move my pocket money 500?',
    'do not, under any circumstances, move my pocket money 500',
    'do not ever under any circumstances whatsoever think of trying to move my pocket money 500',
    'move my pocket money not 500',
    'please stop, move my pocket money 500',
    'bob said "move my pocket money 500"',
    'do not turn on do not disturb',
    "I wouldn't move my pocket money 500",
    'nobody should move my pocket money 500',
    'move my pocket money 500, or rather not',
    'under no circumstances move my pocket money 500',
    'move my pocket money 500 - just kidding',
    'no quiero mover mi dinero de bolsillo 500',
    'nunca mover mi dinero de bolsillo 500',
    '¿debería mover mi dinero de bolsillo 500?',
    '¿y si mover mi dinero de bolsillo 500?',
    'alto: mover mi dinero de bolsillo 500',
    'ne pas transférer mon argent de poche 500',
    'je ne veux pas transférer mon argent de poche 500',
    'jamais transférer mon argent de poche 500',
    'dois-je transférer mon argent de poche 500 ?',
    'et si je veux transférer mon argent de poche 500',
    'mein Taschengeld nicht verschieben 500',
    'ich will mein Taschengeld nicht verschieben 500',
    'niemals mein Taschengeld verschieben 500',
    'soll ich mein Taschengeld verschieben 500?',
    'was wäre, wenn ich mein Taschengeld verschieben 500',
    'kein Taschengeld verschieben 500',
    'não mover minha mesada agora 500',
    'não quero mover minha mesada agora 500',
    'nunca mover minha mesada agora 500',
    'devo mover minha mesada agora 500?',
    'e se eu mover minha mesada agora 500',
    'non spostare la mia paghetta 500',
    'non voglio spostare la mia paghetta 500',
    'mai spostare la mia paghetta 500',
    'devo spostare la mia paghetta 500?',
    'e se volessi spostare la mia paghetta 500',
    '不要转移我的零花钱 500',
    '别转移我的零花钱 500',
    '我不想转移我的零花钱 500',
    '如果我转移我的零花钱 500',
    '我应该转移我的零花钱 500 吗？',
    '停止：转移我的零花钱 500',
    '千万别转移我的零花钱 500',
    'お小遣いを移動しないで 500',
    'お小遣いを移動したくない 500',
    'お小遣いを移動するな 500',
    'お小遣いを移動するべきですか 500',
    'もしお小遣いを移動する 500',
    'お小遣いを移動しないでください 500',
    '絶対にお小遣いを移動するな 500',
    'お小遣いは移動しません 500',
    'لا تقم بنقل مصروفي الشخصي 500',
    'لا أريد نقل مصروفي الشخصي 500',
    'ماذا لو نقل مصروفي الشخصي 500',
    'هل يجب نقل مصروفي الشخصي 500؟',
    'أبدا نقل مصروفي الشخصي 500',
    'توقف: نقل مصروفي الشخصي 500',
    'मेरा जेब खर्च मत भेजना 500',
    'मैं मेरा जेब खर्च नहीं भेजना चाहता 500',
    'क्या मुझे मेरा जेब खर्च भेजना चाहिए 500?',
    'अगर मैं मेरा जेब खर्च भेजना 500',
    'रुको: मेरा जेब खर्च भेजना 500',
    'मेरा जेब खर्च कभी मत भेजना 500',
  ])('is never a match: %s', (text) => {
    expect(examine(bank, text).packet.kind).not.toBe(MATCH);
  });

  it.each([
    'do not lock the door',
    'never lock the door',
    'I do not want to lock the door',
    'stop: lock the door',
    'cancel lock the door',
    'what if I lock the door',
    'should I lock the door?',
    'do not, ever, lock the door',
    'no cerrar la puerta',
    'nunca cerrar la puerta',
    '¿debería cerrar la puerta?',
    'ne pas verrouiller la porte',
    'faut-il verrouiller la porte ?',
    'die Tür nicht verriegeln',
    'niemals die Tür verriegeln',
    'soll ich die Tür verriegeln?',
    'não trancar a porta',
    'devo trancar a porta?',
    'non chiudere la porta',
    'e se dovessi chiudere la porta',
    '不要锁门',
    '我应该锁门吗',
    'ドアを施錠しないで',
    'ドアを施錠するべきですか',
    'لا تغلق الباب',
    'هل يجب أن أغلق الباب؟',
    'दरवाज़ा बंद मत करो',
    'क्या मुझे दरवाज़ा बंद करना चाहिए?',
    'do not say that she no longer needs the key',
    'do not show the door',
    'never show me the door state',
  ])('is never a match by words: %s', (text) => {
    expect(examine(house, text).packet.kind).not.toBe(MATCH);
  });

  it('is asked about, and only a yes goes on', () => {
    const text = 'do not move my pocket money 500';
    const asked = examine(bank, text);
    expect(asked.packet).toMatchObject({ kind: 'CLARIFY', reason_code: 'CLARIFY_CONFIDENCE_LOW' });
    expect(answer(bank, text, asked, 'yes').packet).toMatchObject({
      kind: MATCH,
      reason_code: 'MATCH_CLARIFIED',
    });
    expect(answer(bank, text, asked, 'no').packet).toMatchObject({
      kind: 'REFUSE',
      reason_code: 'NOTHING_ASKED',
    });
  });

  it('as an answer names nothing', () => {
    const text = 'do not move my pocket money 500';
    const asked = examine(bank, text);
    for (const said of [
      "don't move the pocket money",
      'should I move the pocket money?',
      'not the pocket money',
    ])
      expect(answer(bank, text, asked, said).packet.kind).not.toBe('SIMULATION_MATCH');
  });
});

describe('the language of a conversation', () => {
  it.each([
    ['append a notebook line "n"', 'en'],
    ['append note n', 'en'],
    ['add "el gato y la casa" to it', 'en'],
    ['send "報告" to Bob', 'en'],
    ['note “der die das und” on it', 'en'],
    ['crea el ticket "the best of all"', 'es'],
    ['schick das an Anna', 'de'],
    ['把 "the report" 发给 Bob', 'zh'],
    ['"schick das bitte an mich"', 'de'],
  ])('is not decided by what stands in quotes: %s', (text, language) => {
    expect(languageOf(text, undefined)).toBe(language);
  });
});
