import { sha256 } from '../canonical/digest.ts';
import { type KeyOf, publicKeyOf, sign, verifyEd25519 } from '../canonical/ed25519.ts';
import { canonicalBytesOfParsed, canonicalTextOfParsed } from '../canonical/json.ts';
import { type Body, type Drafted, type Event, type EventKind, isControlled } from '../event/event.ts';
import { refuse } from '../refusal.ts';
import type { OpenKey } from './act.ts';
import { unsigned } from './unsigned.ts';

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

/**
 * What the control plane decided beside the acts of a commit, signed once for all of them. Without the secret half of the key nothing is signed: a
 * rehearsal only has to name the key.
 */
export function signDecided(
  origin: string,
  drafted: readonly Drafted[],
  { public_key: control_key, key }: { readonly public_key: string; readonly key: MachineKey['key'] | null },
): Event[] {
  const named = drafted.map((one) => {
    return isControlled(one) ? { ...one, body: { ...one.body, control_key } } : one;
  });
  if (key === null) return named.map((one) => withProof(one, unsigned(null) as string, null));
  const statements = named
    .filter(isControlled)
    .map(({ kind, subject, body }) => statementOf(origin, 'control', kind, subject, body));
  const covers = statements.length === 1 ? null : statements.map((one) => sha256(one));
  const signature = sign(covers === null ? statements[0]! : Buffer.from(coverText(origin, covers)), key);
  return named.map((one) => withProof(one, signature, covers));
}

function withProof(
  one: { readonly kind: EventKind; readonly subject: string; readonly body: object },
  control_signature: string,
  control_covers: readonly string[] | null,
): Event {
  if (!isControlled(one)) return one as Event;
  return { ...one, body: { ...one.body, control_signature, control_covers } } as Event;
}

/** What one signature of the control plane for several entries is over. */
function coverText(origin: string, covers: readonly string[]): string {
  return canonicalTextOfParsed({ format: 'keyturn-facts/1', origin, role: 'control', facts: covers });
}

/** Refuses a fact that the key it names did not sign. Whose key that is, the fold asks. */
export function verifyFact(origin: string, { kind, subject, body }: Event, keyOf: KeyOf = publicKeyOf): void {
  if ('control_signature' in body) {
    const { control_key, control_signature } = body;
    const statement = statementOf(origin, 'control', kind, subject, body);
    const covers = 'control_covers' in body ? body.control_covers : null;
    if (covers === null) requireSigned(statement, keyOf(control_key), control_signature);
    else if (!covers.includes(sha256(statement)))
      refuse('SIGNATURE_INVALID', 'The control plane signed other entries than this one.');
    else requireCovered(coverText(origin, covers), control_key, control_signature, keyOf);
  }
  if ('executor_signature' in body) {
    const statement = statementOf(origin, 'executor', kind, subject, body);
    requireSigned(statement, keyOf(body.executor_key), body.executor_signature);
  }
}

/** The entries of one commit stand behind each other, with one signature: it is verified once. */
function requireCovered(text: string, public_key: string, signature: string, keyOf: KeyOf): void {
  const whole = `${public_key} ${signature} ${text}`;
  if (keyOf.verified?.get(whole)) return;
  requireSigned(Buffer.from(text), keyOf(public_key), signature);
  keyOf.verified?.set(whole, true);
}

function requireSigned(statement: Uint8Array, key: ReturnType<KeyOf>, signature: string): void {
  if (!verifyEd25519(statement, signature, key))
    refuse('SIGNATURE_INVALID', 'The signature of the machine does not verify.');
}

/** All of a fact but what proves it. */
function statementOf(origin: string, role: Role, kind: EventKind, subject: string, body: object): Uint8Array {
  const proof = [`${role}_signature`, 'control_covers'];
  const stated = Object.fromEntries(Object.entries(body).filter(([member]) => !proof.includes(member)));
  return canonicalBytesOfParsed({ format: 'keyturn-fact/1', origin, role, kind, subject, body: stated });
}
