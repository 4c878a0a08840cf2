import type { OpenKey } from '../../src/identity/act.ts';
import type { Signer } from '../../src/keyturn.ts';

/** One request of a verb. */
export interface Reach {
  readonly request: object;
  /** Who signs it: then it is drawn up and finished. Without it, it is asked by the session, and by the agent where that may ask. */
  readonly by?: Signer;
  readonly holder?: Signer;
  /** A human whose key signs the request itself, and who proves no act by that. */
  readonly signed?: OpenKey;
}

/** What reaches the answers of a verb: made when it is its turn. */
export type Asks = Readonly<Record<string, () => Promise<readonly Reach[]> | readonly Reach[]>>;

export const NONE = '00000000-0000-4000-8000-000000000000';
export const reason = 'a test';
export const one = { request: {} };

/** An act of this human, unless another one signs it. */
export const actOf =
  (human: Signer) =>
  (request: object, by: Signer = human, holder?: Signer): Reach[] => [
    { request, by, ...(holder && { holder }) },
  ];
