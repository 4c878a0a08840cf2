import type { Digest } from '../canonical/digest.ts';
import type { Event } from '../event/event.ts';
import { readConfirmation } from '../finder/lexicon/confirmation.ts';
import { type AgentPlan, type AgentState, type AgentStep, currentStep, isOver } from '../gate/agent-state.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { advance, answerNow, waiting } from './advance.ts';
import { cancelledAnswer } from './answer.ts';
import type { AgentAnswer } from './answer-shape.ts';
import { type AgentContext, requireCorrelation } from './context.ts';
import { type ConfirmationProof, confirmations, type Sealed } from './contracts.ts';
import { agentPlanMoved, closing, stepMoved } from './moves.ts';
import { refsOf } from './plan.ts';
import { spokenLanguage } from './spoken.ts';
import { type StepInAgentPlan, stepInAgentPlan } from './step-in-plan.ts';
import { sealText } from './turn.ts';

export interface ConfirmRequest {
  readonly correlation_id: string;
  /**
   * Which prompt this answers; the prompt names it. It is the hash of the values that were shown, so a yes that came late
   * or came twice never counts for other ones.
   */
  readonly plan_id: string;
  readonly user_id: string;
  readonly text: string;
  /** The language of the conversation, when the caller knows better than the goal tells. */
  readonly language?: string;
  /** Which step of the plan. A plan of several needs it: a yes that came late must not confirm the next step. */
  readonly step_id?: string;
}

/**
 * What a user says about a plan. Only an explicit yes of the lexicon, to the very step that waits for it, dispatches. A no
 * ends the plan at any moment before its dispatch. Anything else changes nothing, and is answered with where it stands.
 */
export async function confirm(context: AgentContext, request: ConfirmRequest): Promise<AgentAnswer> {
  const { correlation_id, user_id, text, step_id } = request;
  const state = await requireCorrelation(context, correlation_id, user_id);
  const plan = planMeant(state, request);
  const step = isOver(plan) ? null : currentStep(plan);
  // What came of an earlier prompt, and nothing new.
  if (step === null) return answerNow(context, state, plan);
  const language = request.language ?? (await spokenLanguage(context, state));
  const current = await stepInAgentPlan(context, state, plan, step.step_id);
  const words = sealText(text);
  const proof = proofOf(current, text, words.digest, language);
  const { answer } = proof.value;
  if (answer !== 'NO' && !isMeant(plan, step, step_id)) return answerNow(context, state, plan);
  // What runs is not called back: it ends as its run does, and is not dispatched a second time.
  if (step.state === 'EXECUTING') return advance(context, correlation_id, user_id, current);
  if (answer !== 'NO' && step.state !== 'WAITING_CONFIRM') return answerNow(context, state, plan);

  if (answer === 'YES' && (await isPromptExpired(context, current)))
    return expired(context, current, language);

  // Of a text that is too long for an answer to a prompt, only the digest is kept.
  const isKept = text.length <= limits.prose_chars;
  await context.journey.store.commit({
    events: [confirmedEvent(current, proof, isKept ? words.digest : null), ...moves(current, proof)],
    objects: isKept ? [proof.bytes, words.bytes] : [proof.bytes],
  });
  if (answer === 'AMBIGUOUS') return waiting(context, current, 'CONFIRMATION_AMBIGUOUS', language);
  if (answer === 'NO') return cancelledAnswer(plan, correlation_id, reasonOf(current), language);
  return advance(context, correlation_id, user_id, current);
}

/** The prompt is as old as the entry with which its step began to wait. */
async function isPromptExpired({ journey }: AgentContext, { plan, step }: StepInAgentPlan): Promise<boolean> {
  const entries = await journey.store.entriesOf(`agent:${plan.correlation_id}`);
  const asked = entries.findLast(({ bytes }) => {
    const { event } = journey.read_entry(bytes);
    return (
      event.kind === 'agent.moved' &&
      event.body.step_id === step.step_id &&
      event.body.to === 'WAITING_CONFIRM'
    );
  });
  if (!asked) return true;
  const { at } = journey.read_entry(asked.bytes).entry;
  return journey.clock().getTime() - Date.parse(at) > journey.prompt_ttl_s * 1000;
}

/** A yes to something that was shown long ago is a yes to another world: the plan ends, and nothing of it runs. */
async function expired(
  context: AgentContext,
  current: StepInAgentPlan,
  language: string,
): Promise<AgentAnswer> {
  const { plan, plan_now, step, step_now } = current;
  await context.journey.store.commit({
    events: [
      stepMoved(plan, step, [step_now.state, 'SKIPPED'], 'CONFIRM_EXPIRED', refsOf(plan, step)),
      ...closing(plan, plan_now, step.step_id, ['CANCELLED', 'CONFIRM_EXPIRED']),
    ],
    objects: [],
  });
  return cancelledAnswer(plan_now, plan.correlation_id, 'CONFIRM_EXPIRED', language);
}

function planMeant({ plans }: AgentState, { plan_id, step_id }: ConfirmRequest): AgentPlan {
  const plan = plans.find((one) => one.plan_id === plan_id);
  if (!plan) return refuse('AGENT_TRANSITION_ILLEGAL', 'This conversation has no such plan.');
  if (step_id !== undefined && !plan.steps.some((step) => step.step_id === step_id))
    refuse('AGENT_TRANSITION_ILLEGAL', 'The plan has no such step.');
  return plan;
}

/** Whether the prompt is the one of this step. */
function isMeant({ steps }: AgentPlan, step: AgentStep, step_id: string | undefined): boolean {
  if (step_id === undefined && steps.length > 1)
    refuse(
      'CLARIFICATION_NEEDED',
      'The plan has several steps, and a late yes must not confirm the next one: name the step of the prompt.',
    );
  return step_id === undefined || step_id === step.step_id;
}

/** Whether a prompt was declined, or a plan was called off that asked for no yes. */
function reasonOf({ step }: StepInAgentPlan): 'CONFIRM_DECLINED' | 'PLAN_WITHDRAWN' {
  return step.confirmation_required ? 'CONFIRM_DECLINED' : 'PLAN_WITHDRAWN';
}

function proofOf(
  { state, plan, step }: StepInAgentPlan,
  text: string,
  words: Digest,
  language: string,
): Sealed<ConfirmationProof> {
  const {
    answer,
    token,
    confirm_lexicon_version_ref,
    reason,
    language: spoken,
  } = readConfirmation(text, language);
  return confirmations.seal({
    format: 'keyturn-confirmation/1',
    correlation_id: plan.correlation_id,
    plan_id: plan.plan_id,
    step_id: step.step_id,
    user_id: state.user_id,
    answer,
    token,
    language: spoken,
    confirm_lexicon_version_ref,
    reason,
    text: words,
  });
}

function confirmedEvent(
  { plan, step }: StepInAgentPlan,
  proof: Sealed<ConfirmationProof>,
  text: Digest | null,
): Event<'agent.confirmed'> {
  const { answer, confirm_lexicon_version_ref } = proof.value;
  return {
    kind: 'agent.confirmed',
    subject: `agent:${plan.correlation_id}`,
    body: {
      plan_id: plan.plan_id,
      step_id: step.step_id,
      answer,
      proof: proof.digest,
      text,
      confirm_lexicon_version_ref,
    },
  };
}

function moves(current: StepInAgentPlan, proof: Sealed<ConfirmationProof>): Event[] {
  const { plan, plan_now, step, step_now } = current;
  const refs = { ...refsOf(plan, step), confirmation_parse_proof_ref: proof.digest };
  switch (proof.value.answer) {
    case 'AMBIGUOUS':
      return [];
    case 'NO':
      return [
        stepMoved(plan, step, [step_now.state, 'SKIPPED'], reasonOf(current), refs),
        ...closing(plan, plan_now, step.step_id, ['CANCELLED', reasonOf(current)]),
      ];
    case 'YES':
      return [
        stepMoved(plan, step, ['WAITING_CONFIRM', 'READY'], 'CONFIRM_ACCEPTED', refs),
        agentPlanMoved(plan, ['WAITING_CONFIRM', 'READY'], 'CONFIRM_ACCEPTED', refs),
      ];
  }
}
