import { type Reading, readingOf } from './extract.ts';
import { type Hedge, hedgeIn } from './hedge.ts';
import { languagesRead } from './language.ts';
import { clausesOf, isSeveral, type SaidClause } from './saying.ts';
import type { SearchIndex } from './search-index.ts';
import { type Spoken, spokenIn } from './speech.ts';

/** One utterance, as all simulations hear it. What kind of saying it is is worked out when a simulation comes into question. */
export interface Heard {
  readonly spoken: readonly Spoken[];
  readonly hedge: Hedge;
  readonly reading: Reading;
  readonly language: string;
  readonly clauses: readonly SaidClause[];
  readonly is_several: boolean;
}

export function heardIn(
  { patterns, languages }: SearchIndex,
  utterance: string,
  read = languagesRead(utterance, {}, languages),
): Heard {
  const spoken = spokenIn(utterance);
  const hedge = madeOnce(() => hedgeIn(utterance, spoken));
  const clauses = madeOnce(() => clausesOf(utterance, ...read));
  const is_several = madeOnce(() => isSeveral(utterance, ...read));
  return {
    spoken,
    reading: readingOf(utterance, patterns),
    language: read[0],
    get hedge() {
      return hedge();
    },
    get clauses() {
      return clauses();
    },
    get is_several() {
      return is_several();
    },
  };
}

function madeOnce<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
