import * as z from 'zod';
import { type Digest, sha256 } from '../canonical/digest.ts';
import { DIGEST_FORM } from '../canonical/form.ts';
import { canonicalText, canonicalTextOfParsed, parseCanonical } from '../canonical/json.ts';
import { describeIssue } from '../event/event.ts';
import { fieldLimits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import type { Engine } from './engine.ts';
import { type Decision, type PolicyRequest, SCOPES } from './request.ts';
import { requestSchema } from './shape.ts';

/** A decision as it is stored: by which policies, on which question, with which answer. */
export interface DecisionRecord {
  readonly format: 'keyturn-decision/1';
  /** The digest of the policy set. */
  readonly snapshot: Digest;
  readonly request: PolicyRequest;
  readonly decision: Decision;
  /** What it was decided for: an intent, or a conversation. A decision says nothing about another one. */
  readonly subject: string;
  /** Random, so that a goal that can be guessed cannot be guessed back from the digest once this is erased. */
  readonly nonce: string;
}

const decisionSchema: z.ZodType<Decision> = z
  .strictObject({
    allowed: z.boolean(),
    code: z.enum(['POLICY_DENIED', 'POLICY_NO_PERMIT', 'POLICY_ERROR']).nullable(),
    policies: z.array(
      z.strictObject({ id: z.string(), version: z.string(), scope: z.enum(SCOPES), rationale: z.string() }),
    ),
    words: z.string(),
  })
  .refine(({ allowed, code }) => allowed === (code === null), 'is allowed and denied');

export const recordSchema: z.ZodType<DecisionRecord> = z.strictObject({
  format: z.literal('keyturn-decision/1'),
  snapshot: z.string().regex(DIGEST_FORM),
  request: requestSchema,
  decision: decisionSchema,
  subject: z.string().min(1).max(fieldLimits.subject_chars),
  nonce: z.base64().length(24),
});

export function recordOf(
  engine: Engine,
  request: PolicyRequest,
  decision: Decision,
  { subject, nonce }: Pick<DecisionRecord, 'subject' | 'nonce'>,
): DecisionRecord {
  return { format: 'keyturn-decision/1', snapshot: engine.set.digest, request, decision, subject, nonce };
}

export function sealDecision(record: DecisionRecord): { bytes: Uint8Array; digest: Digest } {
  const bytes = Buffer.from(canonicalTextOfParsed(record));
  return { bytes, digest: sha256(bytes) };
}

/** Reads a record back from the bytes that its digest covers. */
export function openDecision(bytes: Uint8Array): DecisionRecord {
  const value =
    parseCanonical(bytes) ?? refuse('SHAPE_INVALID', 'The decision is not in its canonical form.');
  const record = recordSchema.safeParse(value);
  if (!record.success) refuse('SHAPE_INVALID', `The decision is not valid: ${describeIssue(record.error)}`);
  return record.data;
}

/** What this engine says to the same question. Whether its policies are the recorded snapshot is the caller's to ask. */
export function redecide({ request }: DecisionRecord, engine: Engine): Decision {
  return engine.decide(request);
}

/** The same answer for the same reason. The words follow from them, and may be said better one day. */
export function sameDecision(a: Decision, b: Decision): boolean {
  return substance(a) === substance(b);
}

function substance({ allowed, code, policies }: Decision): string {
  return canonicalText({ allowed, code, policies });
}

export interface ChangedDecision {
  readonly record: DecisionRecord;
  /** What the active policies say to the question now; where there are none, what was decided. */
  readonly before: Decision;
  readonly after: Decision;
}

/**
 * The records whose question the two answer differently. A record can be older than the active policies: what those have changed already,
 * the next ones do not change. A policy with another name or rationale changes no decision.
 */
export function changedDecisions(
  records: readonly DecisionRecord[],
  active: Engine | null,
  next: Engine,
): ChangedDecision[] {
  return records
    .map((record) => ({
      record,
      before: active === null ? record.decision : redecide(record, active),
      after: redecide(record, next),
    }))
    .filter(({ before, after }) => before.allowed !== after.allowed || before.code !== after.code);
}
