/**
 * What one language has of its own, as data: which words make a clause no request, which make it one, and how its verbs
 * change. Each language is one file, reviewed by reading it and tested on its own (`test/finder/languages.test.ts`). A rule belongs here when a
 * speaker of the language agrees with it, not because a saying in some corpus needs it.
 */

/** What a speaker does with an act by naming it. Only a request now can match; everything else is asked about at most. */
export const SAYING_KINDS = ['ability', 'report', 'denial', 'condition', 'quotation', 'wish'] as const;
export type SayingKind = (typeof SAYING_KINDS)[number];

export interface LanguageRules {
  readonly language: string;
  /** Whether words are written without spaces between them. */
  readonly is_unspaced?: true;
  /** Phrases of politeness that look like one of the kinds and are none: "if you can". They are not looked at. */
  readonly courtesies: readonly string[];
  /** Phrases with which a request begins: "can you", "I want to". */
  readonly requests: readonly string[];
  /** Greetings, thanks, praise and farewells. A saying of nothing else asks for nothing. */
  readonly small_talk: readonly string[];
  /** What stands between two requests that are made at once: "and then". */
  readonly several: readonly string[];
  /** Whatever else the clause says, this makes it no request. */
  readonly sure: Readonly<Record<SayingKind, readonly string[]>>;
  /** The same, unless the clause is clearly a request: it begins with the act, or has one of `requests`. */
  readonly likely?: Readonly<Partial<Record<SayingKind, readonly string[]>>>;
  /** How an act looks that is told and not asked for: "closed", "schloss". Held against the word as it was said. */
  readonly told_form?: RegExp;
  /**
   * Forms in which an act is spoken of more than asked for: "showing", "gezeigt", folded, with what they are forms of. They never lead to a
   * match; they tell an act that is only spoken of from one that is not there.
   */
  readonly spoken_of?: readonly (readonly [form: RegExp, word: string])[];
  /** Forms of verbs that no rule of endings finds: the form, and the word as it stands in a dictionary. */
  readonly irregular?: Readonly<Record<string, string>>;
  /** How the end of a verb is spelled before e or a, when its stem would sound otherwise: `zar` to `ce`. */
  readonly respelled?: Readonly<Record<string, string>>;
  /** How a clause looks that belongs to the one before it, without a word that says so: "verboten, sie zu zeigen". */
  readonly dependent?: readonly string[];
  /** First parts of verbs that a sentence puts at its end: "mach das Ventil auf". */
  readonly separable?: readonly string[];
}

const EDGE = '[\\p{L}\\p{M}\\p{N}]';

/** One expression for many phrases. In scripts with spaces a phrase is whole words. */
export function anyOf(phrases: readonly string[], is_unspaced: boolean): RegExp | null {
  if (phrases.length === 0) return null;
  const all = phrases.map((phrase) => `(?:${phrase})`).join('|');
  return new RegExp(is_unspaced ? all : `(?<!${EDGE})(?:${all})(?!${EDGE})`, 'gu');
}
