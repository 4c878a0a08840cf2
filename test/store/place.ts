import { expect, onTestFinished } from 'vitest';
import type { Event } from '../../src/event/event.ts';
import { GENESIS, leafHash, openEntry, type SealedEntry } from '../../src/ledger/entry.ts';
import { append, EMPTY_TREE } from '../../src/ledger/merkle.ts';
import { Refusal } from '../../src/refusal.ts';
import type { Store } from '../../src/store/store.ts';
import { activated, begun, controlled, enrolled, enrolledAgent, hosted, keyOf } from './facts.ts';

/** Where a store lives: it can be opened many times, and changed behind the store's back. */
export interface Place {
  open(options: { tenant?: string; mode: 'read' | 'write' | 'create'; clock?: () => Date }): Promise<Store>;
  /** Sets the status of every intent to approved, forgets the claims, or changes bytes. */
  damage(what: 'intents' | 'claims' | 'entry' | 'object'): Promise<void>;
}

export async function reopen(at: Place, mode: 'read' | 'write' | 'create', tenant?: string): Promise<Store> {
  const store = await at.open(tenant === undefined ? { mode } : { mode, tenant });
  onTestFinished(() => store.close());
  return store;
}

export interface Made {
  readonly at: Place;
  readonly store: Store;
}

/** A new store; its ledger has begun with these humans, the later ones enrolled by the first. */
export async function withHumans(at: Place, ...names: string[]): Promise<Made> {
  const store = await reopen(at, 'create');
  const [first = 'ada', ...others] = names;
  await store.commit({ events: [begun(), enrolled(first), ...others.map((name) => enrolled(name, first))] });
  return { at, store };
}

/** The time in a governed store, unless a test sets it. */
export const NOON = '2026-01-15T12:00:00.000Z';

/** Everything that a run needs besides its intent: humans, the proposer with a key, a control key, active policies. */
export async function governed(
  at: Place,
  [first, ...others]: readonly [string, ...string[]] = ['ada'],
): Promise<Made & { setTime(iso: string): void }> {
  let now = NOON;
  const store = await at.open({ mode: 'create', clock: () => new Date(now) });
  onTestFinished(() => store.close());
  await store.commit({ events: governance(first, ...others) });
  return {
    at,
    store,
    setTime: (iso) => {
      now = iso;
    },
  };
}

export function governance(first: string, ...others: string[]): Event[] {
  return [
    begun(),
    enrolled(first),
    ...others.map((name) => enrolled(name, first)),
    enrolledAgent('planner', first, keyOf('planner')),
    controlled('control', first),
    hosted('host', first),
    activated(first),
  ];
}

/** Refusals are answers here; anything else is a defect. */
export function codeOf(outcome: PromiseSettledResult<unknown>): string {
  if (outcome.status === 'fulfilled') return 'ok';
  if (outcome.reason instanceof Refusal) return outcome.reason.code;
  throw outcome.reason;
}

export const plain = ({ seq, hash, bytes }: SealedEntry) => ({
  seq,
  hash,
  text: Buffer.from(bytes).toString(),
});

export async function allEntries(store: Store, from?: number): Promise<SealedEntry[]> {
  const entries: SealedEntry[] = [];
  for await (const batch of store.entries(from)) entries.push(...batch);
  return entries;
}

/** Recomputes the chain from the bytes alone, and returns the tip that it must have. */
export function requireChain(entries: readonly SealedEntry[]) {
  let tree = EMPTY_TREE;
  let last = GENESIS;
  let at: string | null = null;
  for (const { seq, hash, bytes } of entries) {
    const entry = openEntry(bytes);
    expect([seq, entry.seq, entry.prev, hash]).toEqual([tree.size, tree.size, last, leafHash(bytes)]);
    tree = append(tree, hash);
    last = hash;
    at = entry.at;
  }
  return { size: tree.size, last, at, frontier: tree.frontier };
}
