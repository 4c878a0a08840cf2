import { parseJson } from '../canonical/json.ts';
import { policyLimits } from '../limits.ts';
import { TWO_FOR_ELEVATED } from './starter.ts';

/**
 * Of which effects a decision can depend on who has approved, told from the texts of a stored set, so that most sets are not parsed for
 * it: Cedar is large. `any` says no more than that one of the names stands there.
 */
export type ApproversRead = 'none' | 'elevated' | 'any';

export function approversRead(stored: Uint8Array): ApproversRead {
  const { files } = parseJson(stored, policyLimits.set_bytes) as {
    readonly files: readonly { readonly text: string }[];
  };
  const texts = files.map(({ text }) => text.replaceAll(COMMENT, ''));
  if (!texts.some((text) => NAMES.test(text))) return 'none';
  return texts.some((text) => NAMES.test(text.replace(TWO_FOR_ELEVATED, ''))) ? 'any' : 'elevated';
}

const COMMENT = /^ *\/\/.*$/gm;
/** A policy that takes the context as a whole could read any of them. */
const NAMES = /\b(?:approvals|approvers|approver_roles|quorums)\b/;
