import { FALLBACK_LANGUAGE } from './language.ts';

/** What the finder itself asks and says, per language. What a simulation asks is in the simulation. */
interface Words {
  readonly which: string;
  readonly meant: string;
  readonly or: string;
  readonly nothing: string;
  /** With {} where the simulation is named that was spoken of. */
  readonly unasked: string;
}

const WORDS: Readonly<Record<string, Words>> = {
  en: {
    which: 'Which one do you mean:',
    meant: 'Do you mean:',
    or: 'or',
    nothing: 'This does not say what is wanted.',
    unasked:
      'You speak of this and do not ask for it now: {}. Nothing was done. If you want something else, say only that.',
  },
  es: {
    which: '¿A cuál te refieres:',
    meant: '¿Te refieres a:',
    or: 'o',
    nothing: 'Esto no dice qué se quiere.',
    unasked: 'Hablas de esto y no lo pides ahora: {}. No se hizo nada. Si quieres otra cosa, di solo eso.',
  },
  fr: {
    which: 'Laquelle voulez-vous dire :',
    meant: 'Voulez-vous dire :',
    or: 'ou',
    nothing: 'Cela ne dit pas ce qui est voulu.',
    unasked:
      "Vous en parlez sans le demander maintenant : {}. Rien n'a été fait. Si vous voulez autre chose, dites seulement cela.",
  },
  de: {
    which: 'Was ist gemeint:',
    meant: 'Ist das gemeint:',
    or: 'oder',
    nothing: 'Das sagt nicht, was gewünscht ist.',
    unasked:
      'Davon ist die Rede, verlangt wird es jetzt nicht: {}. Es wurde nichts getan. Ist etwas anderes gewünscht, bitte nur das sagen.',
  },
  pt: {
    which: 'Qual delas você quer dizer:',
    meant: 'Você quer dizer:',
    or: 'ou',
    nothing: 'Isto não diz o que se quer.',
    unasked: 'Você fala disto e não o pede agora: {}. Nada foi feito. Se quiser outra coisa, diga só isso.',
  },
  it: {
    which: 'Quale intendi:',
    meant: 'Intendi:',
    or: 'o',
    nothing: 'Questo non dice che cosa si vuole.',
    unasked: "Ne parli, ma ora non lo chiedi: {}. Non è stato fatto nulla. Se vuoi altro, di' solo quello.",
  },
  zh: {
    which: '您指的是哪一个：',
    meant: '您的意思是：',
    or: '还是',
    nothing: '这句话没有说明要做什么。',
    unasked: '您提到了这件事，但现在并没有要求做：{}。什么都没有做。如果您要的是别的事，请只说那件事。',
  },
  ja: {
    which: 'どちらのことですか：',
    meant: '次のことですか：',
    or: 'または',
    nothing: '何を望んでいるのか、この言葉からは分かりません。',
    unasked:
      'これに触れていますが、今の依頼ではありません：{}。何も実行していません。別のご用件でしたら、それだけをお伝えください。',
  },
  ar: {
    which: 'أيهما تقصد:',
    meant: 'هل تقصد:',
    or: 'أم',
    nothing: 'هذا الكلام لا يبين المطلوب.',
    unasked: 'تتحدث عن هذا ولا تطلبه الآن: {}. لم يُنفَّذ شيء. إن أردت شيئا آخر فقله وحده.',
  },
  hi: {
    which: 'आपका मतलब किससे है:',
    meant: 'क्या आपका मतलब यह है:',
    or: 'या',
    nothing: 'इससे पता नहीं चलता कि क्या चाहिए।',
    unasked:
      'आपने इसका ज़िक्र किया है, पर अभी इसे करने को नहीं कहा: {}। कुछ नहीं किया गया। अगर कुछ और चाहिए, तो केवल वही कहें।',
  },
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

export const nothingSaid = (language: string): string => wordsIn(language).nothing;

export function unaskedSaid(summary: Texts, language: string): string {
  return wordsIn(language).unasked.replace('{}', () => inLanguage(summary, language));
}
