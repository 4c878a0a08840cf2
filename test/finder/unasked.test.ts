import { describe, expect, it } from 'vitest';
import { createFinder } from '../../src/finder/finder.ts';
import { requestFor } from '../agent/evaluate.ts';
import { radioCatalog } from './radio.ts';

/** An act that exists and is spoken of, and not asked for now: neither missing nor matched, and no wish. */

const catalog = radioCatalog();
const finder = createFinder();
const heard = (utterance: string) => finder.examine(requestFor(catalog, utterance));

const LANGUAGES: readonly (readonly [language: string, denial: string, said: string])[] = [
  ['en', 'under no circumstances raise the barrier', 'Nothing was done.'],
  ['de', 'Öffne auf keinen Fall die Schranke', 'Es wurde nichts getan.'],
  ['es', 'ni se te ocurra levantar la barrera', 'No se hizo nada.'],
  ['fr', 'il est interdit de couper le micro', "Rien n'a été fait."],
  ['it', 'non alzare la sbarra', 'Non è stato fatto nulla.'],
  ['pt', 'não abra a cancela', 'Nada foi feito.'],
  ['zh', '千万不要打开道闸', '什么都没有做。'],
  ['ja', 'ゲートを開けないでください', '何も実行していません。'],
  ['ar', 'لا تفتح الحاجز', 'لم يُنفَّذ شيء.'],
  ['hi', 'बैरियर मत खोलो', 'कुछ नहीं किया गया।'],
];

describe('an act that exists and is not asked for', () => {
  it.each(LANGUAGES)('is refused in %s where it is denied: %s', (language, utterance, said) => {
    const { packet, language: spoken } = heard(utterance);
    expect(packet).toMatchObject({ kind: 'REFUSE', reason_code: 'NOTHING_ASKED' });
    expect(packet).toHaveProperty('message', expect.stringContaining(said));
    expect(spoken).toBe(language);
  });

  it.each([
    ['a need that there is not', 'there is no need to mute the mic'],
    ['a report', 'Die Schranke wurde schon geöffnet'],
    ['a report of somebody else', 'Tom a ouvert la barrière'],
    ['thanks', 'thanks for showing the listeners'],
    ['an order to stop', 'stop showing the listeners'],
    ['a wish about the past', 'Ich wünschte, du hättest die Hörerzahl gezeigt'],
    ['what was voted down', 'we voted against raising the barrier'],
    ['a read that is forbidden', 'não mostre os ouvintes'],
  ])('is refused where it is %s: %s', (_, utterance) => {
    expect(heard(utterance).packet).toMatchObject({ kind: 'REFUSE', reason_code: 'NOTHING_ASKED' });
  });

  it('names what was spoken of', () => {
    expect(heard('do not raise the barrier').packet).toHaveProperty(
      'message',
      expect.stringContaining(heard('raise the barrier').candidates[0]!.entry.simulation.summary.en!),
    );
  });

  it.each([
    ['made to depend on something', 'if the mayor calls, show the listeners'],
    ['asked about', 'can the barrier be raised remotely?'],
    [
      'one thing of several',
      'no one is here, nothing works, do not show the listeners to Tom and his sister',
    ],
  ])('is at most a question where it is %s: %s', (_, utterance) => {
    expect(['CLARIFY', 'REFUSE']).toContain(heard(utterance).packet.kind);
  });
});

describe('what is not there', () => {
  it.each([
    'paint the barrier red',
    'do not paint the barrier',
    'translate "raise the barrier" into French',
    'add a note saying "raise the barrier"',
    'do not raise the barrier, please translate the sign',
    'who raised the barrier?',
    'write a song about the listeners',
    'we never had a swimming pool, book one',
    'thanks for watering the plants',
  ])('is missing, also where something is denied or told: %s', (utterance) => {
    expect(heard(utterance).packet.kind).toBe('MISSING_SIMULATION');
  });
});

const SMALL_TALK: readonly (readonly [language: string, ...sayings: string[]])[] = [
  ['en', 'Hello there, how are you today?', 'thank you so much for your help!', 'Great, see you tomorrow'],
  ['de', 'Guten Morgen zusammen, wie geht es euch?', 'Vielen Dank!', 'Super, bis morgen'],
  ['es', 'Hola, ¿qué tal?', 'Muchas gracias por tu ayuda', 'Buenas tardes', 'Perfecto, hasta luego'],
  ['fr', 'Bonjour à tous, comment allez-vous ?', 'Merci beaucoup !', 'Parfait, à demain'],
  ['it', 'Ciao a tutti, come stai?', 'Grazie mille!', 'Ottimo lavoro, a presto'],
  ['pt', 'Bom dia, tudo bem?', 'Muito obrigada pela ajuda', 'Ótimo, até amanhã'],
  ['zh', '你好，最近怎么样？', '非常感谢你的帮助！', '太好了，再见'],
  ['ja', 'こんにちは、お元気ですか？', 'どうもありがとうございました', 'お疲れ様でした'],
  ['ar', 'صباح الخير، كيف حالك؟', 'شكرا جزيلا لك', 'ممتاز، إلى اللقاء'],
  ['hi', 'नमस्ते, आप कैसे हैं?', 'बहुत धन्यवाद', 'शाबाश, फिर मिलेंगे'],
];

describe('a greeting, thanks, praise or a farewell', () => {
  it.each(SMALL_TALK)('asks for nothing, in %s', (_, ...sayings) => {
    for (const utterance of sayings)
      expect([utterance, heard(utterance).packet]).toMatchObject([
        utterance,
        { kind: 'REFUSE', reason_code: 'NOTHING_ASKED' },
      ]);
  });

  it('takes nothing from what is said beside it', () => {
    expect(heard('hello, raise the barrier of G-1').packet.kind).not.toBe('REFUSE');
    expect(heard('good morning, please bake a chocolate cake').packet.kind).toBe('MISSING_SIMULATION');
    expect(heard('thanks, and order 12 pizzas').packet.kind).toBe('MISSING_SIMULATION');
  });
});
