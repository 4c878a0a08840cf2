import { agentLimits } from '../limits.ts';
import { folded } from './fold.ts';

/** How the words of a language are spelled, as the catalog writes it: which letters follow each other. */
export interface Spelling {
  readonly counts: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly totals: ReadonlyMap<string, number>;
}

/** With less than this a language is not known by its spelling. */
const LEAST_TRIPLES = 200;

function* triplesIn(text: string): Generator<string> {
  for (const [word] of folded(text).matchAll(/\p{Script=Latin}+/gu)) {
    const whole = ` ${word} `;
    for (let i = 0; i + 3 <= whole.length; i++) yield whole.slice(i, i + 3);
  }
}

export function spellingOf(texts: Iterable<readonly [language: string, text: string]>): Spelling {
  const counts = new Map<string, Map<string, number>>();
  const totals = new Map<string, number>();
  const read = new Map<string, number>();
  for (const [language, text] of texts) {
    const chars = (read.get(language) ?? 0) + text.length;
    if (chars > agentLimits.spelling_chars) continue;
    read.set(language, chars);
    for (const triple of triplesIn(text)) {
      const here = counts.get(triple) ?? new Map<string, number>();
      counts.set(triple, here.set(language, (here.get(language) ?? 0) + 1));
      totals.set(language, (totals.get(language) ?? 0) + 1);
    }
  }
  return { counts, totals };
}

const UNSEEN = 0.5;

/** Which of the languages the text is spelled most like; null when the catalog has too little of one of them. */
export function bestSpelled(
  text: string,
  languages: readonly string[],
  { counts, totals }: Spelling,
): string | null {
  if (languages.some((language) => (totals.get(language) ?? 0) < LEAST_TRIPLES)) return null;
  const scores = languages.map((language) => {
    let score = 0;
    for (const triple of triplesIn(text))
      score += Math.log(
        ((counts.get(triple)?.get(language) ?? 0) + UNSEEN) / (totals.get(language)! + counts.size),
      );
    return { language, score };
  });
  scores.sort((a, b) => b.score - a.score);
  return scores.length === 0 || scores[0]!.score === 0 ? null : scores[0]!.language;
}
