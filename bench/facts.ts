import { randomUUID } from 'node:crypto';
import type { Event } from '../src/event/event.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import type { Commit, Store } from '../src/store/store.ts';
import { begun, enrolled } from '../test/store/facts.ts';

const digest = 'ab'.repeat(32);
const NOT_SOON = '2100-01-15T12:00:00.000Z';
/** For one that nothing waits for any more. */
export const LONG_AGO = '2020-01-15T12:00:00.000Z';

/** One event and one claim: what a proposal commits, without its objects. With more entries, refusals follow it. */
export function proposal(entries = 1, proposer = 'planner', expires_at = NOT_SOON): Commit {
  const subject = randomUUID();
  const event: Event<'intent.proposed'> = {
    kind: 'intent.proposed',
    subject,
    body: {
      hash: digest,
      effect_digest: digest,
      registry_digest: digest,
      effect: 'tool',
      tool: 'deploy',
      tools: ['deploy'],
      approvals_needed: 1,
      proposer,
      proposer_kind: 'agent',
      proposer_signature: null,
      proposer_key: null,
      account: null,
      on_behalf_of: null,
      actions: ['tool:deploy'],
      alternates: [],
      replaces: null,
      undoes: null,
      contents: [],
      receipt: digest,
      expires_at,
    },
  };
  const body = { reason_code: 'HASH_MISMATCH', decision: null } as const;
  const refused: Event = { kind: 'intent.refused', subject, body };
  return { claims: [`intent:${subject}`], events: [event, ...Array(entries - 1).fill(refused)] };
}

/** One that is made begins a ledger. */
export async function openStore(path: string, mode: 'write' | 'create'): Promise<Store> {
  const store = await openSqliteStore({ path, tenant: 'default', clock: () => new Date(), mode });
  if (mode === 'create') await store.commit({ events: [begun(), enrolled('ada')] });
  return store;
}

export async function commitTogether(
  store: Store,
  count: number,
  proposer?: string,
  expires_at?: string,
): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => store.commit(proposal(1, proposer, expires_at))));
}

export async function commitInTurn(store: Store, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await store.commit(proposal());
}
