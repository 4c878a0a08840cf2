import type { Digest } from '../canonical/digest.ts';
import { Recent } from '../canonical/recent.ts';
import type { Catalog, CatalogFile } from '../finder/catalog.ts';
import type { DefaultFinder } from '../finder/finder.ts';
import type { Finder } from '../finder/request.ts';
import type { Simulation } from '../finder/simulation.ts';
import { AGENT_CORE } from '../gate/agent-core.ts';
import type { AgentState } from '../gate/agent-state.ts';
import type { Signer } from '../identity/act.ts';
import type { Context } from '../journey/context.ts';
import { agentLimits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import type { AgentExecutionPlan } from './contracts.ts';

/** The principal that dispatches for users: an agent, with what humans delegated to it and nothing else. */
export { AGENT_CORE };

/** What the agent core needs. Built once, by keyturn.ts. */
export interface AgentContext {
  readonly journey: Context;
  /** The files in simulations/ as they are now. */
  readonly files: () => readonly CatalogFile[];
  readonly finder: Finder | DefaultFinder;
  /** The key of the agent core; null before the first activation. */
  readonly core_key: () => Signer | null;
  readonly create_core_key: () => Signer;
  readonly memory: AgentMemory;
}

/**
 * What was read and parsed before. It is used only while the bytes that it was read from are the same, and not for longer
 * than `memory_ms`: then everything is read again, and with the catalog goes the index that the finder keeps of it.
 */
export interface AgentMemory {
  until_ms: number;
  files: ReadonlyMap<string, ParsedFile>;
  catalog: { readonly statuses: string; readonly catalog: Catalog; readonly bytes: Uint8Array } | null;
  /** Wishes that this catalog does not serve. Another one may. */
  unserved: { readonly catalog: Catalog; readonly wishes: Set<string> } | null;
  /** Snapshots that this process has stored. */
  readonly stored: Set<Digest>;
  /** By their digests, which name nothing else. */
  readonly definitions: Map<Digest, Simulation>;
  readonly plans: Recent<Digest, AgentExecutionPlan>;
}

export interface ParsedFile {
  readonly text: string;
  readonly simulation: Simulation;
  readonly digest: Digest;
}

export function newMemory(): AgentMemory {
  return {
    until_ms: 0,
    files: new Map(),
    catalog: null,
    unserved: null,
    stored: new Set(),
    definitions: new Map(),
    plans: new Recent(agentLimits.remembered),
  };
}

/** What is remembered at this moment. A clock that went back proves nothing about how old it is. */
export function rememberedAt(memory: AgentMemory, now: Date): AgentMemory {
  const at_ms = now.getTime();
  const is_fresh = at_ms < memory.until_ms && at_ms >= memory.until_ms - agentLimits.memory_ms;
  for (const kept of [memory.stored, memory.definitions])
    if (!is_fresh || kept.size >= agentLimits.remembered) kept.clear();
  if (is_fresh) return memory;
  const until_ms = at_ms + agentLimits.memory_ms;
  return Object.assign(memory, { until_ms, files: new Map(), catalog: null, unserved: null });
}

export function requireCoreKey({ core_key }: AgentContext): Signer {
  return core_key() ?? refuse('KEY_FILE_INVALID', 'The agent core has no key. Activate a simulation first.');
}

/**
 * The user who asks, answers and says yes must not be an agent. The attacker is an agent that proposes to the core under its own name and
 * confirms its own prompt. The executor and the store look again: a name may be enrolled later.
 */
export async function requireUser({ journey }: AgentContext, user_id: string): Promise<void> {
  if (user_id === AGENT_CORE || (await journey.store.find('principal', user_id))?.kind === 'agent')
    refuse('USER_IS_AGENT', `"${user_id}" is an agent.`, { user_id });
}

/** A correlation, for the user that it belongs to. The attacker is another user who answers in the name of this one. */
export async function requireCorrelation(
  context: AgentContext,
  correlation_id: string,
  user_id: string | undefined,
): Promise<AgentState> {
  const state = await context.journey.store.find('agent', correlation_id);
  if (state === null) refuse('AGENT_TRANSITION_ILLEGAL', 'Nothing was asked under this correlation.');
  if (user_id !== undefined && user_id !== state.user_id)
    refuse('ACCESS_SCOPE_VIOLATION', 'This correlation belongs to another user.');
  if (user_id !== undefined) await requireUser(context, user_id);
  return state;
}
