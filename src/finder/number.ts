/**
 * Where a bare number stands in a text. The attacker is a text that a person reads as one number and a program as
 * another: `𝟓00`, `−500`, `5½`, `5 million`. What is not clearly the whole number is not read, and is asked for.
 */

/** Signs, powers, fractions, letters and joiners around a number make another thing of it. */
const NUMBER = new RegExp(
  [
    // Not inside a word or a longer number, and not behind a sign: `-5`, `−$5`, `± 5`.
    "(?<![\\p{N}\\p{M}\\p{Script=Latin}\\p{Script=Cyrillic}\\p{Script=Greek}.,:/_+\\p{Pd}\\u2212~^±√<>≤≥≈'’])",
    '(?<![\\p{Pd}\\u2212]\\s?\\p{Sc}\\s?)(?<![\\u2212±√]\\s*)(?<!\\p{N}[^\\s\\p{L}])(?<!\\p{N}\\s*[*×x+÷^\\p{Pd}\\u2212]\\s*)',
    // With spaces between its thousands it is one number, which is too easily two to be read.
    "(?:\\d{1,3}(?:\\s\\d{3})+|\\d+(?:[.,'’]\\d+)*)",
    '(?![\\p{N}\\p{M}\\p{Script=Latin}\\p{Script=Cyrillic}\\p{Script=Greek}:/_\\p{Pd}\\u2212^\\u2044])',
    '(?![^\\s\\p{L}]{1,3}\\p{N})(?!\\s?[\\p{No}\\p{Nl}])(?!\\s*[*×x+÷^\\p{Pd}\\u2212]\\s*\\p{N})',
  ].join(''),
  'gu',
);

/** Words that make the number before them larger or smaller. `5 cent` is no five, and `5 mil` is none either. */
const SCALES = `thousand thousands hundred hundreds million millions billion billions trillion trillions dozen dozens
  k m mm bn mio mrd lakh lakhs crore crores mil miles cien cientos millón millones mille mila milioni milione miliardo miliardi
  cento centinaia cent cents milliers millier milliard milliards centaine centaines tausend hundert millionen milliarde
  milliarden dutzend milhão milhões milhar milhares bilhão bilhões centavos céntimos centesimi half halves quarters
  ألف الف آلاف الاف مليون ملايين مليار مائة مئة مية हज़ार हजार लाख करोड़ सौ अरब`;
const SCALED = new RegExp(
  `^\\s?(?:(?:${SCALES.trim().split(/\s+/).join('|')})(?![\\p{L}\\p{M}])|[十百千万萬億亿兆点點割折半])`,
  'iu',
);
/** Words that turn the number behind them round, or take it away. */
const TURNED =
  /(?:(?<![\p{L}\p{M}])(?:minus|negative|not|never|except|menos|moins|meno|nicht|kein|keine|pas|não|non|no son|ليس|ليست|سالب|ناقص|नहीं|ऋण|माइनस)\s+|负|負|マイナス|不是)$/iu;
const TURNED_CHARS = 16;

export interface NumberPlace {
  readonly start: number;
  readonly end: number;
}

/** `plain` is the text with plain digits. */
export function numberPlaces(plain: string): NumberPlace[] {
  return [...plain.matchAll(NUMBER)]
    .map(({ index, 0: found }) => ({ start: index, end: index + found.length }))
    .filter(
      ({ start, end }) =>
        !SCALED.test(plain.slice(end, end + TURNED_CHARS)) &&
        !TURNED.test(plain.slice(Math.max(0, start - TURNED_CHARS), start)),
    );
}

/**
 * Digits of other scripts, and the wide forms of East Asian typing, as ASCII. Every place stays where it is, so digits of
 * two units stay what they are. A number of digits from several scripts looks like another one (`৪` is four): they stay, too.
 */
export function withPlainDigits(text: string): string {
  return text
    .replace(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
    .replace(/\u066b/g, '.')
    .replace(/\u066c/g, ',')
    .replace(/\p{Nd}+/gu, plainRun);
}

function plainRun(digits: string): string {
  const zeros = new Set([...digits].map(zeroOf));
  const [zero] = zeros;
  if (zeros.size > 1 || zero! > 0xffff) return digits;
  return [...digits].map((digit) => String(digit.codePointAt(0)! - zero!)).join('');
}

const DIGIT = /^\p{Nd}$/u;

/** The zero of the script: its ten digits stand in a row, and so do the rows of some scripts. */
function zeroOf(digit: string): number {
  const code = digit.codePointAt(0)!;
  let first = code;
  while (DIGIT.test(String.fromCodePoint(first - 1))) first -= 1;
  return code - ((code - first) % 10);
}
