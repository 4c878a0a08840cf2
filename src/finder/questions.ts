import { FALLBACK_LANGUAGE } from './language.ts';

/** What the finder itself asks and says, per language. What a simulation asks is in the simulation. */
interface Words {
  readonly which: string;
  readonly meant: string;
  readonly or: string;
}

const WORDS: Readonly<Record<string, Words>> = {
  en: { which: 'Which one do you mean:', meant: 'Do you mean:', or: 'or' },
  es: { which: '¿A cuál te refieres:', meant: '¿Te refieres a:', or: 'o' },
  fr: { which: 'Laquelle voulez-vous dire :', meant: 'Voulez-vous dire :', or: 'ou' },
  de: { which: 'Was ist gemeint:', meant: 'Ist das gemeint:', or: 'oder' },
  pt: { which: 'Qual delas você quer dizer:', meant: 'Você quer dizer:', or: 'ou' },
  it: { which: 'Quale intendi:', meant: 'Intendi:', or: 'o' },
  zh: { which: '您指的是哪一个：', meant: '您的意思是：', or: '还是' },
  ja: { which: 'どちらのことですか：', meant: '次のことですか：', or: 'または' },
  ar: { which: 'أيهما تقصد:', meant: 'هل تقصد:', or: 'أم' },
  hi: { which: 'आपका मतलब किससे है:', meant: 'क्या आपका मतलब यह है:', or: 'या' },
};

export type Texts = Readonly<Record<string, string>>;

export function inLanguage(texts: Texts, language: string): string {
  return (Object.hasOwn(texts, language) ? texts[language] : texts[FALLBACK_LANGUAGE])!;
}

const wordsIn = (language: string): Words =>
  (Object.hasOwn(WORDS, language) ? WORDS[language] : WORDS[FALLBACK_LANGUAGE])!;

/** The numbered choices are answers, too. */
export function choices(summaries: readonly Texts[], language: string): string[] {
  return summaries.map((summary, i) => `${i + 1} = ${inLanguage(summary, language)}`);
}

export function whichQuestion(summaries: readonly Texts[], language: string): string {
  const { which, or } = wordsIn(language);
  return `${which} ${choices(summaries, language).join(` ${or} `)}?`;
}

export function meantQuestion(summary: Texts, language: string): string {
  return `${wordsIn(language).meant} ${inLanguage(summary, language)}?`;
}
