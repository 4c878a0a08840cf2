import { isDigest } from '../canonical/digest.ts';
import { isUuid } from '../canonical/uuid.ts';
import { needsDispatch } from '../gate/agent-core.ts';
import { type Denial, eligible, type Moment, type Verdict } from '../gate/standing.ts';
import type { IntentState } from '../gate/state.ts';
import type { System } from '../gate/system.ts';
import type { Authorities } from '../identity/delegation.ts';
import { refuse } from '../refusal.ts';
import { authoritiesFor, type Context, type LedgerEnd, namedIn } from './context.ts';
import { lackingOf } from './lacking.ts';
import { isRunning } from './life.ts';

/** The controller of 000: reads, decides, writes nothing. */
export async function check(context: Context, intent_id: string, hash: string): Promise<Verdict> {
  requireFormats(intent_id, hash);
  const state = await context.store.find('intent', intent_id);
  return eligible(state, hash, await momentFor(context, state));
}

/** What the standing of this intent depends on now, as the store has it. */
export async function momentFor(context: Context, state: IntentState | null): Promise<Moment> {
  const { store } = context;
  const authorities = await authoritiesFor(context, state ? namedIn(state) : NOBODY);
  const moment = await momentOf(context, await store.system(), authorities);
  if (state === null) return moment;
  const dispatched = needsDispatch(state) ? await store.find('dispatched', state.intent_id) : null;
  return {
    ...moment,
    is_running: await isRunning(context, state),
    lacking: await lackingOf(context, state, authorities),
    dispatched,
  };
}

export const NOBODY = { people: [], delegations: [] };

/** What the standing of an intent depends on now, wherever keys and freezes were read from. `end`: where the ledger ends, if it was just read. */
export async function momentOf(
  context: Context,
  { freezes, set_back_at, control_keys }: System,
  authorities: Authorities,
  end?: LedgerEnd,
): Promise<Moment> {
  const now = context.clock();
  const known = end ?? (await context.store.tip());
  await context.requireKeptHead(known);
  const { tenant } = context.store;
  return { now, ledger_at: known.at, tenant, freezes, set_back_at, control_keys, authorities };
}

/** A verdict that is a no, as a refusal. */
export function refuseDenied({ code, words, executed_at }: Denial): never {
  return refuse(code, words, executed_at === null ? {} : { executed_at });
}

export function requireFormats(intent_id: string, hash: string): void {
  if (!isUuid(intent_id)) refuse('ID_MALFORMED');
  if (!isDigest(hash)) refuse('HASH_MALFORMED');
}
