import { type KeyOf, publicKeyOf, sign, verifyEd25519 } from '../canonical/ed25519.ts';
import { canonicalBytesOfParsed } from '../canonical/json.ts';
import { type Body, besideFact, type Event, type EventKind } from '../event/event.ts';
import { refuse } from '../refusal.ts';
import type { OpenKey } from './act.ts';

/**
 * A machine signs what it states, with a key that a human added: the control plane what it issues, an executor what it claims
 * and how that ended.
 */
type Role = 'control' | 'executor';

export type MachineKey = Pick<OpenKey, 'public_key' | 'key'>;

type SealedBy<R extends Role> = `${R}_key` | `${R}_signature`;

/** The facts that are signed by a key of this role. */
export type FactKind<R extends Role> = {
  [K in EventKind]: Body<K> extends Record<SealedBy<R>, string> ? K : never;
}[EventKind];

/** A fact that only has to be signed. */
export interface Unsigned<R extends Role, K extends FactKind<R>> {
  readonly kind: K;
  readonly subject: string;
  readonly body: Omit<Body<K>, SealedBy<R>>;
}

export function signFact<R extends Role, K extends FactKind<R>>(
  origin: string,
  role: R,
  { kind, subject, body: facts }: Unsigned<R, K>,
  { public_key, key }: MachineKey,
): Event<K> {
  const body = { ...facts, [`${role}_key`]: public_key };
  const signature = sign(statementOf(origin, role, kind, subject, body), key);
  return { kind, subject, body: { ...body, [`${role}_signature`]: signature } } as unknown as Event<K>;
}

/** Refuses a fact that the key it names did not sign. Whose key that is, the fold asks. */
export function verifyFact(origin: string, { kind, subject, body }: Event, keyOf: KeyOf = publicKeyOf): void {
  if ('control_signature' in body) {
    const statement = statementOf(origin, 'control', kind, subject, body);
    requireSigned(statement, keyOf(body.control_key), body.control_signature);
  }
  if ('executor_signature' in body) {
    const statement = statementOf(origin, 'executor', kind, subject, body);
    requireSigned(statement, keyOf(body.executor_key), body.executor_signature);
  }
}

function requireSigned(statement: Uint8Array, key: ReturnType<KeyOf>, signature: string): void {
  if (!verifyEd25519(statement, signature, key))
    refuse('SIGNATURE_INVALID', 'The signature of the machine does not verify.');
}

function statementOf(origin: string, role: Role, kind: EventKind, subject: string, body: object): Uint8Array {
  const beside = [`${role}_signature`, ...besideFact(kind)];
  const stated = Object.fromEntries(Object.entries(body).filter(([member]) => !beside.includes(member)));
  return canonicalBytesOfParsed({ format: 'keyturn-fact/1', origin, role, kind, subject, body: stated });
}
