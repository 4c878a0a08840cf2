import type { Heard } from './heard.ts';
import { isEvidence } from './hedge.ts';
import { clausesOf, unaskedKind } from './saying.ts';
import type { Simulation } from './simulation.ts';

/**
 * Whether what a simulation without words was known by is told, asked about or otherwise no request. A phrase does not say which of its words
 * is the act, so one clause that is a request is enough. Its own phrases may be of any kind: "what if it rains".
 */
export function isPhraseUnasked(
  { spoken, clauses, language }: Heard,
  matched: readonly string[],
  simulation: Simulation,
  utterance: string,
): boolean {
  const known = spoken.filter((word) => isEvidence(word, matched));
  const kinds = known.map((word) =>
    unaskedKind({ spans: [word], is_verbatim: matched.includes(word.text) }, utterance, clauses, language),
  );
  const heard = new Set(kinds.filter((kind) => kind !== null));
  if (heard.size === 0) return false;
  const requests = clauses.filter(
    (clause) =>
      clause.sure.length === 0 && known.some(({ start }) => start >= clause.start && start < clause.end),
  );
  const is_told = requests.length > 0 && ![...heard].every((kind) => kind === 'report');
  return !is_told && !isSaidSo(simulation, heard);
}

function isSaidSo({ summary, phrases }: Simulation, kinds: ReadonlySet<string>): boolean {
  const own = [
    ...Object.entries(summary),
    ...Object.entries(phrases).flatMap(([language, all]) => all.map((one) => [language, one] as const)),
  ];
  return own.some(([language, phrase]) => {
    const said = new Set(
      clausesOf(phrase, language).flatMap(({ sure }) => sure.map(({ kind }) => kind as string)),
    );
    return [...kinds].every((kind) => said.has(kind));
  });
}
