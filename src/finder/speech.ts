import { folded } from './fold.ts';
import { blankedData, stemVowels } from './text.ts';

/** One word as it was spoken, or one character of a script without spaces. */
export interface Spoken {
  readonly text: string;
  /** Other forms that the word may be a case of: without an Arabic article or a particle written with it. */
  readonly forms: readonly string[];
  readonly start: number;
  readonly end: number;
  readonly clause: number;
}

/** Words with digits are values. `n't` is part of its word: `don't` is not `don`. */
const WORD = /[\p{L}\p{M}\p{N}]+(?:['’]t(?!\p{L}))?/gu;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u30fc]/u;
const PIECE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u30fc]|[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u30fc]+/gu;
const CLAUSE_END = /[,;.:!?،؛؟।。、，；：！？—\n()]/;

/** Words with which the other half of a contrast begins. */
const CONTRASTS: ReadonlySet<string> = new Set(
  'but instead just sondern aber sino pero solo plutot bensi لكن بل बल्कि लेकिन सिर्फ बस'.split(' ').map(folded),
);

export function isUnspaced(text: string): boolean {
  return UNSPACED.test(text);
}

/** The words of a text in the order in which they stand. Quotations, names and values are data and are left out. */
export function spokenIn(text: string): Spoken[] {
  const plain = withoutOverrides(blankedData(text));
  const spoken: Spoken[] = [];
  let clause = 0;
  let end = 0;
  for (const found of plain.matchAll(WORD)) {
    if (CLAUSE_END.test(plain.slice(end, found.index))) clause += 1;
    for (const piece of found[0].matchAll(PIECE)) {
      const start = found.index + piece.index;
      const word = wordOf(piece[0]);
      if (CONTRASTS.has(word)) clause += 1;
      if (!/\p{N}/u.test(word))
        spoken.push({ text: word, forms: formsOf(word), start, end: start + piece[0].length, clause });
    }
    end = found.index + found[0].length;
  }
  return spoken;
}

const SENTENCE = /[^.!?؟।。！？\n]+[.!?؟।。！？\n]*/g;
const IGNORE =
  /ignor|disregard|forget|olvid|oubli|vergiss|vergess|esque[cç]|dimentic|忽略|无视|忘记|無視|忘れ|تجاهل|انس|भूल|अनदेखा|नज़रअंदाज़/iu;
const RULES =
  /instru[ckç]|istruzion|\brules?\b|reglas|r[èe]gles|consignes|anweisung|regeln|regras|regole|restri[ck]t|指令|规则|指示|ルール|تعليمات|قواعد|निर्देश|नियम/iu;

/**
 * Sentences that tell the listener to forget its rules are said to a machine, and are no goal. They are blanked, so that
 * the goal beside them is heard as if it stood alone. The attacker gains nothing: a goal is only ever made smaller.
 */
function withoutOverrides(plain: string): string {
  const rest = plain.replace(SENTENCE, (sentence) =>
    IGNORE.test(sentence) && RULES.test(sentence) ? sentence.replace(/[^.!?\n]/g, ' ') : sentence,
  );
  return /\p{L}{2}/u.test(rest) ? rest : plain;
}

/** A word in the spelling in which it is compared. */
export function wordOf(piece: string): string {
  return stemVowels(folded(piece).replace(/['’]/g, ''));
}

const ARABIC = /^\p{Script=Arabic}/u;
const ARTICLE = /^[وفبك]?ال(?=.{2})|^لل(?=.{2})/;
const PARTICLE = /^[وفلبسي](?=.{3})/;

/** Pronouns that Spanish, Portuguese and Italian write behind the verb. */
const CLITIC = /(?<=^[a-z]{4,})(?:[mts]e)?(?:lo|la|le|li|los|las|les|mi|ti|ci|me|nos|gli|ne)$/;

function formsOf(word: string): string[] {
  if (!ARABIC.test(word)) return [...new Set([word, word.replace(CLITIC, '')])];
  return [...new Set([word, word.replace(ARTICLE, ''), word.replace(PARTICLE, '')])];
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/).map(folded));

/** They deny what follows in the same clause. */
const BEFORE = words(
  `dont doesnt not no never without rather than shouldnt neednt no sin ni ne n pas sans nicht kein keine keinen keinem
  ohne statt anstatt nao sem nem non senza لا لم ليس ليست بدون دون لن ما`,
);
/** They deny the clause that they end. */
const AFTER = words('nicht pas मत नहीं न ना');
/** To not know is a question, and denies nothing. */
const KNOWING = words('know idea clue sure se sais weiss sei so sicuro اعرف ادري اتذكر');
const REACH = 6;
const BACK = 4;

/** Whether the word denies others. A term that has one of its own says what it means: "no longer". */
export const isDenial = ({ text }: Spoken): boolean =>
  BEFORE.has(text) || AFTER.has(text) || /^[别不没无勿な]$/.test(text);

/** The words that are denied, by place: "do not close it, hand it over" is no wish to close. */
export function deniedIn(spoken: readonly Spoken[]): ReadonlySet<number> {
  const denied = new Set<number>();
  spoken.forEach(({ text, clause }, i) => {
    const same = (j: number) => spoken[j]?.clause === clause;
    if (BEFORE.has(text) && !KNOWING.has(spoken[i + 1]?.text ?? ''))
      for (let j = i + 1; j <= i + REACH && same(j); j++) denied.add(j);
    if (AFTER.has(text) && isDevanagariOrLast(spoken, i))
      for (let j = i - 1; j >= i - BACK && same(j); j--) denied.add(j);
  });
  denyUnspaced(spoken, denied);
  return denied;
}

function isDevanagariOrLast(spoken: readonly Spoken[], i: number): boolean {
  const next = spoken[i + 1];
  return spoken[i]!.text.charCodeAt(0) > 0x0900 || next === undefined || next.clause !== spoken[i]!.clause;
}

const DENIES_NEXT = /不是|不要|不用|无需|不必|别/g;
const DENIES_LAST = /ではなく|じゃなく|でなく|しないで|せずに|は不要|しなくて|の必要はな/g;
const UNSPACED_REACH = 4;

/** In Chinese the denial stands before the word, in Japanese behind it. */
function denyUnspaced(spoken: readonly Spoken[], denied: Set<number>): void {
  const line = spoken.map(({ text }) => (text.length === 1 ? text : ' ')).join('');
  for (const { index, 0: found } of line.matchAll(DENIES_NEXT))
    for (let i = index + found.length; i < index + found.length + UNSPACED_REACH; i++)
      if (spoken[i]?.clause === spoken[index]!.clause) denied.add(i);
  for (const { index } of line.matchAll(DENIES_LAST))
    for (let i = index - 1; i >= index - UNSPACED_REACH - 1; i--)
      if (spoken[i]?.clause === spoken[index]!.clause) denied.add(i);
}
