import { Keeps } from '../fold/ledger.ts';
import { limits } from '../limits.ts';

/**
 * What is verified, from its beginning. A function can be called again: then the verification forgets what is over, and its memory grows
 * with what is not. A bare iterable can be read only once, so nothing of it is forgotten.
 */
export type Source<T> = AsyncIterable<T> | (() => AsyncIterable<T>);

/**
 * Few later entries of a good ledger look at what is over: those that roll a plan back late, or give its backups up. If one does, the ledger
 * is read again from its beginning with what all of them name kept: so the answer, with the reason of a refusal, is always that of a
 * verification that forgets nothing.
 */
export async function readAgain<T, R>(
  source: Source<T>,
  pass: (items: AsyncIterable<T>, keeps: Keeps | null) => Promise<R>,
): Promise<R> {
  if (typeof source !== 'function') return pass(source, null);
  const keeps = new Keeps();
  for (let reading = 0; reading < limits.forgetful_reads; reading++) {
    try {
      const found = await pass(source(), keeps);
      if (!keeps.takeMissed()) return found;
    } catch (error) {
      if (!keeps.takeMissed()) throw error;
    }
  }
  return pass(source(), null);
}
