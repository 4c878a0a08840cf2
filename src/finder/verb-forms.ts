import { arabicForms } from './arabic-forms.ts';
import { folded } from './fold.ts';
import { hindiForms } from './hindi-forms.ts';
import { LANGUAGE_RULES } from './languages/all.ts';

/** How the verbs of a language are said that its dictionaries write in one way, where no ending tells. */

export interface VerbForm {
  readonly text: string;
  /** The last word stands at the end of its clause, however far away: "mach das Ventil im Hof auf". */
  readonly is_apart: boolean;
}

const FORMS: Readonly<Record<string, (act: string) => readonly string[]>> = {
  ar: arabicForms,
  hi: hindiForms,
  ja: japaneseForms,
};

export function verbForms(language: string, act: string): VerbForm[] {
  const apart = apartIn(language, act);
  const whole = [...(FORMS[language]?.(act) ?? []), ...respelledIn(language, act)];
  return [
    ...[...new Set([act, ...whole])].map((text) => ({ text, is_apart: false })),
    ...(apart === null ? [] : [{ text: apart, is_apart: true }]),
  ];
}

/** What is left of the verb must still be one: `legen` of `zurücklegen`. */
const SHORTEST_VERB = 4;

function apartIn(language: string, act: string): string | null {
  const { separable = [] } = LANGUAGE_RULES.get(language) ?? {};
  const word = act.toLowerCase();
  if (separable.length === 0 || !/^\p{L}+n$/u.test(word)) return null;
  const [first] = separable
    .filter((part) => folded(word).startsWith(folded(part)) && word.length - part.length >= SHORTEST_VERB)
    .sort((a, b) => b.length - a.length);
  return first === undefined ? null : `${word.slice(first.length)} ${first}`;
}

/** The form in which the last letter of the stem is spelled otherwise: aplazar, aplace. The other forms are endings of it. */
function respelledIn(language: string, act: string): string[] {
  const { respelled = {} } = LANGUAGE_RULES.get(language) ?? {};
  return Object.entries(respelled)
    .filter(([ending]) => act.endsWith(ending))
    .map(([ending, other]) => act.slice(0, -ending.length) + other);
}

/** What the last letter of a Japanese verb becomes, by the letter. Other rows make nouns of it: `届け先` is no wish to deliver. */
const CHANGES: Readonly<Record<string, string>> = {
  う: 'いっわ',
  く: 'きいか',
  ぐ: 'ぎいが',
  す: 'しさ',
  つ: 'ちった',
  ぬ: 'にんな',
  ぶ: 'びんば',
  む: 'みんま',
  る: 'りっら',
};
/** Before the last letter of a verb of one row: its stem stays, and these follow. た alone tells what was done. */
const ONE_ROW = /[いきしちにひみりぎじびえけせてねへめれげぜべ]る$/u;

function japaneseForms(act: string): string[] {
  const last = act.at(-1)!;
  const stem = act.slice(0, -1);
  const changes = CHANGES[last];
  if (changes === undefined || !/\p{Script=Han}/u.test(stem)) return [];
  const forms = [...changes].map((letter) => stem + letter);
  return ONE_ROW.test(act)
    ? [...forms, `${stem}て`, `${stem}たい`, `${stem}ま`, `${stem}な`, `${stem}よ`]
    : forms;
}
