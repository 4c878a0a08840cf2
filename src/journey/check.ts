import { isDigest } from '../canonical/digest.ts';
import { isUuid } from '../canonical/uuid.ts';
import { needsDispatch } from '../gate/agent-core.ts';
import { NOT_DISPATCHED } from '../gate/dispatched.ts';
import { type Denial, eligible, type Moment, type Verdict } from '../gate/standing.ts';
import type { IntentState } from '../gate/state.ts';
import type { System } from '../gate/system.ts';
import type { Authorities } from '../identity/delegation.ts';
import { refuse } from '../refusal.ts';
import { authoritiesFor, type Context, namedIn } from './context.ts';

/** The controller of 000: reads, decides, writes nothing. */
export async function check(context: Context, intent_id: string, hash: string): Promise<Verdict> {
  requireFormats(intent_id, hash);
  const { store } = context;
  const state = await store.find('intent', intent_id);
  const authorities = await authoritiesFor(context, state ? namedIn(state) : NOBODY);
  const verdict = eligible(state, hash, await momentOf(context, await store.system(), authorities));
  return verdict.eligible ? ((await notDispatched(context, verdict.state)) ?? verdict) : verdict;
}

/** Why what the agent core proposed may not run, although it may by its standing; null where it may. */
export async function notDispatched({ store }: Context, state: IntentState): Promise<Denial | null> {
  if (!needsDispatch(state)) return null;
  const dispatched = await store.find('dispatched', state.intent_id);
  return dispatched && !dispatched.is_over ? null : UNDISPATCHED;
}

const NOBODY = { people: [], delegations: [] };

const UNDISPATCHED: Denial = {
  eligible: false,
  code: 'AGENT_TRANSITION_ILLEGAL',
  executed_at: null,
  words: NOT_DISPATCHED,
};

/** What the standing of an intent depends on now, wherever keys and freezes were read from. */
export async function momentOf(
  context: Context,
  { freezes, set_back_at }: System,
  authorities: Authorities,
): Promise<Moment> {
  const now = context.clock();
  const tip = await context.store.tip();
  await context.requireKeptHead(tip);
  return { now, ledger_at: tip.at, tenant: context.store.tenant, freezes, set_back_at, authorities };
}

/** A verdict that is a no, as a refusal. */
export function refuseDenied({ code, words, executed_at }: Denial): never {
  return refuse(code, words, executed_at === null ? {} : { executed_at });
}

export function requireFormats(intent_id: string, hash: string): void {
  if (!isUuid(intent_id)) refuse('ID_MALFORMED');
  if (!isDigest(hash)) refuse('HASH_MALFORMED');
}
