import * as z from 'zod';
import { type Digest, sha256 } from '../canonical/digest.ts';
import { REASON_FORM } from '../canonical/form.ts';
import { canonicalBytesOfParsed, parseJson } from '../canonical/json.ts';
import { describeIssue } from '../event/event.ts';
import { digest, name } from '../event/shape.ts';
import { isReasonCode, type ReasonCode, refuse } from '../refusal.ts';

/** The facts that a dispatch rests on. They are stored with the answer, so that it can be given again. */
const facts = z.strictObject({
  /** What the finder named and what the step runs, as the ledger knew them. */
  simulations: z
    .array(
      z.strictObject({
        simulation_id: name,
        version: z.int().min(1),
        definition: digest,
        status: z.enum(['ACTIVE', 'NOT_ACTIVE', 'NOT_REGISTERED', 'MADE_LATER']),
        /** What its activation binds, what was found instead, and in what the two differ. */
        activated: digest.nullable(),
        found: digest.nullable(),
        differs: z.array(z.string()),
      }),
    )
    .min(1)
    .max(2),
  access: z.enum(['ALLOW', 'DENY', 'AP_REQUIRED']),
  /** As the plan has it: the highest of the definition and of what the finder says. */
  risk: z.enum(['LOW', 'MEDIUM', 'HIGH']),
  /** Whether the tools are those that were there when the plan was made. */
  same_registry: z.boolean(),
  /** Whether a human who may has signed the very intent that would run. */
  approved: z.boolean(),
  /** Why the intent cannot be dispatched, though nothing else here stands in the way. Its own entries tell it as well. */
  obstacle: z.custom<ReasonCode>((code) => typeof code === 'string' && isReasonCode(code)).nullable(),
  confirmation_required: z.boolean(),
  confirmation: z.enum(['YES', 'NO', 'AMBIGUOUS']).nullable(),
});

const record = z.strictObject({
  format: z.literal('keyturn-dispatch-decision/1'),
  correlation_id: z.string(),
  plan_id: digest,
  step_id: digest,
  idempotency_key: digest,
  refs: z.strictObject({
    finder_packet_ref: digest,
    policy_snapshot_ref: digest,
    catalog_snapshot_ref: digest,
    artifact_fingerprint_bundle_ref: digest,
    access_decision_ref: digest.nullable(),
    confirmation_parse_proof_ref: digest.nullable(),
    rollback_plan_ref: z.string().nullable(),
  }),
  facts,
  decision: z.enum(['DISPATCH', 'NO_DISPATCH']),
  reason_code: z.string().regex(REASON_FORM),
});

export type DispatchFacts = z.infer<typeof facts>;
export type DispatchDecision = z.infer<typeof record>;

interface Decided {
  readonly decision: DispatchDecision['decision'];
  readonly reason_code: ReasonCode | 'STEP_DISPATCHED';
}

/** Pure: whether a step is dispatched, and if not, why. The first no counts, and the order never changes. */
export function decide(given: DispatchFacts): Decided {
  const reason_code = whyNot(given);
  return reason_code === null
    ? { decision: 'DISPATCH', reason_code: 'STEP_DISPATCHED' }
    : { decision: 'NO_DISPATCH', reason_code };
}

function whyNot({ simulations, access, risk, approved, ...given }: DispatchFacts): ReasonCode | null {
  if (simulations.some(({ status }) => status === 'NOT_REGISTERED')) return 'SIMULATION_NOT_REGISTERED';
  if (simulations.some(({ status }) => status === 'MADE_LATER')) return 'MADE_IN_FUTURE';
  if (simulations.some(({ status }) => status !== 'ACTIVE')) return 'SIMULATION_NOT_ACTIVE';
  if (simulations.some(({ differs }) => differs.length > 0)) return 'ACTIVATION_DIFFERS';
  if (!given.same_registry) return 'EFFECT_CHANGED';
  if (access === 'DENY') return 'ACCESS_SCOPE_VIOLATION';
  if (given.confirmation_required && given.confirmation === 'AMBIGUOUS') return 'CONFIRMATION_AMBIGUOUS';
  if (given.confirmation_required && given.confirmation !== 'YES') return 'CONFIRMATION_MISSING';
  if (given.obstacle !== null) return given.obstacle;
  const needs_approver = access === 'AP_REQUIRED' || risk === 'HIGH';
  return needs_approver && !approved ? 'ACCESS_AP_REQUIRED' : null;
}

/** What a person is told beside the code. */
export function differsIn({ simulations }: DispatchFacts): readonly string[] {
  return simulations.flatMap(({ differs }) => differs);
}

export interface SealedDecision {
  readonly record: DispatchDecision;
  readonly decided: Decided;
  readonly bytes: Uint8Array;
  /** The dispatch_decision_hash, and the address of the record. */
  readonly digest: Digest;
}

export function sealDispatchDecision(
  about: Omit<DispatchDecision, 'format' | 'decision' | 'reason_code'>,
): SealedDecision {
  const decided = decide(about.facts);
  const made: DispatchDecision = { format: 'keyturn-dispatch-decision/1', ...about, ...decided };
  const bytes = canonicalBytesOfParsed(made);
  return { record: made, decided, bytes, digest: sha256(bytes) };
}

export function openDispatchDecision(bytes: Uint8Array): DispatchDecision {
  const parsed = record.safeParse(parseJson(bytes, bytes.length));
  if (!parsed.success) refuse('SHAPE_INVALID', `The decision is not valid: ${describeIssue(parsed.error)}`);
  return parsed.data;
}
