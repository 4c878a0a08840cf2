import { agents } from './agents.ts';
import { conversations } from './conversations.ts';
import { ids } from './ids.ts';
import { intents } from './intents.ts';
import { ledger } from './ledger.ts';
import { mcp } from './mcp.ts';
import { people } from './people.ts';
import { plans } from './plans.ts';
import { policies } from './policies.ts';
import { runs } from './runs.ts';
import { simulations } from './simulations.ts';
import { system } from './system.ts';
import { tools } from './tools.ts';
import type { RequestOf, ResultOf } from './verb.ts';

/**
 * Everything that Keyturn does, by namespace. The library, `--json`, its schemas and docs/api.md follow from this table. Each namespace
 * is read when it is asked for: in a build, a command does not load the others.
 */
export const VERBS = {
  get intents() {
    return intents;
  },
  get plans() {
    return plans;
  },
  get runs() {
    return runs;
  },
  get people() {
    return people;
  },
  get agents() {
    return agents;
  },
  get policies() {
    return policies;
  },
  get tools() {
    return tools;
  },
  get mcp() {
    return mcp;
  },
  get simulations() {
    return simulations;
  },
  get conversations() {
    return conversations;
  },
  get ledger() {
    return ledger;
  },
  get system() {
    return system;
  },
  get ids() {
    return ids;
  },
} as const;

type Table = typeof VERBS;

/** Such as `intents.propose`. */
export type VerbName = { [N in keyof Table & string]: `${N}.${keyof Table[N] & string}` }[keyof Table &
  string];
type Named<V extends VerbName> = V extends `${infer N extends keyof Table & string}.${infer W}`
  ? Table[N][W & keyof Table[N]]
  : never;

export type Request<V extends VerbName> = RequestOf<Named<V>>;
export type Result<V extends VerbName> = ResultOf<Named<V>>;
