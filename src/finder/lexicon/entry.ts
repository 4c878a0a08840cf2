/** What counts as an answer in one language. A text that is none of these is ambiguous, too. */
export interface LexiconEntry {
  readonly language: string;
  /** The letters that the language is written in. Anything else is a look-alike or another language. */
  readonly scripts: readonly ('Latin' | 'Han' | 'Hiragana' | 'Katakana' | 'Arabic' | 'Devanagari')[];
  readonly affirmative: readonly string[];
  readonly negative: readonly string[];
  /** Words that people say without meaning yes. Named, so that the refusal can say why. */
  readonly ambiguous: readonly string[];
}
