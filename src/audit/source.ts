import { Forgotten } from '../fold/ledger.ts';
import { limits } from '../limits.ts';

/**
 * What is verified, from its beginning. A function can be called again: then the verification forgets what is over, and its memory grows
 * with what is not. A bare iterable can be read only once, so nothing of it is forgotten.
 */
export type Source<T> = AsyncIterable<T> | (() => AsyncIterable<T>);

/** Claims, and rows that are over, which are kept; null for all of them. */
export type Keeps = ReadonlySet<string> | null;

/**
 * No later entry of a good ledger looks at what is over. If one does, the ledger is read again from its beginning with that kept: so
 * the answer, with the reason of a refusal, is always that of a verification that forgets nothing.
 */
export async function readAgain<T, R>(
  source: Source<T>,
  pass: (items: AsyncIterable<T>, keeps: Keeps) => Promise<R>,
): Promise<R> {
  if (typeof source !== 'function') return pass(source, null);
  const keeps = new Set<string>();
  for (let reading = 0; reading < limits.forgetful_reads; reading++) {
    try {
      return await pass(source(), keeps);
    } catch (error) {
      if (!(error instanceof Forgotten)) throw error;
      keeps.add(error.what);
    }
  }
  return pass(source(), null);
}
