import type { Digest } from '../canonical/digest.ts';
import type { AgentState } from '../gate/agent-state.ts';
import type { Signer } from '../identity/act.ts';
import type { Context } from '../journey/context.ts';
import { refuse } from '../refusal.ts';
import type { Catalog, CatalogFile } from './catalog.ts';
import type { DefaultFinder } from './finder/finder.ts';
import type { Finder } from './finder/request.ts';
import type { Simulation } from './simulation.ts';

/** The principal that dispatches for users: an agent, with what humans delegated to it and nothing else. */
export const AGENT_CORE = 'agent-core';

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

/** What was read and parsed before. It is used only while the bytes that it was read from are the same. */
export interface AgentMemory {
  files: ReadonlyMap<string, ParsedFile>;
  catalog: { readonly statuses: string; readonly catalog: Catalog; readonly bytes: Uint8Array } | null;
  /** Snapshots that this process has stored. */
  readonly stored: Set<Digest>;
  /** By their digests, which name nothing else. */
  readonly definitions: Map<Digest, Simulation>;
}

export interface ParsedFile {
  readonly text: string;
  readonly simulation: Simulation;
  readonly digest: Digest;
}

export function newMemory(): AgentMemory {
  return { files: new Map(), catalog: null, stored: new Set(), definitions: new Map() };
}

export function requireCoreKey({ core_key }: AgentContext): Signer {
  return core_key() ?? refuse('KEY_FILE_INVALID', 'The agent core has no key. Activate a simulation first.');
}

/** A correlation, for the user that it belongs to. The attacker is another user who answers in somebody's name. */
export async function requireCorrelation(
  { journey }: AgentContext,
  correlation_id: string,
  user_id: string | undefined,
): Promise<AgentState> {
  const state = await journey.store.agent(correlation_id);
  if (state === null) refuse('AGENT_TRANSITION_ILLEGAL', 'Nothing was asked under this correlation.');
  if (user_id !== undefined && user_id !== state.user_id)
    refuse('ACCESS_SCOPE_VIOLATION', 'This correlation belongs to another user.');
  return state;
}
