import type { Digest } from '../canonical/digest.ts';

/** What has to be remembered of calls between two of the same. It is kept in a file, and decides nothing that the ledger does not hold. */
export interface CallMarks {
  /** The newest intent of this call that is known. */
  last(call: Digest): string | null;
  began(call: Digest, intent_id: string): void;
  /** The whole answer was handed to the caller. */
  answered(intent_id: string): void;
  isAnswered(intent_id: string): boolean;
}

/** Says what is wrong with the arguments of a call under a grant; null where nothing is. */
export type CheckArguments = (value: unknown) => string | null;
