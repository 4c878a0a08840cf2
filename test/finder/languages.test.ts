import { describe, expect, it } from 'vitest';
import { LANGUAGE_RULES } from '../../src/finder/languages/all.ts';
import { SAYING_KINDS } from '../../src/finder/languages/rules.ts';
import { clausesOf, unaskedKind } from '../../src/finder/saying.ts';

/** The kind of the clause that has the word, as an act that was heard there. */
function kindOf(text: string, word: string, language: string): string | null {
  const start = text.indexOf(word);
  expect(start, `${word} in ${text}`).toBeGreaterThanOrEqual(0);
  const act = { spans: [{ start, end: start + word.length }], is_verbatim: false };
  return unaskedKind(act, text, clausesOf(text, language), language);
}

/** Sayings about a bakery, which no corpus has: the language, the saying, its act, and what is done with it. */
const SAYINGS: readonly (readonly [string, string, string, string | null])[] = [
  ['en', 'bake the bread for table 4', 'bake', null],
  ['en', 'if you can, bake the bread', 'bake', null],
  ['en', 'the oven is hot, please bake the bread', 'bake', null],
  ['en', 'Anna has baked the bread', 'baked', 'report'],
  ['en', 'never bake the bread', 'bake', 'denial'],
  ['en', 'bake the bread if the flour comes', 'bake', 'condition'],
  ['en', 'is it possible to bake the bread', 'bake', 'ability'],
  ['en', 'bake the bread? Certainly not', 'bake', 'denial'],
  ['de', 'back das Brot', 'back', null],
  ['de', 'Anna hat das Brot gebacken', 'gebacken', 'report'],
  ['de', 'auf keinen Fall das Brot backen', 'backen', 'denial'],
  ['de', 'falls Mehl kommt, back das Brot', 'back', 'condition'],
  ['es', 'hornea el pan', 'hornea', null],
  ['es', 'Ana ha horneado el pan', 'horneado', 'report'],
  ['es', 'no hornees el pan', 'hornees', 'denial'],
  ['es', 'si llega la harina, hornea el pan', 'hornea', 'condition'],
  ['fr', "cuis le pain, s'il te plaît", 'cuis', null],
  ['fr', 'Anne a mangé le pain', 'mangé', 'report'],
  ['fr', 'ne cuis pas le pain', 'cuis', 'denial'],
  ['fr', 'si la farine arrive, cuis le pain', 'cuis', 'condition'],
  ['it', 'inforna il pane per favore', 'inforna', null],
  ['it', 'Anna ha infornato il pane', 'infornato', 'report'],
  ['it', 'non infornare il pane', 'infornare', 'denial'],
  ['it', 'se arriva la farina, inforna il pane', 'inforna', 'condition'],
  ['pt', 'asse o pão', 'asse', null],
  ['pt', 'Ana já tinha assado o pão', 'assado', 'report'],
  ['pt', 'não asse o pão', 'asse', 'denial'],
  ['pt', 'se chegar farinha, asse o pão', 'asse', 'condition'],
  ['zh', '请烤面包', '烤', null],
  ['zh', '昨天有人烤了面包', '烤', 'report'],
  ['zh', '千万别烤面包', '烤', 'denial'],
  ['zh', '如果面粉到了，就烤面包', '烤', 'condition'],
  ['ja', 'パンを焼いてください', '焼', null],
  ['ja', '昨日パンを焼きました', '焼', 'report'],
  ['ja', 'パンを焼かないで', '焼', 'denial'],
  ['ja', 'もし粉が来たら、パンを焼いて', '焼', 'condition'],
  ['ar', 'اخبز الخبز من فضلك', 'اخبز', null],
  ['ar', 'لقد خبزت الخبز أمس', 'خبزت', 'report'],
  ['ar', 'لا تخبز الخبز', 'تخبز', 'denial'],
  ['ar', 'إذا وصل الطحين اخبز الخبز', 'اخبز', 'condition'],
  ['hi', 'कृपया रोटी बनाओ', 'बनाओ', null],
  ['hi', 'माँ ने रोटी बनाई है', 'बनाई', 'report'],
  ['hi', 'रोटी मत बनाओ', 'बनाओ', 'denial'],
  ['hi', 'अगर आटा आए तो रोटी बनाओ', 'बनाओ', 'condition'],
  ['en', 'thanks for baking the bread', 'baking', 'report'],
  ['en', 'quit baking the bread', 'baking', 'denial'],
  ['en', 'before you bake the bread, wash your hands', 'bake', 'condition'],
  ['en', 'it is too late to bake the bread', 'bake', 'denial'],
  ['en', 'she told me to bake the bread', 'bake', 'report'],
  ['en', 'did Tom bake the bread?', 'bake', 'report'],
  ['en', 'should the flour come, bake the bread', 'bake', 'condition'],
  ['de', 'Hör auf, das Brot zu backen', 'backen', 'denial'],
  ['de', 'Der Chef hat verboten, Brot zu backen', 'backen', 'report'],
  ['de', 'Danke fürs Backen', 'Backen', 'report'],
  ['de', 'wie backt man Brot', 'backt', 'ability'],
  ['es', 'deja de hornear el pan', 'hornear', 'denial'],
  ['es', 'gracias por hornear el pan', 'hornear', 'report'],
  ['es', 'antes de hornear el pan, lávate', 'hornear', 'condition'],
  ['es', 'ni se te ocurra hornear el pan', 'hornear', 'denial'],
  ['fr', 'arrête de cuire le pain', 'cuire', 'denial'],
  ['fr', "merci d'avoir cuit le pain", 'cuit', 'report'],
  ['fr', 'avant de cuire le pain, lave-toi', 'cuire', 'condition'],
  ['it', 'smettila di infornare il pane', 'infornare', 'denial'],
  ['it', 'grazie per aver infornato il pane', 'infornato', 'report'],
  ['it', 'prima di infornare il pane, lavati', 'infornare', 'condition'],
  ['pt', 'pare de assar o pão', 'assar', 'denial'],
  ['pt', 'obrigado por assar o pão', 'assar', 'report'],
  ['pt', 'o chefe proibiu assar o pão', 'assar', 'denial'],
  ['zh', '老板让我烤面包', '烤', 'report'],
  ['zh', '小王烤了面包', '烤', 'report'],
  ['zh', '烤面包之前先洗手', '烤', 'condition'],
  ['ja', 'パンを焼いてくれてありがとう', '焼', 'report'],
  ['ja', 'パンを焼く前に手を洗って', '焼', 'condition'],
  ['ar', 'توقف عن خبز الخبز', 'خبز', 'denial'],
  ['ar', 'شكرا على خبز الخبز', 'خبز', 'report'],
  ['ar', 'طلبوا مني خبز الخبز', 'خبز', 'report'],
  ['hi', 'रोटी बनाना बंद करो', 'बनाना', 'denial'],
  ['hi', 'रोटी बनाने के लिए धन्यवाद', 'बनाने', 'report'],
  ['hi', 'रोटी बनाने से पहले हाथ धोओ', 'बनाने', 'condition'],
];

describe('the rules of a language', () => {
  it('are there for ten languages, each with rules for every kind', () => {
    expect(LANGUAGE_RULES.size).toBe(10);
    for (const { sure } of LANGUAGE_RULES.values())
      for (const kind of SAYING_KINDS) expect(sure[kind].length).toBeGreaterThan(0);
  });

  it.each(SAYINGS)('of %s hear "%s" (%s): %s', (language, text, word, kind) => {
    expect(kindOf(text, word, language)).toBe(kind);
  });

  it('hear nothing in a language that they do not have', () => {
    expect(clausesOf('never bake it', 'tlh').every(({ sure }) => sure.length === 0)).toBe(true);
  });
});
