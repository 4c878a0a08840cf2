import type { ReasonCode } from '../../src/refusal.ts';

const COMPARED =
  'a reason that a refusal on record names and the fold compares: it is never given for an entry';

/** Codes that stand in the source of the fold, and that no ledger of this test leads to, each with the reason. */
export const UNREACHED: Readonly<Partial<Record<ReasonCode, string>>> = {
  CLOCK_BEHIND: 'only a caller asks it, who has a clock: an entry is judged by its own time',
  INPUT_TOO_LARGE: 'an entry and its client data are shorter by their shape, which is refused first',
  INTENT_EXISTS: 'the claim on its id is refused first',
  POLICY_DENIED: COMPARED,
  POLICY_ERROR: COMPARED,
  POLICY_NO_PERMIT: COMPARED,
};
