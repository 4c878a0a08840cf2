/**
 * A text that was made harmless (`visible.ts`), with letters of another alphabet as escapes where a word mixes alphabets that look
 * alike. The attacker writes a Cyrillic а into a Latin name, which no reader can tell from it.
 */
export function unmixed(text: string): string {
  return ALIKE.test(text) ? text.replace(WORD, ownAlphabet) : text;
}

/** Those with letters that look Latin. Others stand beside Latin letters in honest words. */
const ALPHABETS = ['Latin', 'Cyrillic', 'Greek', 'Armenian', 'Cherokee'].map(
  (script) => new RegExp(`\\p{Script=${script}}`, 'gu'),
);
const ALIKE = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u;

/** An escape is no part of a word, and stays as it is. */
const WORD = /\\(?:u\{[0-9a-f]+\}|u[0-9a-f]{4}|x[0-9a-f]{2}|.)|[\p{L}\p{M}\p{N}]+/gu;

/** The alphabet that most letters are of is that of the word; Latin where two have as many. */
function ownAlphabet(word: string): string {
  const counts = ALPHABETS.map((letters) => word.match(letters)?.length ?? 0);
  const own = counts.indexOf(Math.max(...counts));
  return ALPHABETS.reduce(
    (rest, letters, i) => (i === own || counts[i] === 0 ? rest : rest.replace(letters, coded)),
    word,
  );
}

const coded = (letter: string) => `\\u${letter.codePointAt(0)!.toString(16).padStart(4, '0')}`;
