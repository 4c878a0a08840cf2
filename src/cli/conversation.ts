import { AGENT_CORE, type IntentState, type Result } from '../keyturn.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { nextAt, type Opened } from './project.ts';

/** What a conversation waits for, as the command that goes on with it. */

export type ConversationAnswer = Result<'conversations.status'>;

export const resumeCommand = (correlation_id: string) => `keyturn agent resume ${correlation_id}`;

/** The next command, or null when the conversation waits for nothing. */
export function nextCommand(
  keyturn: Pick<Opened, 'service'>,
  { correlation_id, next, plans }: ConversationAnswer,
): string | null {
  const resume = nextAt(keyturn, resumeCommand(correlation_id));
  switch (next?.act) {
    case 'answer':
      return nextAt(keyturn, `keyturn agent answer ${correlation_id} --turn ${next.turn_id} "…"`);
    case 'confirm': {
      const plan = plans.find(({ plan_id }) => plan_id === next.plan_id)!;
      const step = plan.steps.length > 1 ? ` --step ${next.step_id}` : '';
      const named = `--plan ${shortName(plans, plan.plan_id)}${step}`;
      return nextAt(keyturn, `keyturn agent confirm ${correlation_id} ${named} "…"`);
    }
    case 'approve':
      return `${nextAt(keyturn, `keyturn approve ${next.intent_id}`)}, then ${resume}`;
    case 'resume':
      return resume;
    default:
      return null;
  }
}

const SHORT_DIGITS = 12;
const LEAST_DIGITS = 8;

function shortName(plans: ConversationAnswer['plans'], plan_id: string): string {
  const short = plan_id.slice(0, SHORT_DIGITS);
  return plans.filter((plan) => plan.plan_id.startsWith(short)).length > 1 ? plan_id : short;
}

/** `--plan`: the id of a plan, or a beginning of it that no other plan of the conversation has. */
export function agentPlanNamed({ plans }: ConversationAnswer, given: string): string {
  if (!/^[0-9a-f]{1,64}$/.test(given) || given.length < LEAST_DIGITS)
    refuse('USAGE', `--plan takes the id of a plan, or at least its first ${LEAST_DIGITS} hex digits.`);
  const [plan, other] = plans.filter(({ plan_id }) => plan_id.startsWith(given));
  if (!plan) return refuse('AGENT_TRANSITION_ILLEGAL', 'This conversation has no such plan.');
  if (other) refuse('ID_AMBIGUOUS', `Several plans fit "${given}": ${plan.plan_id}, ${other.plan_id}.`);
  return plan.plan_id;
}

/** The conversation that this intent belongs to, from the newest entries; null when none of them names it. */
async function correlationFor(keyturn: Opened, intent_id: string): Promise<string | null> {
  const limit = limits.conversation_entries;
  const { entries } = await keyturn.ledger.entries({ kind: 'agent.access', limit });
  const entry = entries.find(({ body }) => body.intent_id === intent_id);
  return entry?.subject.slice('agent:'.length) ?? null;
}

/** What follows an approval: the agent core runs what it proposed itself, and everything else is granted by a human. */
export async function afterApproval(
  keyturn: Opened,
  {
    intent_id,
    proposer,
    proposer_verified,
  }: Pick<IntentState, 'intent_id' | 'proposer' | 'proposer_verified'>,
  typed: string = intent_id,
): Promise<string> {
  if (proposer !== AGENT_CORE || !proposer_verified) return nextAt(keyturn, `keyturn grant ${typed}`);
  return nextAt(keyturn, resumeCommand((await correlationFor(keyturn, intent_id)) ?? 'CORRELATION'));
}
