import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { auditEntries } from '../../src/audit/ledger.ts';
import type { Event } from '../../src/event/event.ts';
import { GENESIS, openEntry, type SealedEntry, sealEntry } from '../../src/ledger/entry.ts';
import type { Store } from '../../src/store/store.ts';
import { moved } from '../gate/agent-story.ts';
import {
  asked,
  asksAndConfirms,
  changed,
  dispatchOf,
  endOf,
  type Goal,
  goal,
  of,
  offers,
  runs,
  told,
  waived,
} from '../store/agent-facts.ts';
import { claimed, enrolledAgent, keyOf } from '../store/facts.ts';
import { openSqliteStore } from '../store/open.ts';
import { allEntries, governance, NOON } from '../store/place.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';

/** A ledger with one goal, from the activation of its simulation to its end. */
async function lived(): Promise<SealedEntry[]> {
  const path = join(scratch(), 'store.db');
  const store: Store = await openSqliteStore({
    path,
    tenant: 'default',
    mode: 'create',
    clock: () => new Date(NOON),
  });
  const one = goal('goal-1');
  await store.commit({ events: [...governance('ada'), changed('Draft'), asked('mia')] });
  await store.commit({ events: [changed('Active'), told('mia'), waived('2026-01-20T12:00:00.000Z')] });
  await asksAndConfirms(store, one);
  await store.commit({ events: [dispatchOf(one)] });
  await runs(store, one, 1);
  await store.commit({ events: [endOf(one, 'SUCCEEDED'), of(one, moved(null, 'IN_PROGRESS', 'COMPLETED'))] });
  const entries = await allEntries(store);
  await store.close();
  return entries;
}

/** A ledger with a goal that the agent core proposed an intent for, and dispatched if told. Nothing ran. */
async function offered(is_dispatched: boolean): Promise<{ one: Goal; entries: SealedEntry[] }> {
  const path = join(scratch(), 'store.db');
  const clock = () => new Date(NOON);
  const store: Store = await openSqliteStore({ path, tenant: 'default', mode: 'create', clock });
  const one = goal('goal-1');
  const core = enrolledAgent('agent-core', 'ada', keyOf('agent-core'));
  await store.commit({ events: [...governance('ada'), core, changed('Draft'), changed('Active')] });
  await asksAndConfirms(store, one);
  await offers(store, one, 1);
  if (is_dispatched) await store.commit({ events: [dispatchOf(one)] });
  const entries = await allEntries(store);
  await store.close();
  return { one, entries };
}

/** The same ledger with a claim of the intent behind it, as an attacker with write access would write it. */
function withClaim(entries: readonly SealedEntry[], { intent_id, execution_id }: Goal): SealedEntry[] {
  const { seq, hash } = entries.at(-1)!;
  const event = claimed(intent_id, execution_id);
  const claims = [`execution:${intent_id}:1`, `capability:${event.body.capability_id}`];
  const facts = { tenant: 'default', at: NOON, claims, ...event, body: event.body as never };
  return [...entries, sealEntry({ ...facts, seq: seq + 1, prev: hash })];
}

/** The ledger without the entries that `keeps` turns down, chained anew, as an attacker with write access would. */
function forged(
  entries: readonly SealedEntry[],
  change: (entry: { kind: string; body: Record<string, unknown>; claims: string[] }) => boolean,
): SealedEntry[] {
  let prev = GENESIS;
  const kept = entries
    .map(({ bytes }) => structuredClone(openEntry(bytes)))
    .filter((entry) => change(entry as never));
  return kept.map((entry, seq) => {
    const sealed = sealEntry({ ...entry, seq, prev });
    prev = sealed.hash;
    return sealed;
  });
}

async function* batches(entries: readonly SealedEntry[]) {
  yield entries;
}

const verify = (entries: readonly SealedEntry[]) => auditEntries(batches(entries));

async function foundIn(entries: readonly SealedEntry[]): Promise<unknown> {
  const { facts } = await expectRefusal('LEDGER_BROKEN', () => verify(entries));
  return facts.reason_code ?? null;
}

type Moved = Event<'agent.moved'>['body'];

describe('a deep verification of the agent core', () => {
  it('accepts what the store accepted', async () => {
    const entries = await lived();
    expect(await verify(entries)).toMatchObject({ size: entries.length });
  });

  it('finds a dispatch that did not take its claim', async () => {
    const unclaimed = forged(await lived(), (entry) => {
      if (entry.kind === 'agent.moved') entry.claims.length = 0;
      return true;
    });
    expect(await foundIn(unclaimed)).toBeNull();
  });

  it('finds what was left out or changed, even when every hash was made anew', async () => {
    const entries = await lived();
    const without = (kind: string, status?: string) =>
      foundIn(
        forged(
          entries,
          (event) => event.kind !== kind || (status ?? event.body.status) !== event.body.status,
        ),
      );
    expect(await without('agent.confirmed')).toBe('CONFIRMATION_MISSING');
    expect(await without('agent.access')).toBe('AGENT_REFS_MISSING');
    expect(await without('agent.planned')).toBe('AGENT_TRANSITION_ILLEGAL');
    expect(await without('simulation.changed', 'Active')).toBe('SIMULATION_NOT_ACTIVE');
    expect(await without('intake.recorded')).toBe('AGENT_TRANSITION_ILLEGAL');
    expect(await without('execution.finished')).toBe('RUN_IN_DOUBT');
    const rewritten = (change: (body: Moved) => void) =>
      foundIn(
        forged(entries, ({ kind, body }) => {
          if (kind === 'agent.moved') change(body as unknown as Moved);
          return true;
        }),
      );
    expect(
      await rewritten((body) => {
        if (body.to === 'SUCCEEDED') Object.assign(body, { to: 'FAILED_TERMINAL' });
      }),
    ).toBe('AGENT_TRANSITION_ILLEGAL');
    expect(
      await rewritten((body) => {
        if (body.to === 'IN_PROGRESS') Object.assign(body, { from: 'CREATED' });
      }),
    ).toBe('AGENT_TRANSITION_ILLEGAL');
    const signed = forged(entries, ({ kind, body }) => {
      if (kind === 'simulation.changed') body.reason = 'another reason';
      return true;
    });
    expect(await foundIn(signed)).toBe('SIGNATURE_INVALID');
    const longer = forged(entries, ({ kind, body }) => {
      if (kind === 'slo.waived') body.until = '2030-01-20T12:00:00.000Z';
      return true;
    });
    expect(await foundIn(longer)).toBe('SIGNATURE_INVALID');
  });

  it('finds a run of what the agent core proposed and did not dispatch', async () => {
    const idle = await offered(false);
    expect(await foundIn(withClaim(idle.entries, idle.one))).toBe('AGENT_TRANSITION_ILLEGAL');
    const busy = await offered(true);
    const entries = withClaim(busy.entries, busy.one);
    expect(await verify(entries)).toMatchObject({ size: entries.length });
  });
});
