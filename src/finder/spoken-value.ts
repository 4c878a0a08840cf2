import { folded } from './fold.ts';

/** Numbers and days as people say them, in the ten languages. What is not clearly one of these is asked for. */

/** Two words that are one number are joined with a _. */
const NUMBERS: Readonly<Record<string, string>> = {
  en: 'zero one two three four five six seven eight nine ten eleven twelve',
  de: 'null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf',
  es: 'cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce',
  fr: 'zéro un deux trois quatre cinq six sept huit neuf dix onze douze',
  it: 'zero uno due tre quattro cinque sei sette otto nove dieci undici dodici',
  pt: 'zero um dois três quatro cinco seis sete oito nove dez onze doze',
  zh: '零 一 二 三 四 五 六 七 八 九 十 十一 十二',
  ja: 'ゼロ 一 二 三 四 五 六 七 八 九 十 十一 十二',
  ar: 'صفر واحد اثنان ثلاثة أربعة خمسة ستة سبعة ثمانية تسعة عشرة أحد_عشر اثنا_عشر',
  hi: 'शून्य एक दो तीन चार पाँच छह सात आठ नौ दस ग्यारह बारह',
};

/** The number that a whole answer is, in words; null when it is anything else. */
export function spokenNumber(text: string, language: string): number | null {
  const words = (NUMBERS[language] ?? '').split(' ').map((word) => folded(word.replace('_', ' ')));
  const said = folded(text.trim().replace(/[.!。।]$/u, ''));
  const place = said === '' ? -1 : words.indexOf(said);
  return place < 0 ? null : place;
}

const MONTHS: readonly string[] = [
  'january jan januar janner enero janvier gennaio janeiro يناير जनवरी',
  'february feb februar febrero fevrier febbraio fevereiro فبراير फरवरी',
  'march mar marz marzo mars marco مارس मार्च',
  'april apr abril avril aprile ابريل अप्रैल',
  'may mai mayo maggio maio مايو मई',
  'june jun juni junio juin giugno junho يونيو जून',
  'july jul juli julio juillet luglio julho يوليو जुलाई',
  'august aug agosto aout اغسطس अगस्त',
  'september sep sept septiembre septembre settembre setembro سبتمبر सितंबर',
  'october oct oktober octubre octobre ottobre outubro اكتوبر अक्टूबर',
  'november nov noviembre novembre novembro نوفمبر नवंबर',
  'december dec dezember diciembre decembre dicembre dezembro ديسمبر दिसंबर',
];

const MONTH_OF: ReadonlyMap<string, number> = new Map(
  MONTHS.flatMap((names, i) => names.split(' ').map((name) => [folded(name), i + 1] as const)),
);

/** "14 March 2027", "14. März 2027", "14 de marzo de 2027", "March 14, 2027". The year is always said. */
export const NAMED_DAY =
  /(?<!\p{N})(?:\d{1,2}(?:\.|st|nd|rd|th|er|º)?\s+(?:of\s+|de\s+|d['’])?[\p{L}\p{M}]{3,12}\.?,?\s+(?:de\s+|del\s+)?\d{4}|\p{L}{3,12}\.?\s+\d{1,2}(?:st|nd|rd|th)?,?\s+\d{4})(?!\p{N})/gu;

export interface NamedDay {
  readonly year: string;
  readonly month: string;
  readonly day: string;
}

export function namedDay(text: string): NamedDay | null {
  const year = /\d{4}$/.exec(text)?.[0];
  const day = /(?<!\d)\d{1,2}(?!\d)/.exec(text)?.[0];
  const names = folded(text).match(/[\p{L}\p{M}]+/gu) ?? [];
  const months = names.flatMap((name) => MONTH_OF.get(name) ?? []);
  if (year === undefined || day === undefined || months.length !== 1) return null;
  return { year, month: String(months[0]), day };
}

/** "Any but A-1042" names what is not meant. */
export const EXCEPTS =
  /(?<![\p{L}\p{M}])(?:but|except|excepting|other than|anything but|außer|ausser|excepto|salvo|menos|sauf|hormis|tranne|eccetto|exceto|عدا|ماعدا|إلا|سوى)(?![\p{L}\p{M}])|除了|以外|के अलावा|को छोड़कर/iu;
