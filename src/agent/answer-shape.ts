import * as z from 'zod';
import { AGENT_PLAN_STATES } from '../event/agent.ts';
import { digest, uuid } from '../event/shape.ts';
import { packetShape } from '../finder/packet.ts';
import { executionOutcome } from './contracts.ts';

/** What a turn ends with. The program that talks to the user shows the text; nothing of it is kept as a transcript here. */

const shared = { correlation_id: z.string(), reason_code: z.string(), user_visible_text: z.string() };
const of_step = { plan_id: digest, step_id: digest };

/** Say yes or no, in the words of the lexicon. */
const confirm = z
  .strictObject({
    kind: z.literal('CONFIRM'),
    ...shared,
    ...of_step,
    language: z.string(),
    affirmative: z.string(),
    negative: z.string(),
  })
  .meta({ id: 'agent-confirm' });

/** Nothing waits for a yes: the next step needs only the next turn. */
const paused = z
  .strictObject({ kind: z.literal('PAUSED'), ...shared, ...of_step })
  .meta({ id: 'agent-paused' });

const outcome = executionOutcome.meta({ id: 'agent-outcome' });

export const dispatched = z.lazy(() =>
  z.union([
    z.strictObject({
      kind: z.literal('OUTCOME'),
      outcome,
      outcome_ref: digest,
      /** The step was dispatched before. This is what came of it then, and nothing was done now. */
      is_duplicate: z.boolean(),
    }),
    z.strictObject({ kind: z.literal('AWAITS_APPROVER'), intent_id: uuid, hash: digest }),
  ]),
);

/** Every answer of a conversation. `more` is what only a turn has. */
function answers<M extends z.ZodRawShape>(more: M) {
  return z.union([
    z.strictObject({ ...confirm.shape, ...more }),
    /** The question of the finder, unchanged. */
    z.strictObject({
      kind: z.literal('CLARIFY'),
      ...shared,
      question: z.string(),
      allowed_answer_formats: z.array(z.string()),
      attempt_index: z.int(),
      max_attempts: z.int(),
      ...more,
    }),
    z.strictObject({
      kind: z.literal('REFUSED'),
      ...shared,
      /** Of a step that was not dispatched: the decision and everything that it names. */
      outcome: outcome.optional(),
      outcome_ref: digest.optional(),
      ...more,
    }),
    z.strictObject({ kind: z.literal('CANCELLED'), ...shared, ...more }),
    z.strictObject({ ...paused.shape, ...more }),
    z.strictObject({
      kind: z.literal('MISSING_SIMULATION'),
      ...shared,
      /** What became of the wish. */
      intake: z.enum(['RECORDED', 'LINKED_TO_DRAFT', 'RECORDED_BEFORE', 'LIMITED']),
      ...more,
    }),
    /** Humans have to approve this intent; then the conversation is resumed. */
    z.strictObject({
      kind: z.literal('AWAITS_APPROVER'),
      ...shared,
      ...of_step,
      intent_id: uuid,
      hash: digest,
      /** How many more humans must approve it, and who is asked to; null for all who could. */
      missing: z.int().min(1),
      reviewers: z.array(z.string()).readonly().nullable(),
      ...more,
    }),
    /** What the executor returned, as it returned it. `next` is what the next step of the plan waits for. */
    z.strictObject({
      kind: z.literal('OUTCOME'),
      ...shared,
      plan_id: digest,
      plan_state: z.enum(AGENT_PLAN_STATES),
      outcome,
      outcome_ref: digest,
      is_duplicate: z.boolean(),
      /** What a read printed: its beginning, with everything that could change a screen made visible. Null for what changes something. */
      result: z.string().nullable(),
      next: z.union([confirm, paused]).nullable(),
      ...more,
    }),
  ]);
}

/** What a user wished for and exists now. */
export const news = z.strictObject({ simulation: z.string(), wish: z.string() }).meta({ id: 'news' });

// Made by the first call that needs them: a command that is not about a conversation does not pay for them.
export const agentAnswer = z.lazy(() => answers({})).meta({ id: 'agent-answer' });
/** The answer to `ask` and `answer`, with the packet that it came from and what there is to tell besides. */
export const agentTurn = z
  .lazy(() => answers({ turn_id: z.string(), packet: packetShape, news: z.array(news) }))
  .meta({ id: 'agent-turn' });

export type AgentAnswer = z.output<typeof agentAnswer>;
export type AgentTurn = z.output<typeof agentTurn>;
export type Dispatched = z.output<typeof dispatched>;
export type WishNews = z.output<typeof news>;
type Of<K extends AgentAnswer['kind']> = Extract<AgentAnswer, { readonly kind: K }>;
export type Confirm = Of<'CONFIRM'>;
export type Paused = Of<'PAUSED'>;
export type Clarify = Of<'CLARIFY'>;
export type Refused = Of<'REFUSED'>;
export type AwaitsApprover = Of<'AWAITS_APPROVER'>;
export type Outcome = Of<'OUTCOME'>;
export type IntakeAnswer = Of<'MISSING_SIMULATION'>['intake'];
