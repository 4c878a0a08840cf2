import * as z from 'zod';
import { type Digest, sha256 } from '../canonical/digest.ts';
import { parseJson } from '../canonical/json.ts';
import { describeIssue } from '../event/event.ts';
import { policyLimits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { type ArgumentTypes, argumentTypes } from './arguments.ts';
import { examine } from './examine.ts';
import type { Policy } from './policy.ts';
import { sentenceOf } from './problem.ts';
import type { Quorum } from './quorum.ts';
import { POLICY_SET_FORMAT, type PolicySource, policySetBytes } from './source.ts';

export type { PolicyFile, PolicySource } from './source.ts';

/** Policies that can be used: every one is readable, named, explained, and fits the schema. */
export interface PolicySet {
  /** Of the bytes: the snapshot that a decision names. */
  readonly digest: Digest;
  readonly bytes: Uint8Array;
  readonly source: PolicySource;
  readonly policies: readonly Policy[];
  readonly quorums: readonly Quorum[];
  /** What its policies read of the arguments of tools. */
  readonly arguments: ArgumentTypes;
}

const storedSchema = z.strictObject({
  format: z.literal(POLICY_SET_FORMAT),
  files: z.array(z.strictObject({ name: z.string(), text: z.string() })),
  quorums: z.string().nullable(),
  tests: z.string().nullable(),
});

/** Reads the texts of a policy set, or refuses at the first error. `lint` tells all of them. */
export async function parsePolicySet(source: PolicySource): Promise<PolicySet> {
  const { policies, quorums, problems } = await examine(source);
  const error = problems.find(({ severity }) => severity === 'error');
  if (error) {
    const { file, line, policy } = error;
    refuse('POLICY_INVALID', sentenceOf(error), { file, line, ...(policy === null ? {} : { policy }) });
  }
  const bytes = policySetBytes(source);
  const { files, tests } = source;
  return {
    digest: sha256(bytes),
    bytes,
    source: { files, quorums: source.quorums, tests },
    policies,
    quorums,
    arguments: argumentTypes(policies.flatMap((policy) => policy.arguments)),
  };
}

/** Reads a policy set back from the bytes that its digest covers. */
export async function openPolicySet(bytes: Uint8Array): Promise<PolicySet> {
  const stored = storedSchema.safeParse(parseJson(bytes, policyLimits.set_bytes));
  if (!stored.success)
    refuse('POLICY_INVALID', `The stored policies are not valid: ${describeIssue(stored.error)}`);
  const set = await parsePolicySet(stored.data);
  if (!Buffer.from(bytes).equals(set.bytes))
    refuse('POLICY_INVALID', 'The stored policies are not in their canonical form.');
  return set;
}
