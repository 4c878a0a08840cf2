/**
 * Arabic names an act by its verbal noun (فتح, إغلاق, تشغيل) and asks for it by the imperative (افتح, أغلق, شغل) or by a clause (أن تفتح). Each pattern of
 * the noun has one imperative, so one is made from the other. Only words of the regular patterns change; all others are heard as they are written.
 */

const C = '[بتثجحخدذرزسشصضطظعغفقكلمنهوي]';
const A = '[اأإآ]';

interface Pattern {
  readonly written: RegExp;
  /** The imperative; the clause is made of it. */
  readonly asked: string;
  readonly noun?: string;
}

/** The first that fits. $1 to $3 are the letters of the root. */
const PATTERNS: readonly Pattern[] = [
  { written: new RegExp(`^است(${C})(${C})ا(${C})$`), asked: 'است$1$2$3' },
  { written: new RegExp(`^م(${C})ا(${C})(${C})ة$`), asked: '$1ا$2$3' },
  { written: new RegExp(`^ت(${C}|أ)(${C})ي(${C})$`), asked: '$1$2$3' },
  { written: new RegExp(`^إ(${C})(${C})اء$`), asked: 'أ$1$2' },
  { written: new RegExp(`^إ(${C})ا(${C})ة$`), asked: 'أ$1$2' },
  { written: new RegExp(`^إ(${C})(${C})ا(${C})$`), asked: 'أ$1$2$3' },
  { written: new RegExp(`^${A}(${C})ت(${C})ا(${C})$`), asked: 'ا$1ت$2$3' },
  { written: new RegExp(`^أ(${C})(${C})(${C})$`), asked: 'أ$1$2$3', noun: 'إ$1$2ا$3' },
  { written: new RegExp(`^ا(${C})(${C})(${C})$`), asked: 'ا$1$2$3', noun: '$1$2$3' },
  { written: new RegExp(`^(${C})(${C})(${C}|ء)$`), asked: 'ا$1$2$3' },
];

export function arabicForms(act: string): string[] {
  const [first = '', ...rest] = act.split(' ');
  const pattern = PATTERNS.find(({ written }) => written.test(first));
  if (pattern === undefined) return [];
  const made = (form: string) => first.replace(pattern.written, form);
  const asked = made(pattern.asked);
  const clause = `ت${asked.replace(/^[اأ]/u, '')}`;
  const others = pattern.asked.startsWith('أ') ? [`${asked}ي`, `${asked}ئ`] : [];
  const forms = [asked, clause, ...others, ...(pattern.noun === undefined ? [] : [made(pattern.noun)])];
  return forms.map((form) => [form, ...rest].join(' '));
}
