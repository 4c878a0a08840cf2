import type { Digest } from '../canonical/digest.ts';
import type { Body, Event } from '../event/event.ts';
import { requireSeen } from '../identity/seen.ts';
import { refuse } from '../refusal.ts';
import { correlationOf } from './agent.ts';
import type { AgentState } from './agent-state.ts';
import type { IntentState, IntentStatus } from './state.ts';

/** What an intent or a conversation could no longer do without an object. */
export type Loss = Body<'object.erased'>['needed_by'][number];

const OPEN: ReadonlySet<IntentStatus> = new Set<IntentStatus>([
  'proposed',
  'approved',
  'failed',
  'rolled_back',
]);
const UNDONE: ReadonlySet<IntentStatus> = new Set<IntentStatus>(['undone', 'rolled_back']);
const GIVEN_UP: ReadonlySet<IntentStatus> = new Set<IntentStatus>(['rejected', 'withdrawn', 'replaced']);

/** Pure; null where the intent does not need it, and never will. */
export function intentLoss(state: IntentState, digest: Digest): Loss | null {
  const { intent_id, status, hash, choices } = state;
  const is_needed = hash === digest || choices.some(({ effect_digest }) => effect_digest === digest);
  if (!is_needed || isOver(state)) return null;
  return { subject: intent_id, stops: OPEN.has(status), undo: undoLost(state, digest) };
}

/** The run that could no longer be rolled back. */
function undoLost({ status, effect_digest, runs }: IntentState, digest: Digest): string | null {
  const last = runs.at(-1);
  const can_be = last && last.reports !== null && last.expired_at === null && !UNDONE.has(status);
  return can_be && effect_digest === digest ? last.execution_id : null;
}

function isOver({ effect, status }: IntentState): boolean {
  return GIVEN_UP.has(status) || (effect !== 'plan' && (status === 'succeeded' || status === 'happened'));
}

/** Pure; null where none of its plans is this object. */
export function conversationLoss(subject: string, state: AgentState, digest: Digest): Loss | null {
  const plans = state.plans.filter(({ plan }) => plan === digest);
  if (plans.length === 0) return null;
  const is_undoable = plans.some(({ steps }) => steps.some((step) => step.state === 'SUCCEEDED'));
  return { subject, stops: true, undo: is_undoable ? subject : null };
}

interface Holders {
  readonly intent: (intent_id: string) => IntentState | null;
  readonly conversation: (correlation_id: string) => AgentState | null;
}

/** What the human saw that is lost with it is what is lost now. That nothing else needs it, only who reads the whole ledger can tell. */
export function requireLosses({ subject: digest, body }: Event<'object.erased'>, holders: Holders): void {
  for (const seen of body.needed_by)
    requireSeen(seen, lossOf(seen.subject, digest, holders), 'Something else is lost with it by now.');
}

function lossOf(subject: string, digest: Digest, { intent, conversation }: Holders): Loss | null {
  const state = intent(subject);
  if (state) return intentLoss(state, digest);
  const told = subject.startsWith('agent:') ? conversation(correlationOf(subject)) : null;
  return told ? conversationLoss(subject, told, digest) : refuse('INTENT_NOT_FOUND');
}
