/** What counts as an answer in one language. A text that is none of these is ambiguous, too. */
export interface LexiconEntry {
  readonly language: string;
  /** The letters that the language is written in. Anything else is a look-alike or another language. */
  readonly scripts: readonly ('Latin' | 'Han' | 'Hiragana' | 'Katakana' | 'Arabic' | 'Devanagari')[];
  readonly affirmative: readonly string[];
  readonly negative: readonly string[];
  /** Words that people say without meaning yes. Named, so that the refusal can say why. */
  readonly ambiguous: readonly string[];
  /** Orders and assurances that say yes by themselves: "go ahead", "of course". */
  readonly ordering: readonly string[];
  /** What people say before or behind a yes or an order. Alone it is none: "okay". */
  readonly acknowledging: readonly string[];
  /** What says the same again behind a yes. Alone it is none of the canonical tokens: "go ahead". */
  readonly going: readonly string[];
  /** What may stand beside a yes and changes nothing. */
  readonly polite: readonly string[];
  /** Words with which people refuse, as expressions. A short answer with one of them is a no, unless it has one of `unsure`. */
  readonly refusing: readonly string[];
  /** What makes a refusing word no answer: "not sure", "no problem". */
  readonly unsure: readonly string[];
}
