import type { IntentState } from './state.ts';

// Apart from the rest of the agent core: `lane check` asks this, and must not load the schemas of conversations.

/** The principal that dispatches for users. What it proposes belongs to a conversation, and ends with it. */
export const AGENT_CORE = 'agent-core';

export type Claiming = Pick<IntentState, 'proposer' | 'proposer_verified' | 'delegates' | 'attempt'>;

/**
 * Whether only a dispatch of the agent core may run it. The first attempt is the conversation's: the user who said no, or
 * was told that nothing is done, must be able to rely on that. A later one is a human's retry of what ran before. What the
 * core submitted counts for every proposer: the delegation of an activation is for that simulation, and not for any call
 * of its tool by the holder of the core's key.
 */
export function needsDispatch({ proposer, proposer_verified, delegates, attempt }: Claiming): boolean {
  const is_core = (proposer === AGENT_CORE && proposer_verified) || delegates.includes(AGENT_CORE);
  return is_core && attempt === 1;
}
