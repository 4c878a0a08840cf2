/** By a grant over standard input and output, or by a human over HTTP. */
export type Route = 'granted' | 'approved';

/** Checks of the suite that the gate does not pass, and why. */
export interface NotPassed {
  readonly why: string;
  readonly routes: readonly Route[];
  /** Of the protocol; both unless told. */
  readonly revisions?: readonly string[];
  /** What the suite says of each. */
  readonly says: RegExp;
  /** By scenario. */
  readonly failed: Readonly<Record<string, readonly string[]>>;
}

/** A check that fails and does not stand here with these words fails the test, and so does one that stands here and passes. */
export const NOT_PASSED: readonly NotPassed[] = [];
