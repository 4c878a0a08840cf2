import type { Event } from '../event/event.ts';
import { requireExecutor, servesAs } from '../gate/system.ts';
import { type Signer, signAct } from '../identity/act.ts';
import { type FactKind, type MachineKey, signFact, type Unsigned } from '../identity/fact.ts';
import { Refusal } from '../refusal.ts';
import type { Context } from './context.ts';
import { requireName } from './enrol.ts';

/** What this host states about a run, signed with its key. */
export function stated<K extends FactKind<'executor'>>(
  { origin, executor_key }: Context,
  fact: Unsigned<'executor', K>,
): Event<K> {
  return signFact(origin, 'executor', fact, executor_key());
}

/** The same host for one run or rollback: whatever becomes of the key file, one key states all of it. */
export function withOneKey(context: Context): Context {
  let key: MachineKey | null = null;
  return {
    ...context,
    executor_key: () => {
      key ??= context.executor_key();
      return key;
    },
  };
}

/** Refuses where this host may not run. The store looks again. */
export async function requireThisExecutor({ store, executor_key }: Context): Promise<void> {
  requireExecutor(await store.system(), executor_key().public_key);
}

/** The end of an executor that was revoked meanwhile is recorded, as one that a human has to look at. */
export async function recordedUnlessRevoked<E>(
  record: (end: E) => Promise<unknown>,
  end: E,
  doubted: E,
): Promise<E> {
  try {
    await record(end);
    return end;
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'EXECUTOR_REVOKED') throw error;
    await record(doubted);
    return doubted;
  }
}

export interface AddExecutorRequest {
  readonly public_key: string;
  /** What orders address it by. Several hosts may have one name. */
  readonly name: string;
  /** What tools.yaml can ask for with `executor`. Several hosts may have one label. */
  readonly labels: readonly string[];
  readonly reason: string;
  readonly signer: Signer;
}

/** From now on the host with this key may run what is ordered for its name and its labels. */
export async function addExecutor(
  context: Context,
  { public_key, name, labels: given, reason, signer }: AddExecutorRequest,
): Promise<Event<'executor.added'>> {
  const labels = [...new Set(given)].sort();
  for (const one of [name, ...labels]) requireName(one);
  const replaces = servesAs(await context.store.system(), public_key);
  const facts = {
    ...{ public_key, name, labels, reason },
    replaces: replaces && { ...replaces, labels: [...replaces.labels] },
  };
  const added = await signAct(context.origin, 'executor.added', 'system', facts, signer, context.clock());
  await context.store.commit({ events: [added] });
  return added;
}

export interface RevokeExecutorRequest {
  readonly public_key: string;
  readonly reason: string;
  readonly signer: Signer;
}

/** What it is running is stopped, and what it says of that decides nothing. */
export async function revokeExecutor(
  context: Context,
  { public_key, reason, signer }: RevokeExecutorRequest,
): Promise<Event<'executor.revoked'>> {
  const facts = { public_key, reason };
  const revoked = await signAct(context.origin, 'executor.revoked', 'system', facts, signer, context.clock());
  await context.store.commit({ events: [revoked] });
  return revoked;
}
