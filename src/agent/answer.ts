import type { Digest } from '../canonical/digest.ts';
import { visible } from '../canonical/visible.ts';
import type { AgentPlan, PlanStatus } from '../gate/agent-state.ts';
import { limits } from '../limits.ts';
import { explain, isReasonCode } from '../refusal.ts';
import type { AgentExecutionOutcome, FieldValue } from './contracts.ts';
import { inLanguage } from './finder/questions.ts';
import type { IntakeAnswer } from './intake.ts';
import { LEXICON } from './lexicon/lexicon.ts';
import type { FinderPacket } from './packet.ts';
import type { Simulation } from './simulation.ts';
import type { Standing } from './standing.ts';

/** What a turn ends with. Whoever talks to the user shows the text; nothing of it is kept as a transcript here. */
export type AgentAnswer =
  | Confirm
  | Clarify
  | Refused
  | Missing
  | AwaitsApprover
  | Paused
  | Outcome
  | (Shared & { readonly kind: 'CANCELLED' });

interface Shared {
  readonly correlation_id: string;
  readonly reason_code: string;
  readonly user_visible_text: string;
}

/** Say yes or no, in the words of the lexicon. */
export interface Confirm extends Shared {
  readonly kind: 'CONFIRM';
  readonly plan_id: string;
  readonly step_id: string;
  readonly language: string;
  readonly affirmative: string;
  readonly negative: string;
}

/** The question of the finder, unchanged. */
export interface Clarify extends Shared {
  readonly kind: 'CLARIFY';
  readonly question: string;
  readonly allowed_answer_formats: readonly string[];
  readonly attempt_index: number;
  readonly max_attempts: number;
}

export interface Refused extends Shared {
  readonly kind: 'REFUSED';
  /** Of a step that was not dispatched: the decision and everything that it names. */
  readonly outcome?: AgentExecutionOutcome;
  readonly outcome_ref?: Digest;
}

export interface Missing extends Shared {
  readonly kind: 'MISSING_SIMULATION';
  readonly intake: IntakeAnswer;
}

/** A human has to approve this intent; then the correlation is resumed. */
export interface AwaitsApprover extends Shared {
  readonly kind: 'AWAITS_APPROVER';
  readonly plan_id: string;
  readonly step_id: string;
  readonly intent_id: string;
  readonly hash: string;
}

/** What the executor returned, as it returned it. `next` is what the next step of the plan waits for. */
export interface Outcome extends Shared {
  readonly kind: 'OUTCOME';
  readonly plan_id: string;
  readonly plan_state: PlanStatus;
  readonly outcome: AgentExecutionOutcome;
  readonly outcome_ref: string;
  readonly is_duplicate: boolean;
  readonly next: Confirm | Paused | null;
}

/** Nothing waits for a yes: the next step needs only the next turn. */
export interface Paused extends Shared {
  readonly kind: 'PAUSED';
  readonly plan_id: string;
  readonly step_id: string;
}

/** The answer to `ask` and `answer`, with the packet that it came from and what there is to tell besides. */
export type AgentTurn = AgentAnswer & {
  readonly turn_id: string;
  readonly packet: FinderPacket;
  readonly news: readonly { readonly simulation: string; readonly wish: string }[];
};

/** The prompt shows what would happen and the two words that count. It needs no grammar of any language. */
export function confirmAnswer(
  { plan, step }: Pick<Standing, 'plan' | 'step'>,
  { summary }: Simulation,
  asked_language: string,
  reason_code: 'CONFIRM_REQUIRED' | 'CONFIRMATION_AMBIGUOUS' = 'CONFIRM_REQUIRED',
): Confirm {
  const language = LEXICON.has(asked_language) ? asked_language : 'en';
  const { affirmative, negative } = LEXICON.get(language)!;
  const values = step.required_fields.map(({ field, value }) => `${field}: ${shown(value)}`);
  const what = [inLanguage(summary, language), ...values].join(' · ');
  return {
    kind: 'CONFIRM',
    correlation_id: plan.correlation_id,
    plan_id: plan.plan_id,
    step_id: step.step_id,
    reason_code,
    language,
    affirmative: affirmative[0]!,
    negative: negative[0]!,
    user_visible_text: `${what} — ${affirmative[0]} / ${negative[0]}?`,
  };
}

/**
 * A value between quotes. The attacker chose it, so that it looks like the rest of the prompt: another value, another
 * question, or blanks that push what follows out of sight.
 */
function shown(value: FieldValue['value']): string {
  if (typeof value !== 'string') return String(value);
  const quoted = value.replace(/["\\]/g, '\\$&');
  return `"${visible(quoted).replace(/\t|(?<= ) /g, (blank) => (blank === ' ' ? '\\x20' : '\\t'))}"`;
}

export function pausedAnswer({ plan, step, step_now }: Standing): Paused {
  const is_running = step_now.state === 'EXECUTING';
  return {
    kind: 'PAUSED',
    correlation_id: plan.correlation_id,
    plan_id: plan.plan_id,
    step_id: step.step_id,
    reason_code: is_running ? 'STEP_DISPATCHED' : 'TURN_ENDED',
    user_visible_text: is_running
      ? `${step.simulation_id} was started, and how it ended is not recorded yet.`
      : `The next step is ${step.simulation_id}.`,
  };
}

export function cancelledAnswer(
  { steps }: AgentPlan,
  correlation_id: string,
  reason_code: string,
): AgentAnswer {
  const is_part_done = steps.some(({ state }) => state === 'SUCCEEDED');
  const user_visible_text = is_part_done ? 'Nothing more is done.' : 'Nothing is done.';
  return { kind: 'CANCELLED', correlation_id, reason_code, user_visible_text };
}

export function refusedAnswer(correlation_id: string, reason_code: string): Refused {
  return { kind: 'REFUSED', correlation_id, reason_code, user_visible_text: notDone(reason_code) };
}

/** With the names of what differs, where something is not what a human activated. */
export function notDone(reason_code: string, differs: readonly string[] = []): string {
  const why = isReasonCode(reason_code) ? explain(reason_code).meaning : 'It failed.';
  const named = differs.length === 0 ? '' : ` Differs: ${visible(differs.join(', '))}`;
  return `Not done. ${why}${named}`.slice(0, limits.prose_chars);
}
