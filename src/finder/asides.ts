import { inflection } from './similar.ts';
import { type Spoken, spokenIn } from './speech.ts';

/**
 * Words of talking about a thing, or of doing with it what needs no simulation: why, how long, the rules, translate,
 * rename. Where a simulation has no word for them, it is probably not what is wanted.
 */
const ASIDES: Readonly<Record<string, string>> = {
  en: 'story, stories, joke, poem, song, rules, why, how long, how do i, policy, policies, usually, normally, explain, translate, rename, paint, decorate, write, article, design, compare, summarize, recommend, translation, draw, clean, repair, who was, cost last',
  es: 'cuento, historia, chiste, poema, canción, reglas, por qué, cuánto tarda, política, normalmente, explica, traducir, traduce, renombrar, pintar, decorar, escribir, redactar, artículo, comparar, resumir, recomiendas, diseñar',
  fr: 'histoire, blague, poème, chanson, règles, pourquoi, combien de temps, politique, normalement, expliquer, traduire, renommer, peindre, décorer, écrire, rédiger, article, comparer, résumer, recommander, corriger, fautes',
  de: 'geschichte, witz, gedicht, lied, regeln, warum, wieso, wie lange, wie lang, richtlinie, normalerweise, erkläre, übersetzen, umbenennen, streichen, schreiben, artikel, vergleichen, zusammenfassen, empfehlen, dekorieren',
  pt: 'história, piada, poema, canção, regras, por que, quanto tempo, política, normalmente, explica, traduzir, renomear, pintar, decorar, escrever, artigo, comparar, resumir, recomendar, quem foi',
  it: 'storia, barzelletta, poesia, canzone, regole, perché, quanto tempo, politica, normalmente, spiega, tradurre, rinominare, dipingere, decorare, scrivere, articolo, confrontare, riassumere, consigliare, costato',
  zh: '故事, 笑话, 诗, 首歌, 为什么, 多长时间, 政策, 规定, 一般, 通常, 解释, 翻译, 改名, 重命名, 粉刷, 装饰, 写一篇, 文章, 比较, 总结, 推荐',
  ja: '物語, 冗談, 詩, 歌, なぜ, どうして, 規定, ポリシー, 通常, 普通, 説明, 翻訳, 名前を変, 塗って, 飾って, 書いて, 記事, 比較, 要約, おすすめ, 届け先, 住所',
  ar: 'قصة, نكتة, قصيدة, أغنية, لماذا, كم يستغرق, سياسة, عادة, اشرح, ترجم, ترجمة, إعادة تسمية, اطل, زين, اكتب, مقال, قارن, لخص',
  hi: 'कहानी, चुटकुला, कविता, गाना, क्यों, कितना समय, नीति, आमतौर, समझाओ, अनुवाद, नाम बदल, रंग, सजाओ, लिखो, लेख, तुलना, सारांश, पता बदल',
};

const termsOf = (lines: readonly string[]): readonly (readonly string[])[] =>
  lines.flatMap((line) => line.split(',')).map((term) => spokenIn(term).map(({ text }) => text));

/** By their first letter, in which a word and its forms agree. */
const TERMS: ReadonlyMap<string, readonly (readonly string[])[]> = byLetter(termsOf(Object.values(ASIDES)));

function byLetter(terms: readonly (readonly string[])[]): Map<string, (readonly string[])[]> {
  const groups = new Map<string, (readonly string[])[]>();
  for (const term of terms) {
    const letter = term[0]![0]!;
    groups.set(letter, [...(groups.get(letter) ?? []), term]);
  }
  return groups;
}

/** Who did it, how much it was: asked at the beginning, these want an answer and not a deed. */
const ASKED = termsOf([
  'who, how much, how many, what, when was, which, quién, cuánto, cuántos, cuándo fue, qui, combien, quel, quelle, wer',
  'wie viel, wie viele, wie teuer, was, quem, quanto, quantos, chi, quanti, quale, 谁, 多少, 誰, いくら, من الذي, كم, किसने, कितना',
]);

/** Where such words stand. */
export function asidesIn(spoken: readonly Spoken[]): number[][] {
  return spoken.flatMap(({ forms }, i) =>
    [...new Set(forms.map((form) => form[0]!))]
      .flatMap((letter) => TERMS.get(letter) ?? [])
      .filter((term) => isAt(term, spoken, i))
      .map((term) => placesOf(term, i)),
  );
}

/** The words of the first clause, when it is a question after a fact. */
export function askedIn(spoken: readonly Spoken[]): ReadonlySet<number> {
  if (!ASKED.some((term) => isAt(term, spoken, 0))) return new Set();
  return new Set(spoken.flatMap(({ clause }, i) => (clause === spoken[0]!.clause ? [i] : [])));
}

const placesOf = (term: readonly string[], from: number): number[] => term.map((_, j) => from + j);

function isAt(term: readonly string[], spoken: readonly Spoken[], from: number): boolean {
  return term.every((word, j) => spoken[from + j]?.forms.some((form) => isForm(form, word)));
}

/** Short words have too many neighbours: `faut` is no form of `fautes`. */
const LONG = 5;

function isForm(form: string, word: string): boolean {
  return form === word || (Math.min(form.length, word.length) >= LONG && inflection(form, word) > 0.95);
}
