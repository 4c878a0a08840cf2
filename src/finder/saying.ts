import { LANGUAGE_RULES } from './languages/all.ts';
import { anyOf, type LanguageRules, SAYING_KINDS, type SayingKind } from './languages/rules.ts';
import { blankedData } from './text.ts';

/**
 * What kind of saying each part of an utterance is. This is decided before anything is matched, by the rules of the language and
 * without the catalog. Only a request now can match: what is told, denied, asked about, quoted, wished for or made to depend on something
 * is asked about at most.
 */

/** Where a rule was heard, in the utterance. */
export interface HeardRule {
  readonly kind: SayingKind;
  readonly start: number;
  readonly end: number;
}

export interface SaidClause {
  readonly start: number;
  readonly end: number;
  readonly sentence: number;
  /** What makes it no request, its own rules first, then those that reach it from the clauses around it. */
  readonly sure: readonly HeardRule[];
  /** What makes it none unless it is clearly a request. */
  readonly likely: readonly HeardRule[];
  readonly is_request: boolean;
}

interface Compiled {
  readonly rules: LanguageRules;
  readonly courtesies: RegExp | null;
  readonly requests: RegExp | null;
  readonly small_talk: RegExp | null;
  readonly several: RegExp | null;
  readonly dependent: RegExp | null;
  readonly sure: readonly (readonly [SayingKind, RegExp])[];
  readonly likely: readonly (readonly [SayingKind, RegExp])[];
}

const COMPILED: ReadonlyMap<string, Compiled> = new Map(
  [...LANGUAGE_RULES].map(([language, rules]) => [language, compiled(rules)]),
);

function compiled(rules: LanguageRules): Compiled {
  const unspaced = rules.is_unspaced === true;
  const each = (of: Partial<Record<SayingKind, readonly string[]>>) =>
    SAYING_KINDS.flatMap((kind) => {
      const pattern = anyOf(of[kind] ?? [], unspaced);
      return pattern === null ? [] : [[kind, pattern] as const];
    });
  return {
    rules,
    courtesies: anyOf(rules.courtesies, unspaced),
    requests: anyOf(rules.requests, unspaced),
    small_talk: anyOf(rules.small_talk, unspaced),
    several: anyOf(rules.several, unspaced),
    dependent: anyOf(rules.dependent ?? [], unspaced),
    sure: each(rules.sure),
    likely: each(rules.likely ?? {}),
  };
}

const SENTENCE_END = /[.!?;؟؛।。！？；\n]/u;
const CLAUSE_END = /[,:()،，：、—–]/u;
/** Values: their dots and commas end nothing, and they are not words of the saying. */
const VALUE = /[A-Za-z]*[-_]?\d(?:[\d.,:/'’-]*\d)?/gu;

/** The text as the rules read it. Every place stays where it is. */
function readable(utterance: string): string {
  const plain = blankedData(utterance)
    .replace(/[’‘ʼ]/gu, "'")
    .replace(VALUE, (value) => '#'.repeat(value.length));
  const lower = plain.toLowerCase();
  return lower.length === plain.length ? lower : plain;
}

/**
 * The clauses of an utterance, each with what was heard in it by the rules of each language. Whether it is a request, the first says. In
 * another language than ours nothing is heard.
 */
export function clausesOf(utterance: string, language: string, ...others: readonly string[]): SaidClause[] {
  const read = clausesIn(utterance, language);
  const more = others.flatMap((other) => clausesIn(utterance, other));
  return read.map((clause) => {
    const same = more.filter(({ start }) => start >= clause.start && start < clause.end);
    const add = (of: 'sure' | 'likely') => [...clause[of], ...same.flatMap((other) => other[of])];
    return same.length === 0 ? clause : { ...clause, sure: add('sure'), likely: add('likely') };
  });
}

function clausesIn(utterance: string, language: string): SaidClause[] {
  const with_courtesies = readable(utterance);
  const here = COMPILED.get(language);
  const text = here?.courtesies
    ? with_courtesies.replace(here.courtesies, (phrase) => ' '.repeat(phrase.length))
    : with_courtesies;
  const own = pieces(text).map((piece) => clauseIn(text, piece, here));
  return own.map((clause, i) => ({ ...clause, sure: [...clause.sure, ...reaching(own, i, text, here)] }));
}

/** Whether nothing is said but a greeting, thanks, praise or a farewell. In whichever language: two words do not tell it. */
export function isSmallTalk(utterance: string): boolean {
  const text = readable(utterance);
  return [...COMPILED.values()].some(({ small_talk }) => {
    const rest = small_talk === null ? text : text.replace(small_talk, ' ');
    return rest !== text && !/[\p{L}\p{N}#]/u.test(rest);
  });
}

/** Whether two things are asked for at once: something is said before and after what joins them. */
export function isSeveral(utterance: string, ...languages: readonly string[]): boolean {
  const text = readable(utterance);
  return languages.some((language) => {
    const joins = COMPILED.get(language)?.several;
    return (
      joins != null &&
      [...text.matchAll(joins)].some(
        ({ index, 0: found }) =>
          wordsIn(text.slice(0, index)) > 0 && wordsIn(text.slice(index + found.length)) > 0,
      )
    );
  });
}

interface Piece {
  readonly start: number;
  readonly end: number;
  readonly sentence: number;
}

function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let [start, sentence] = [0, 0];
  const close = (end: number) => {
    if (/[\p{L}\p{N}#]/u.test(text.slice(start, end))) found.push({ start, end, sentence });
    start = end + 1;
  };
  for (let i = 0; i < text.length; i++) {
    const ends_sentence = SENTENCE_END.test(text[i]!);
    if (!ends_sentence && !CLAUSE_END.test(text[i]!)) continue;
    close(i);
    if (ends_sentence) sentence += 1;
  }
  close(text.length);
  return found;
}

function clauseIn(text: string, piece: Piece, here: Compiled | undefined): SaidClause {
  // The mark at its end belongs to it: some rules ask for it.
  const words = text.slice(piece.start, piece.end + 1).replace(/[,.!;:]$/u, '');
  const offset = piece.start + (words.length - words.trimStart().length);
  const said = words.trim();
  const heard = (rules: readonly (readonly [SayingKind, RegExp])[]) =>
    rules.flatMap(([kind, pattern]) =>
      [...said.matchAll(pattern)]
        .filter(({ 0: found }) => found !== '')
        .map(({ index, 0: found }) => ({ kind, start: offset + index, end: offset + index + found.length })),
    );
  return {
    ...piece,
    sure: heard(here?.sure ?? []),
    likely: heard(here?.likely ?? []),
    is_request: here?.requests != null && said.search(here.requests) >= 0,
  };
}

/** What begins a clause that belongs to the one before it. */
const SUBORDINATE = /^(?:that|whether|dass|daß|ob|damit|que|qu'|che|कि|أن|بأن|ان)(?![\p{L}\p{M}])/u;
const isSubordinate = (words: string, here: Compiled | undefined): boolean =>
  SUBORDINATE.test(words) || (here?.dependent != null && words.search(here.dependent) >= 0);
const wordsIn = (text: string): number => text.match(/[\p{L}\p{M}#]+/gu)?.length ?? 0;
/** A clause of so few words at the beginning is a part of the next one: "Yesterday, …", "No, …". */
const FEW = 3;
/** An answer to the question before it. */
const SHORT_ANSWER = 5;

/** What the clauses around it make of a clause. */
function reaching(
  all: readonly SaidClause[],
  i: number,
  text: string,
  here: Compiled | undefined,
): HeardRule[] {
  const clause = all[i]!;
  const wordsOf = ({ start, end }: SaidClause) => text.slice(start, end).trim();
  return all.flatMap((other, j) => {
    if (j === i) return [];
    if (other.sentence === clause.sentence + 1 && j > i)
      return /^[?؟？]/u.test(text.slice(all.findLast((c) => c.sentence === clause.sentence)!.end)) &&
        wordsIn(wordsOf(other)) <= SHORT_ANSWER
        ? other.sure.filter(({ kind }) => kind === 'denial')
        : [];
    if (other.sentence !== clause.sentence) return [];
    const is_subordinate = j === i - 1 && isSubordinate(wordsOf(clause), here);
    const is_lead = j === i - 1 && wordsIn(wordsOf(other)) <= FEW && !here?.rules.is_unspaced;
    return [...other.sure, ...(is_lead ? other.likely : [])].filter(
      ({ kind }) =>
        kind === 'condition' ||
        (j < i && (kind === 'quotation' || kind === 'ability')) ||
        is_subordinate ||
        is_lead,
    );
  });
}

/** One act that was heard, as the words of the utterance that it stands in. */
export interface SaidAct {
  readonly spans: readonly { readonly start: number; readonly end: number }[];
  /** Whether the catalog has the very words that were said. */
  readonly is_verbatim: boolean;
}

/** Why an act is not asked for; null when it is. A rule that was heard in the words of the act itself says nothing: the author wrote it. */
export function unaskedKind(
  act: SaidAct,
  utterance: string,
  clauses: readonly SaidClause[],
  language: string,
): SayingKind | null {
  const [first] = act.spans;
  const clause = first && clauses.find(({ start, end }) => first.start >= start && first.start < end);
  if (!clause) return null;
  const isOwn = ({ start, end }: HeardRule) =>
    lettersIn(utterance, start, end).every((at) =>
      act.spans.some((span) => at >= span.start && at < span.end),
    );
  const sure = clause.sure.find((heard) => !isOwn(heard));
  if (sure) return sure.kind;
  if (clause.is_request) return null;
  const { told_form } = LANGUAGE_RULES.get(language) ?? {};
  const said = utterance.slice(first.start, first.end).toLowerCase();
  if (told_form?.test(said) && !act.is_verbatim) return 'report';
  if (leads(utterance, clause, first.start)) return null;
  return clause.likely.find((heard) => !isOwn(heard))?.kind ?? null;
}

function lettersIn(text: string, start: number, end: number): number[] {
  const places: number[] = [];
  for (let i = start; i < end; i++) if (/[\p{L}\p{N}]/u.test(text[i]!)) places.push(i);
  return places;
}

/** Whether the clause begins with the act: an imperative, in the languages that put it first. */
function leads(utterance: string, { start }: SaidClause, at: number): boolean {
  return !/[\p{L}\p{N}]/u.test(utterance.slice(start, at));
}
