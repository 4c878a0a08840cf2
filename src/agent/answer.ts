import { visible } from '../canonical/visible.ts';
import { LEXICON } from '../finder/lexicon/lexicon.ts';
import { inLanguage } from '../finder/questions.ts';
import type { Simulation } from '../finder/simulation.ts';
import type { AgentPlan } from '../gate/agent-state.ts';
import { limits } from '../limits.ts';
import { explain, isReasonCode } from '../refusal.ts';
import type { AgentAnswer, Confirm, Paused, Refused } from './answer-shape.ts';
import type { FieldValue } from './contracts.ts';
import { sayingsIn } from './spoken.ts';
import type { StepInAgentPlan } from './step-in-plan.ts';

/** The prompt shows what would happen and the two words that count. It needs no grammar of any language. */
export function confirmAnswer(
  { plan, step }: Pick<StepInAgentPlan, 'plan' | 'step'>,
  { summary }: Simulation,
  asked_language: string,
  reason_code: 'CONFIRM_REQUIRED' | 'CONFIRMATION_AMBIGUOUS' = 'CONFIRM_REQUIRED',
): Confirm {
  const language = LEXICON.has(asked_language) ? asked_language : 'en';
  const { affirmative, negative } = LEXICON.get(language)!;
  const values = step.required_fields.map(({ field, value }) => `${field}: ${shown(value)}`);
  const what = [inLanguage(summary, language), ...values, ...later(plan, step.step_id)].join(' · ');
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

/** Every step that comes after this one, with its values: a yes to the first is given knowing where the plan leads. */
function later({ ordered_steps }: StepInAgentPlan['plan'], step_id: string): string[] {
  const from = ordered_steps.findIndex((one) => one.step_id === step_id);
  return ordered_steps.slice(from + 1).map(({ simulation_id, required_fields }, i) => {
    const values = required_fields.map(({ field, value }) => `${field}: ${shown(value)}`);
    return [`→ ${from + i + 2}. ${simulation_id}`, ...values].join(' · ');
  });
}

/**
 * A value between quotes. The attacker chose it, so that it looks like the rest of the prompt: another value, another
 * question, or blanks that push what follows off the screen.
 */
function shown(value: FieldValue['value']): string {
  if (typeof value !== 'string') return String(value);
  const quoted = value.replace(/["\\]/g, '\\$&');
  return `"${visible(quoted).replace(/\t|(?<= ) /g, (blank) => (blank === ' ' ? '\\x20' : '\\t'))}"`;
}

export function pausedAnswer({ plan, step, step_now }: StepInAgentPlan): Paused {
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
  language: string | undefined,
): AgentAnswer {
  const is_part_done = steps.some(({ state }) => state === 'SUCCEEDED');
  const { nothing_done, nothing_more, too_old } = sayingsIn(language);
  const what = is_part_done ? nothing_more : nothing_done;
  const user_visible_text = reason_code === 'CONFIRM_EXPIRED' ? too_old.replace('{}', what) : what;
  return { kind: 'CANCELLED', correlation_id, reason_code, user_visible_text };
}

export function refusedAnswer(
  correlation_id: string,
  reason_code: string,
  language: string | undefined,
): Refused {
  return { kind: 'REFUSED', correlation_id, reason_code, user_visible_text: notDone(language, reason_code) };
}

/** With the names of what differs, where something is not what a human activated. */
export function notDone(
  language: string | undefined,
  reason_code: string,
  differs: readonly string[] = [],
  ran: RanUntil = 'not_done',
): string {
  const why = isReasonCode(reason_code) ? explain(reason_code).meaning : 'It failed.';
  const named = differs.length === 0 ? '' : ` Differs: ${visible(differs.join(', '))}`;
  return `${sayingsIn(language)[ran]} ${why}${named}`.slice(0, limits.prose_chars);
}

/** How far it came before it failed. */
export type RanUntil = 'not_done' | 'failed' | 'rolled_back';
