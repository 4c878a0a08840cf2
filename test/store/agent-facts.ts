import { randomUUID } from 'node:crypto';
import { sha256 } from '../../src/canonical/digest.ts';
import { keyPairFromSeed } from '../../src/canonical/ed25519.ts';
import type { Body, Event, SignedKind } from '../../src/event/event.ts';
import { originOf, signerOf } from '../../src/identity/act.ts';
import type { Store } from '../../src/store/store.ts';
import {
  accessed,
  confirmed,
  dispatched,
  ended,
  moved,
  PLAN,
  planned,
  received,
  STEP,
  step,
} from '../gate/agent-story.ts';
import { signedAt } from '../support/signed.ts';
import { begun, claimed, finished, granted, issued, proposed, signedBy } from './facts.ts';
import { NOON } from './place.ts';

/** Facts of the agent core for tests of a store: signed where a human signs, and with runs that really are recorded. */

/** Really signed by `by`, with the key that follows from the name. */
function act<K extends SignedKind>(kind: K, subject: string, facts: object, by: string): Event<K> {
  const seed = Buffer.alloc(32, by);
  const signer = signerOf(by, keyPairFromSeed(seed).public_key, seed);
  const origin = originOf(begun().body.project_id, 'default');
  return signedAt(origin, kind, subject, facts as never, signer, new Date(NOON));
}

/** How it stood, where it goes from a draft to active and from there to what ends it. */
export const stood = (status: Body<'simulation.changed'>['status']) => ({
  status,
  bound: status === 'Active' ? sha256('bound') : null,
  expires_at: null,
});
const FROM = {
  Draft: () => null,
  Active: () => stood('Draft'),
  Deprecated: () => stood('Active'),
  Disabled: () => stood('Active'),
};

export function changed(
  status: Body<'simulation.changed'>['status'],
  by = 'ada',
  over: Partial<Body<'simulation.changed'>> = {},
): Event<'simulation.changed'> {
  const { simulation = 'user.create', version = 1 } = over;
  const facts = {
    simulation,
    version,
    status,
    definition: sha256(`${simulation} ${version}`),
    proof: sha256('proof'),
    bound: status === 'Active' ? sha256('bound') : null,
    own_delegation: null,
    replaces: null,
    from: FROM[status](),
    expires_at: null,
    reason: 'wanted',
  };
  return act('simulation.changed', `simulation:${simulation}`, { ...facts, ...over }, by);
}

export function waived(until: string, by = 'ada'): Event<'slo.waived'> {
  return act('slo.waived', 'system', { figures: ['execution_error_rate'], until, reason: 'known' }, by);
}

export function asked(user_id: string, what = 'book a flight'): Event<'intake.recorded'> {
  const fingerprint = sha256(what);
  const about = { fingerprint, packet: sha256('packet'), category: 'NEW_CAPABILITY' };
  const body = { ...about, user_id, worthiness_bp: 5000, linked_draft: null };
  return { kind: 'intake.recorded', subject: `intake:${fingerprint}`, body };
}

export function told(user_id: string, what = 'book a flight'): Event<'intake.told'> {
  const body = { user_id, simulation: 'user.create' };
  return { kind: 'intake.told', subject: `intake:${sha256(what)}`, body };
}

/** The names that one correlation uses. Nothing of them is shared with another. */
export interface Goal {
  readonly correlation: string;
  readonly plan_id: string;
  readonly step_id: string;
  readonly idempotency_key: string;
  readonly intent_id: string;
  readonly execution_id: string;
}

export function goal(correlation: string): Goal {
  return {
    correlation,
    plan_id: sha256(`plan ${correlation}`),
    step_id: sha256(`step ${correlation}`),
    idempotency_key: sha256(`key ${correlation}`),
    intent_id: randomUUID(),
    execution_id: randomUUID(),
  };
}

/** An event of agent-story.ts, about this goal: correlation, plan and step are the goal's own. */
export function of<E extends Event>({ correlation, plan_id, step_id }: Goal, event: E): E {
  const body: Record<string, unknown> = { ...event.body };
  if (body.plan_id === PLAN) body.plan_id = plan_id;
  if (body.step_id === STEP) body.step_id = step_id;
  return { ...event, subject: `agent:${correlation}`, body } as E;
}

/** Everything before the dispatch, in two commits: what was asked, then the yes. */
export async function asksAndConfirms(store: Store, one: Goal): Promise<void> {
  const about = (event: Event) => of(one, event);
  await store.commit({
    events: [
      received(),
      planned({ steps: [step(one.step_id)] }),
      moved(STEP, 'PENDING', 'WAITING_CONFIRM'),
      moved(null, 'CREATED', 'WAITING_CONFIRM'),
    ].map(about),
  });
  await store.commit({
    events: [
      confirmed('YES'),
      moved(STEP, 'WAITING_CONFIRM', 'READY'),
      accessed('ALLOW'),
      moved(null, 'WAITING_CONFIRM', 'READY'),
      moved(null, 'READY', 'IN_PROGRESS'),
    ].map(about),
  });
}

export function dispatchOf(one: Goal): Event<'agent.moved'> {
  const { idempotency_key, intent_id } = one;
  return of(one, dispatched({ idempotency_key, intent_id }));
}

export function endOf(
  one: Goal,
  to: Parameters<typeof ended>[0],
  over: Partial<Body<'agent.moved'>> = {},
): Event<'agent.moved'> {
  const { idempotency_key, intent_id, execution_id } = one;
  return of(one, ended(to, { idempotency_key, intent_id, execution_id, ...over }));
}

/** The run of the intent, from the proposal to its end. `ordinal` counts the capabilities of the whole store. */
export async function runs(
  store: Store,
  { intent_id, execution_id }: Goal,
  ordinal: number,
  result: 'success' | 'failure' | 'partial' = 'success',
): Promise<void> {
  await store.commit({ events: [proposed(intent_id), granted(intent_id, 'ada')] });
  const capability = issued(intent_id, 'ada', { ordinal });
  await store.commit({ events: capability });
  await store.commit({ events: [claimed(intent_id, execution_id)] });
  await store.commit({ events: [finished(intent_id, execution_id, result)] });
}

/** The intent as the agent core itself proposes it, approved and with a capability, but not claimed. */
export async function offers(store: Store, { intent_id }: Goal, ordinal: number): Promise<void> {
  const by = { proposer: 'agent-core', ...signedBy('agent-core') };
  await store.commit({
    events: [proposed(intent_id, by), granted(intent_id, 'ada')],
  });
  await store.commit({ events: [...issued(intent_id, 'ada', { ordinal })] });
}
