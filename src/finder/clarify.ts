import { extractFields, type Found } from './extract.ts';
import { isHedged } from './hedge.ts';
import { readConfirmation } from './lexicon/confirmation.ts';
import type { Scalar } from './packet.ts';
import { type Candidate, rank, rivals, thresholds } from './rank.ts';
import type { SearchIndex } from './search-index.ts';
import type { Field } from './simulation.ts';
import { EXCEPTS, spokenNumber } from './spoken-value.ts';
import { readValue } from './value.ts';

/** The value that an answer gives to the field that was asked for. */
export function answeredValue(field: Field, answer: string, language: string): Found | null {
  const is_free = field.type === 'string' && field.pattern === undefined;
  if (!is_free && field.type !== 'boolean' && (isHedged(answer) || EXCEPTS.test(answer))) return null;
  const found = extractFields({ answer: field }, answer).get('answer');
  if (found !== undefined) return found;
  const text = answer.trim();
  const value = field.type === 'boolean' ? booleanValue(text, language) : wholeAnswer(field, text, language);
  if (value === null) return null;
  const start = answer.indexOf(text);
  return { start, end: start + text.length, text, value };
}

function booleanValue(text: string, language: string): boolean | null {
  const { answer } = readConfirmation(text, language);
  return answer === 'AMBIGUOUS' ? null : answer === 'YES';
}

/** What must be looked for in a sentence may be the whole answer; what has a form of its own must have that form. */
function wholeAnswer(field: Field, text: string, language: string): Scalar | null {
  if (field.type === 'integer' || field.type === 'number') {
    const number = spokenNumber(text, language);
    return number === null ? null : readValue(field, String(number));
  }
  const { extract } = field;
  const is_free = extract === undefined || extract === 'quoted' || typeof extract === 'object';
  return is_free ? readValue(field, text) : null;
}

export type Choice =
  | { readonly kind: 'chosen'; readonly candidate: Candidate }
  | { readonly kind: 'declined' }
  | { readonly kind: 'unclear' };

/** Which of the candidates an answer means: its number, its id, its words, or yes when there is only one. */
export function chosen(
  candidates: readonly Candidate[],
  answer: string,
  language: string,
  index: SearchIndex,
): Choice {
  const text = answer.trim();
  const named = candidates.find(
    ({ entry }, i) => text === entry.simulation.id || (candidates.length > 1 && text === String(i + 1)),
  );
  if (named !== undefined) return { kind: 'chosen', candidate: named };
  const yes = readConfirmation(text, language).answer;
  if (yes === 'NO') return { kind: 'declined' };
  if (yes === 'YES' && candidates.length === 1) return { kind: 'chosen', candidate: candidates[0]! };
  const meant = byWords(candidates, text, index);
  return meant === undefined ? { kind: 'unclear' } : { kind: 'chosen', candidate: meant };
}

/** Between a few that were named, one telling word is enough. */
const TELLING_BP = 3500;

/** The answer is searched like a goal, and only what was asked about can be found. "Not the second" names what is not meant. */
function byWords(candidates: readonly Candidate[], text: string, index: SearchIndex): Candidate | undefined {
  if (isHedged(text)) return undefined;
  const least_bp = candidates.length > 1 ? TELLING_BP : thresholds.clarify_bp;
  const ids = new Set(candidates.map(({ entry }) => entry.simulation.id));
  const ranked = rank(index, text, new Set()).filter(({ entry }) => ids.has(entry.simulation.id));
  const [first] = ranked;
  if (first === undefined || first.confidence_bp < least_bp || rivals(ranked).length > 1) return undefined;
  return candidates.find(({ entry }) => entry.simulation.id === first.entry.simulation.id);
}
