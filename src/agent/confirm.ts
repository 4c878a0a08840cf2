import type { Event } from '../event/event.ts';
import { type AgentState, currentStep, livePlan } from '../gate/agent-state.ts';
import { refuse } from '../refusal.ts';
import { advance, answerNow, languageOf, waiting } from './advance.ts';
import { type AgentAnswer, cancelledAnswer } from './answer.ts';
import { type AgentContext, requireCorrelation } from './context.ts';
import { type ConfirmationProof, confirmations, type Sealed } from './contracts.ts';
import { readConfirmation } from './lexicon/confirmation.ts';
import { closing, planMoved, stepMoved } from './moves.ts';
import { refsOf } from './plan.ts';
import { type Standing, standingOf } from './standing.ts';
import { textObject } from './turn.ts';

export interface ConfirmRequest {
  readonly correlation_id: string;
  readonly user_id: string;
  readonly text: string;
  /** The language of the conversation, when whoever calls knows better than the goal tells. */
  readonly language?: string;
  /** Which prompt this answers. A plan of several steps needs it: a yes that came late must not confirm the next step. */
  readonly step_id?: string;
}

/** The answer to a prompt. An explicit yes of the lexicon dispatches, a no ends the plan, anything else is asked again. */
export async function confirm(context: AgentContext, request: ConfirmRequest): Promise<AgentAnswer> {
  const { correlation_id, user_id, text, step_id } = request;
  const state = await requireCorrelation(context, correlation_id, user_id);
  const plan = livePlan(state);
  if (!plan && step_id === undefined && asksNow(state))
    refuse('CLARIFICATION_NEEDED', 'A question is open, and no prompt: run `keyturn agent answer`.');
  if (!plan) return answerNow(context, state);
  const step = currentStep(plan)!;
  if (step_id === undefined && plan.steps.length > 1)
    refuse(
      'CLARIFICATION_NEEDED',
      'The plan has several steps, and a late yes must not confirm the next one: name the step of the prompt.',
    );
  if (step_id !== undefined && step_id !== step.step_id)
    return earlier(context, state.correlation_id, step_id);
  const standing = await standingOf(context, state, plan, step.step_id);
  if (step.state !== 'WAITING_CONFIRM' && step.state !== 'READY')
    return advance(context, correlation_id, user_id);

  const language = request.language ?? (await languageOf(context, state));
  const proof = proofOf(standing, text, language);
  const { answer } = proof.value;
  // A yes that was taken before is not taken twice; a no still counts until the dispatch.
  if (step.state === 'READY' && (answer !== 'NO' || !step.confirmation_required))
    return advance(context, correlation_id, user_id);
  await context.journey.store.commit({
    events: [confirmedEvent(standing, proof), ...moves(standing, proof)],
    objects: [proof.bytes, textObject(text).bytes],
  });
  if (answer === 'AMBIGUOUS') return waiting(context, standing, 'CONFIRMATION_AMBIGUOUS', language);
  if (answer === 'NO') return cancelledAnswer(correlation_id, 'CONFIRM_DECLINED');
  return advance(context, correlation_id, user_id);
}

/** The newest thing in this conversation is a question. */
function asksNow({ turn, plans }: AgentState): boolean {
  return turn.packet_kind === 'CLARIFY' && (plans.at(-1)?.created_at ?? '') < turn.at;
}

/** A prompt that was answered before: what came of it, and nothing new. */
async function earlier(context: AgentContext, correlation_id: string, step_id: string): Promise<AgentAnswer> {
  const state = await requireCorrelation(context, correlation_id, undefined);
  if (!state.plans.some(({ steps }) => steps.some((step) => step.step_id === step_id)))
    refuse('AGENT_TRANSITION_ILLEGAL', 'This correlation has no such step.');
  return answerNow(context, state);
}

function proofOf({ state, plan, step }: Standing, text: string, language: string): Sealed<ConfirmationProof> {
  const { answer, token, lexicon_version_ref, reason } = readConfirmation(text, language);
  return confirmations.seal({
    format: 'keyturn-confirmation/1',
    correlation_id: plan.correlation_id,
    plan_id: plan.plan_id,
    step_id: step.step_id,
    user_id: state.user_id,
    answer,
    token,
    language,
    lexicon_version_ref,
    reason,
    text: textObject(text).digest,
  });
}

function confirmedEvent(
  { plan, step }: Standing,
  proof: Sealed<ConfirmationProof>,
): Event<'agent.confirmed'> {
  const { answer, lexicon_version_ref } = proof.value;
  return {
    kind: 'agent.confirmed',
    subject: `agent:${plan.correlation_id}`,
    body: {
      plan_id: plan.plan_id,
      step_id: step.step_id,
      answer,
      proof: proof.digest,
      lexicon_version_ref,
    },
  };
}

function moves({ plan, plan_now, step, step_now }: Standing, proof: Sealed<ConfirmationProof>): Event[] {
  const refs = { ...refsOf(plan, step), confirmation_parse_proof_ref: proof.digest };
  switch (proof.value.answer) {
    case 'AMBIGUOUS':
      return [];
    case 'NO':
      return [
        stepMoved(plan, step, [step_now.state, 'SKIPPED'], 'CONFIRM_DECLINED', refs),
        ...closing(plan, plan_now, step.step_id, ['CANCELLED', 'CONFIRM_DECLINED']),
      ];
    case 'YES':
      return [
        stepMoved(plan, step, ['WAITING_CONFIRM', 'READY'], 'CONFIRM_ACCEPTED', refs),
        planMoved(plan, ['WAITING_CONFIRM', 'READY'], 'CONFIRM_ACCEPTED', refs),
      ];
  }
}
