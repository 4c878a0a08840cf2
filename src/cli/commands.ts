import { AGENT } from './commands/agent.ts';
import { ASKING } from './commands/asking.ts';
import { AUTHORITY } from './commands/authority.ts';
import { LANE } from './commands/lane.ts';
import { MCP } from './commands/mcp.ts';
import { PEOPLE } from './commands/people.ts';
import { PROOF } from './commands/proof.ts';
import { RUNNING } from './commands/running.ts';
import { SERVICE } from './commands/service.ts';
import { STORE } from './commands/store.ts';
import type { LaneSpec, Spec } from './spec.ts';

export const GROUPS: Readonly<Record<string, string>> = {
  identity: 'who may speak: humans, who hold keys, and agents, who only propose',
  credential: 'what a human signs with: key files and passkeys',
  token: 'what an agent shows a service',
  notify: 'who is told outside when something waits',
  mcp: 'the gate for agents that speak MCP',
  hook: 'the hook that the client of an agent asks before each of its own tools',
  delegation: 'what a human lets the key of an agent do',
  policy: 'the rules: what they say, and which of them hold',
  control: 'the key that signs capabilities',
  executor: 'the hosts that may run what is ordered',
  plan: 'many reversible changes, or none',
  clock: 'which time it is',
  object: 'stored arguments and outputs',
  tool: 'the registry of tools',
  agent: 'goals in words, which become governed simulations',
  simulation: 'what the agent core may run for users, and for how long',
  intake: 'what users asked for and does not exist',
  ledger: 'what happened, provably',
  store: 'where the ledger is kept',
  lane: 'the plain-file lane: pending.jsonl, approved.jsonl and executed.jsonl, and no other state',
};

/** Every command of Keyturn but the lane, in the order of the journey. */
export const COMMANDS: readonly Spec[] = [
  ...PEOPLE,
  ...ASKING,
  ...AUTHORITY,
  ...RUNNING,
  ...SERVICE,
  ...MCP,
  ...AGENT,
  ...PROOF,
  ...STORE,
];

export const WITH_LANE: readonly (Spec | LaneSpec)[] = [...COMMANDS, ...LANE];
