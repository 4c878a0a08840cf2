import type { IntentState, Keyturn } from '../keyturn.ts';
import { refuse } from '../refusal.ts';

/** What a conversation waits for, as the command that goes on with it. */

type Status = Awaited<ReturnType<Keyturn['agent']['status']>>;
type Plan = Status['state']['plans'][number];

/** An answer names its question: one that comes twice must not answer the next. */
export const answerCommand = ({ correlation_id, turn }: Status['state']) =>
  `keyturn agent answer ${correlation_id} --turn ${turn.turn_id} "…"`;
export const resumeCommand = (correlation_id: string) => `keyturn agent resume ${correlation_id}`;
const approveCommand = (correlation_id: string, intent_id: string) =>
  `keyturn approve ${intent_id}, then ${resumeCommand(correlation_id)}`;

/** A yes names its prompt: the plan, and in a plan of several steps the step as well. */
function confirmCommand(state: Status['state'], live: Plan): string {
  const step = live.steps.find((one) => one.state === 'WAITING_CONFIRM');
  const named = step && live.steps.length > 1 ? ` --step ${step.step_id}` : '';
  return `keyturn agent confirm ${state.correlation_id} --plan ${shortName(state, live)}${named} "…"`;
}

const SHORT_DIGITS = 12;
const LEAST_DIGITS = 8;

function shortName({ plans }: Status['state'], { plan_id }: Plan): string {
  const short = plan_id.slice(0, SHORT_DIGITS);
  return plans.filter((plan) => plan.plan_id.startsWith(short)).length > 1 ? plan_id : short;
}

/** `--plan`: the id of a plan, or a beginning of it that no other plan of the conversation has. */
export function planNamed({ plans }: Status['state'], given: string): string {
  if (!/^[0-9a-f]{1,64}$/.test(given) || given.length < LEAST_DIGITS)
    refuse('USAGE', `--plan takes the id of a plan, or at least its first ${LEAST_DIGITS} hex digits.`);
  const [plan, other] = plans.filter(({ plan_id }) => plan_id.startsWith(given));
  if (!plan) return refuse('AGENT_TRANSITION_ILLEGAL', 'This conversation has no such plan.');
  if (other) refuse('CLARIFICATION_NEEDED', 'Several plans begin with that: name the one by its whole id.');
  return plan.plan_id;
}

/** The next command, or null when the conversation waits for nobody. */
export async function nextOf(keyturn: Keyturn, { state, live }: Status): Promise<string | null> {
  const { correlation_id } = state;
  if (live === null) return asksNow(state) ? answerCommand(state) : null;
  if (live.state === 'WAITING_CONFIRM') return confirmCommand(state, live);
  const waiting = live.steps.find((one) => one.state === 'READY')?.access ?? null;
  if (waiting?.outcome !== 'AP_REQUIRED' || waiting.intent_id === null) return resumeCommand(correlation_id);
  const { status } = await keyturn.intent(waiting.intent_id);
  return status === 'approved'
    ? resumeCommand(correlation_id)
    : approveCommand(correlation_id, waiting.intent_id);
}

/** The newest turn led to no plan, and no undo came after it. */
function isNewest({ turn, plans }: Status['state']): boolean {
  return turn.packet_kind !== 'SIMULATION_MATCH' && (plans.at(-1)?.created_at ?? '') < turn.at;
}

function asksNow(state: Status['state']): boolean {
  return state.turn.packet_kind === 'CLARIFY' && isNewest(state);
}

/** Where it stands, in one word: the same one that the answers of a conversation use. */
export function wordFor({ state, live }: Pick<Status, 'state' | 'live'>): string {
  const plan = live ?? state.plans.at(-1);
  if (plan && (live || !isNewest(state))) return wordOf(plan);
  switch (state.turn.packet_kind) {
    case 'CLARIFY':
      return 'WAITING_CLARIFY';
    case 'MISSING_SIMULATION':
      return 'MISSING_SIMULATION';
    default:
      return 'REFUSED';
  }
}

/** A plan that failed before anything ran was refused. */
function wordOf({ state, steps }: Plan): string {
  return state === 'FAILED' && steps.every(({ execution_id }) => execution_id === null) ? 'REFUSED' : state;
}

/** Enough for everything that waits for an approver in a place that is looked after. */
const ENTRIES = 5000;

/** The conversation that this intent belongs to, from the newest entries; null when none of them names it. */
async function correlationFor(keyturn: Keyturn, intent_id: string): Promise<string | null> {
  const entry = (await keyturn.newest(ENTRIES)).findLast(
    ({ kind, body }) => kind === 'agent.access' && (body as { intent_id?: unknown }).intent_id === intent_id,
  );
  return entry?.subject.slice('agent:'.length) ?? null;
}

const AGENT_CORE = 'agent-core';

/** What follows an approval: the agent core runs what it proposed itself, and everything else is granted by a human. */
export async function afterApproval(
  keyturn: Keyturn,
  { intent_id, proposer, proposer_verified }: IntentState,
): Promise<string> {
  if (proposer !== AGENT_CORE || !proposer_verified) return `keyturn grant ${intent_id}`;
  return resumeCommand((await correlationFor(keyturn, intent_id)) ?? 'CORRELATION');
}
