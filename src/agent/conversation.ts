import {
  type AgentPlan,
  type AgentState,
  type ConversationStatus,
  liveAgentPlan,
} from '../gate/agent-state.ts';
import { asksNow, changedAt, simulationOf } from '../gate/conversation.ts';
import { requireIntent } from '../journey/context.ts';
import { holdsText, type ListedPage, newestBefore, type PageRequest, pageOf } from '../journey/page.ts';
import { limits } from '../limits.ts';
import type { AgentLedgerRow } from '../store/agent-tables.ts';
import { answerNow } from './advance.ts';
import type { AgentAnswer } from './answer-shape.ts';
import { type AgentContext, requireCorrelation } from './context.ts';
import { awaitsApproval } from './intent.ts';
import { goalText, type SaidLine, talkOf } from './talk.ts';

/** A conversation as the ledger tells it. */
export interface Conversation extends AgentState {
  /** What the newest turn is about, in the words of the user; null when it was erased. */
  readonly goal: string | null;
  readonly changed_at: string;
  readonly plans: readonly NamedAgentPlan[];
}

export interface NamedAgentPlan extends AgentPlan {
  /** What the finder named; of an undo, what is undone. */
  readonly simulation: string;
}

async function conversationOf(context: AgentContext, state: AgentState): Promise<Conversation> {
  const plans = state.plans.map((plan) => ({ ...plan, simulation: simulationOf(state, plan) }));
  const goal = await goalText(context, state.turn.goal);
  return { ...state, plans, goal, changed_at: changedAt(state) };
}

export interface ConversationsRequest extends PageRequest {
  readonly status?: ConversationStatus | undefined;
  readonly user?: string | undefined;
  /** A part of the goal, the user or a simulation of its plans, in any case. */
  readonly text?: string | undefined;
}

/** Newest first, by when they began. */
export function listConversations(
  context: AgentContext,
  request: ConversationsRequest,
): Promise<ListedPage<Conversation>> {
  const { journey } = context;
  const { status, user, text } = request;
  // Of a user there are fewer than of a status.
  const by = user !== undefined ? (['actor', [user]] as const) : status && (['status', [status]] as const);
  return pageOf<AgentState, Conversation>(journey, request, {
    list: 'conversations',
    batch: (size, beyond) => journey.store.page('agent', newestBefore(size, beyond, by)),
    at: ({ begun_at }) => begun_at,
    shown: async (state) => {
      if ((status ?? state.status) !== state.status) return null;
      const one = await conversationOf(context, state);
      const named = one.plans.map(({ simulation }) => simulation);
      return holdsText([one.goal, one.user_id, ...named], text) ? one : null;
    },
  });
}

/** What goes on with a conversation. */
export type Next =
  /** An answer names its question: one that comes twice must not answer the next. */
  | { readonly act: 'answer'; readonly turn_id: string }
  /** A yes names its prompt: the plan and the step. */
  | { readonly act: 'confirm'; readonly plan_id: string; readonly step_id: string }
  /** A human approves this intent; then the conversation is resumed. */
  | { readonly act: 'approve'; readonly intent_id: string }
  | { readonly act: 'resume' };

/** Null when the conversation waits for nothing. */
async function nextOf({ journey }: AgentContext, state: AgentState): Promise<Next | null> {
  const live = liveAgentPlan(state);
  if (live === null) return asksNow(state) ? { act: 'answer', turn_id: state.turn.turn_id } : null;
  const prompt = live.steps.find((step) => step.state === 'WAITING_CONFIRM');
  if (prompt) return { act: 'confirm', plan_id: live.plan_id, step_id: prompt.step_id };
  const access = live.steps.find((step) => step.state === 'READY')?.access ?? null;
  if (!access || access.intent_id === null) return { act: 'resume' };
  const { intent_id, outcome } = access;
  const asked = { user_id: state.user_id, needs_human: outcome === 'AP_REQUIRED' };
  const awaits = await awaitsApproval(journey, await requireIntent(journey, intent_id), asked);
  return awaits ? { act: 'approve', intent_id } : { act: 'resume' };
}

export interface ConversationStory extends Conversation {
  readonly next: Next | null;
  readonly talk: readonly SaidLine[];
  /** Every move, oldest first, as `agent_execution_ledger` has it; no more than `limits.conversation_moves`. */
  readonly moves: readonly AgentLedgerRow[];
}

/** One conversation with everything that was said and done. */
export async function conversationStoryOf(
  context: AgentContext,
  correlation_id: string,
): Promise<ConversationStory> {
  const state = await requireCorrelation(context, correlation_id, undefined);
  return {
    ...(await conversationOf(context, state)),
    next: await nextOf(context, state),
    talk: await talkOf(context, correlation_id),
    // SQLite gives rows without a prototype.
    moves: (
      await context.journey.store.agentLedger({ correlation_id, limit: limits.conversation_moves })
    ).map((row) => ({
      ...row,
    })),
  };
}

export interface OneRequest {
  readonly correlation_id: string;
  /** Where it is given, another user than the one who asked is refused. */
  readonly user_id?: string | undefined;
}

/** What the user was last told. Nothing is done, and nothing is written. */
export async function answerOf(
  context: AgentContext,
  { correlation_id, user_id }: OneRequest,
): Promise<AgentAnswer> {
  return answerNow(context, await requireCorrelation(context, correlation_id, user_id));
}
