import type { Digest } from '../canonical/digest.ts';
import { isSameJson } from '../canonical/json.ts';
import type { Event } from '../event/event.ts';
import { originOf } from '../identity/act.ts';
import { requireSeen } from '../identity/seen.ts';
import { Refusal, refuse } from '../refusal.ts';
import { type Freeze, nextFreezes } from './freeze.ts';

/** What holds for every intent: which keys sign capabilities, which policies are active, what is frozen. */
export interface System {
  readonly origin: string;
  /** Signs the heads of the ledger. */
  readonly ledger_key: string;
  /** Each host that issues capabilities has its own. */
  readonly control_keys: readonly ControlKey[];
  readonly executors: readonly Executor[];
  readonly policy: Digest | null;
  readonly freezes: readonly Freeze[];
  /** When entries were last forgotten, such as by a backup that was restored; null where that never was. */
  readonly set_back_at: string | null;
}

/** A key that issues capabilities until it is replaced or revoked. */
export interface ControlKey {
  readonly public_key: string;
  readonly added_at: string;
  readonly added_by: string;
  /** It issues no more; what it issued holds. */
  readonly replaced_at: string | null;
  /** It issues no more; what it issued and was not claimed by then is not run. */
  readonly revoked_at: string | null;
}

/** A host that may run what is ordered, known by its key. Several may have one name or label. */
export interface Executor {
  readonly public_key: string;
  readonly name: string;
  /** What else it may run: orders that are addressed to one of these. */
  readonly labels: readonly string[];
  readonly added_at: string;
  readonly added_by: string;
  readonly revoked_at: string | null;
}

export const SYSTEM_KINDS = [
  'system.initialised',
  'control_key.added',
  'control_key.revoked',
  'executor.added',
  'executor.revoked',
  'policy.activated',
  'system.frozen',
  'system.unfrozen',
  'head.accepted',
] as const;

export type SystemEvent = Event<(typeof SYSTEM_KINDS)[number]>;

/** Pure: what holds for every intent of this tenant after the event. */
export function nextSystem(state: System | null, event: SystemEvent, at: string, tenant: string): System {
  if (event.kind === 'system.initialised') {
    const { project_id, ledger_key } = event.body;
    const origin = originOf(project_id, tenant);
    return {
      origin,
      ledger_key,
      control_keys: [],
      executors: [],
      policy: null,
      freezes: [],
      set_back_at: null,
    };
  }
  if (state === null) refuse('TRANSITION_ILLEGAL', 'There is no ledger yet.');
  switch (event.kind) {
    case 'control_key.added':
      return { ...state, control_keys: withControlKey(state, event, at) };
    case 'control_key.revoked': {
      const known = requireControlKey(state, event.body.public_key);
      if (known.revoked_at !== null) refuse('CONTROL_KEY_REVOKED', `It was revoked at ${known.revoked_at}.`);
      return { ...state, control_keys: endedKey(state, known, { revoked_at: at }) };
    }
    case 'executor.added':
      return { ...state, executors: withExecutor(state, event, at) };
    case 'executor.revoked': {
      const executor = requireExecutor(state, event.body.public_key);
      const executors = state.executors.map((one) => (one === executor ? { ...one, revoked_at: at } : one));
      return { ...state, executors };
    }
    case 'policy.activated':
      requireSeen(event.body.replaces, state.policy, undefined, 'POLICY_REPLACED');
      return { ...state, policy: event.body.snapshot };
    case 'head.accepted':
      return event.body.forgets ? setBack(state, event, at) : state;
    default:
      return { ...state, freezes: nextFreezes(state.freezes, event, at) };
  }
}

/**
 * Revocations, freezes and runs may be among what is forgotten. So everything is frozen until a human has looked and lets it go; and what was
 * proposed before then may have run.
 */
function setBack(state: System, { body }: Event<'head.accepted'>, at: string): System {
  // In the place of one from before: a human who saw only that one does not lift this one.
  const others = state.freezes.filter(({ scope }) => scope !== 'system');
  const freeze: Freeze = { scope: 'system', name: '', by: body.by, at, reason: body.reason };
  return { ...state, freezes: [...others, freeze], set_back_at: at };
}

/** A key has one role: what an executor states is never taken for what the control plane does. */
export function requireFree({ control_keys, executors }: System, public_key: string): void {
  if (control_keys.some((one) => one.public_key === public_key))
    refuse('KEY_ENROLLED_TWICE', 'It is a key of the control plane.');
  const executor = executors.find((one) => one.public_key === public_key);
  if (!executor) return;
  const { name, revoked_at } = executor;
  const and_now =
    revoked_at === null
      ? ''
      : ' It was revoked and never comes back: on that host, remove .keyturn/keys/executor.seed, and `keyturn executor add` makes another.';
  refuse('KEY_ENROLLED_TWICE', `It is the key of an executor "${name}".${and_now}`);
}

function withControlKey(state: System, { body }: Event<'control_key.added'>, at: string): ControlKey[] {
  const { public_key, replaces, by: added_by } = body;
  requireFree(state, public_key);
  if (replaces !== null && !issues(state, replaces))
    refuse('CONTROL_KEY_REVOKED', 'The key that it replaces issues nothing.');
  const others =
    replaces === null
      ? state.control_keys
      : endedKey(state, requireControlKey(state, replaces), { replaced_at: at });
  return [...others, { public_key, added_at: at, added_by, replaced_at: null, revoked_at: null }];
}

function endedKey({ control_keys }: System, key: ControlKey, end: Partial<ControlKey>): ControlKey[] {
  return control_keys.map((one) => (one === key ? { ...one, ...end } : one));
}

/** The control key with this public half, also one that issues no more. */
function requireControlKey({ control_keys }: System, public_key: string): ControlKey {
  return control_keys.find((one) => one.public_key === public_key) ?? refuse('CONTROL_KEY_UNKNOWN');
}

/** The keys that may issue capabilities now, the newest last. */
export function issuingKeys({ control_keys }: System): string[] {
  const live = control_keys.filter((one) => one.replaced_at === null && one.revoked_at === null);
  return live.map(({ public_key }) => public_key);
}

/** Whether this key may issue capabilities now. */
export function issues(system: System, public_key: string): boolean {
  return issuingKeys(system).includes(public_key);
}

/** Refuses what a key decided that decides nothing now. Where it was replaced, the key in its place decides again. */
export function requireDecides(system: System, public_key: string): void {
  const { revoked_at, replaced_at } = requireControlKey(system, public_key);
  if (revoked_at !== null) refuse('CONTROL_KEY_REVOKED', `It was revoked at ${revoked_at}.`);
  if (replaced_at !== null) refuse('DECISION_STALE', `The control key was replaced at ${replaced_at}.`);
}

/** Why what this key issued is not run: it is revoked, and a thief of it may have issued it. Null while it is not. */
export function lostIssuer(control_keys: readonly ControlKey[], issuer: string): Refusal | null {
  const known = control_keys.find((one) => one.public_key === issuer);
  if (!known?.revoked_at) return null;
  return new Refusal('CONTROL_KEY_REVOKED', `The key that issued it was revoked at ${known.revoked_at}.`);
}

/** Refuses what was issued by a key that is revoked. */
export function requireIssuerHolds({ control_keys }: System, issuer: string): void {
  const lost = lostIssuer(control_keys, issuer);
  if (lost) throw lost;
}

/** A host that is added again under another name or with other labels has those from then on. A revoked key never comes back. */
function withExecutor(state: System, { body }: Event<'executor.added'>, at: string): Executor[] {
  const { public_key, name, labels, by: added_by } = body;
  const known = servesAs(state, public_key);
  const is_same = known?.name === name && isSameJson(known.labels, labels);
  const others = state.executors.filter((one) => is_same || known === null || one.public_key !== public_key);
  requireFree({ ...state, executors: others }, public_key);
  requireSeen(body.replaces, known, 'The executor has another name or other labels now.');
  return [...others, { public_key, name, labels, added_at: at, added_by, revoked_at: null }];
}

/** The name and the labels of the executor with this key; null where none with it may run. */
export function servesAs(
  { executors }: System,
  public_key: string,
): Pick<Executor, 'name' | 'labels'> | null {
  const known = executors.find((one) => one.public_key === public_key && one.revoked_at === null);
  return known ? { name: known.name, labels: known.labels } : null;
}

/** What orders for executors that answer to a name or a label are addressed to. */
export function audienceOf(origin: string, called: string): string {
  return `${origin}/${called}`;
}

/** Whether an order with this address is one for this executor. */
export function isAddressed(
  { origin }: Pick<System, 'origin'>,
  executor: Executor,
  audience: string,
): boolean {
  return calledBy(executor).some((called) => audienceOf(origin, called) === audience);
}

export function calledBy({ name, labels }: Pick<Executor, 'name' | 'labels'>): readonly string[] {
  return [name, ...labels];
}

/** The executor with this key, also one that was revoked. */
export function requireKnownExecutor({ executors }: System, public_key: string): Executor {
  return executors.find((one) => one.public_key === public_key) ?? refuse('EXECUTOR_UNKNOWN');
}

/** The executor with this key, which may run now. */
export function requireExecutor(system: System, public_key: string): Executor {
  const executor = requireKnownExecutor(system, public_key);
  if (executor.revoked_at !== null) refuse('EXECUTOR_REVOKED', `It was revoked at ${executor.revoked_at}.`);
  return executor;
}

/** Whether the executor with this key may no longer run. */
export function isRevokedExecutor({ executors }: System, public_key: string): boolean {
  return !executors.some((one) => one.public_key === public_key && one.revoked_at === null);
}
