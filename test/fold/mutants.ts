import { publicKeyOf } from '../../src/canonical/ed25519.ts';
import {
  type ControlProof,
  type Event,
  isControlled,
  isSigned,
  parseEvent,
  type SignedKind,
} from '../../src/event/event.ts';
import { type OpenKey, signerOf } from '../../src/identity/act.ts';
import { signFact } from '../../src/identity/fact.ts';
import { verifySignatures } from '../../src/identity/verified.ts';
import { isReasonCode } from '../../src/refusal.ts';
import { FLAGS, type Wish } from '../identity/authenticator.ts';
import { heldKey, heldPasskey, owned, signedWith } from '../store/credential-facts.ts';
import { decided, granted, keyOf, ORIGIN, seedOf } from '../store/facts.ts';
import { signedAt } from '../support/signed.ts';
import { id, PHONE, SECOND, TOUCHED, timeOf } from './lived.ts';

/** Ledgers that differ from a good one in one thing. */

const HELD = [SECOND, TOUCHED, heldKey('ada'), heldKey('eve')];
/** Touches that were really made, some of them elsewhere or by another kind of passkey. */
const WISHES: readonly Wish[] = [
  {},
  { client: { origin: 'http://localhost:9999' } },
  { rp_id: 'other.example' },
  { flags: FLAGS.UP | FLAGS.UV | FLAGS.BE },
];
/** Whose keys sign for machines, some of them never added or revoked. */
const MACHINES = ['host', 'host-2', 'host-3', 'control', 'newer'];
const MACHINE_KEYS = MACHINES.map(keyOf);

const NAMES = ['ada', 'bo', 'cy', 'planner', 'agent-core', 'eve', 'di'];
/** Made once: to make a key takes longer than to sign with it. */
const SIGNERS = new Map([...NAMES, ...MACHINES].map((name) => [name, signerFor(name)]));
const REASONS = ['POLICY_DENIED', 'POLICY_NO_PERMIT', 'APPROVAL_MISSING'];
const SUBJECTS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 33, 34].map(id);

/** Words of which a member says one. */
const WORDS: readonly (readonly string[])[] = [
  ['human', 'agent'],
  ['success', 'failure', 'partial', 'rolled_back'],
  ['complete', 'stuck'],
  ['happened', 'did_not_happen'],
  ['ALLOW', 'DENY', 'AP_REQUIRED'],
  ['YES', 'NO'],
  ['Draft', 'Active', 'Deprecated', 'Disabled'],
  ['SIMULATION_MATCH', 'CLARIFY'],
  ['PENDING', 'WAITING_CONFIRM', 'READY', 'EXECUTING', 'SUCCEEDED', 'FAILED_RETRYABLE', 'FAILED_TERMINAL'],
  ['CREATED', 'IN_PROGRESS', 'COMPLETED', 'FAILED', 'CANCELLED'],
  ['tool', 'plan', 'system'],
  ['tool:deploy', 'tool:other'],
  ['deploy', 'other'],
];

/** What could stand where nothing does. */
const OF_NOTHING: readonly unknown[] = [id(21), 'ef'.repeat(32), 'ada', timeOf(90 * 86_400)];

/** What else a member could say, so that it is still of its kind. */
function otherValues(value: unknown): unknown[] {
  if (typeof value === 'boolean') return [!value];
  if (typeof value === 'number') return [value + 1, Math.max(0, value - 1)];
  if (value === null) return [...OF_NOTHING];
  if (Array.isArray(value)) return [[]];
  if (typeof value === 'object' && 'kind' in value) return HELD.map(({ credential }) => credential);
  if (typeof value === 'object') return [TOUCHED.prove(Buffer.from('{}'))];
  if (typeof value !== 'string') return [];
  if (NAMES.includes(value)) return NAMES.filter((name) => name !== value);
  if (MACHINE_KEYS.includes(value)) return MACHINE_KEYS.filter((key) => key !== value);
  if (SUBJECTS.includes(value)) return SUBJECTS.filter((subject) => subject !== value);
  const words = WORDS.find((list) => list.includes(value));
  if (words) return words.filter((word) => word !== value);
  if (isReasonCode(value)) return REASONS.filter((reason) => reason !== value);
  if (/^[0-9a-f]{64}$/.test(value)) return ['ef'.repeat(32)];
  const ms = /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : Number.NaN;
  if (!Number.isNaN(ms)) return [-86_400_000, 3_600_000].map((off) => new Date(ms + off).toISOString());
  return [];
}

/** What else this member of this event could say: nothing, too, where its kind allows that. */
function editsOfMember(event: Event, name: string, value: unknown): Event[] {
  const others = otherValues(value).map((next) => withMember(event, name, next));
  const none = withMember(event, name, null);
  const may_be_none = name !== 'subject' && value !== null && isEvent(none);
  return may_be_none ? [...others, none] : others;
}

function isEvent(event: Event): boolean {
  try {
    parseEvent(event);
    return true;
  } catch {
    return false;
  }
}

/** With the real keys of those it says signed it. */
function signedAgain(event: Event, how: number): Event {
  return statedAgain(isSigned(event) ? actedAgain(event, how) : event);
}

/** By the machine whose key it names. */
function statedAgain(event: Event): Event {
  for (const role of ['control', 'executor'] as const) {
    const { [`${role}_key`]: key, [`${role}_signature`]: _, ...body } = event.body as Record<string, unknown>;
    const name = MACHINES[MACHINE_KEYS.indexOf(key as string)];
    if (name === undefined) continue;
    if (isControlled(event)) return decided([event, ...besides(event)], name)[0]!;
    return signFact(ORIGIN, role, { ...event, body } as never, signerNamed(name));
  }
  return event;
}

/** What is signed together with it, where something was. */
function besides({ body }: Event): Event[] {
  const { control_covers } = body as Partial<ControlProof>;
  return Array.isArray(control_covers) && control_covers.length > 0 ? [OTHER] : [];
}

const OTHER = granted(id(9), 'ada');

function signerNamed(name: string): OpenKey {
  return SIGNERS.get(name) ?? signerFor(name);
}

function signerFor(name: string): OpenKey {
  return signerOf(name, keyOf(name), seedOf(name));
}

/** Where a passkey signs, by a touch that may have been made elsewhere. */
function actedAgain(event: Event<SignedKind>, how: number): Event {
  const wish = WISHES[how % WISHES.length]!;
  const again =
    event.body.key === PHONE.credential.public_key
      ? signedWith(event, heldPasskey(PHONE, wish))
      : signedByName(event);
  if (!('own' in again.body) || again.body.own === null) return again;
  const { public_key } = again.body.credential!;
  const held = HELD.find(({ credential }) => credential.public_key === public_key) ?? SECOND;
  const { prove } = held === TOUCHED ? heldPasskey(PHONE, wish) : held;
  return owned(again as Event<'credential.added'>, prove);
}

function signedByName(event: Event<SignedKind>): Event<SignedKind> {
  const { signature: _, key: __, by: name, signed_at, ...facts } = event.body;
  return signedAt(ORIGIN, event.kind, event.subject, facts as never, signerNamed(name), new Date(signed_at));
}

/** Whether these numbers choose an edit that is signed again with real keys: its signature is another one, and verifies. */
export function isSignedAgain(events: readonly Event[], numbers: readonly number[]): boolean {
  const [what, at] = numbers;
  if (what! % 8 <= 2) return false;
  const i = at! % events.length;
  const changed = mutant(events, numbers)[i]!;
  return signaturesOf(changed) !== signaturesOf(events[i]!) && isVerified(changed);
}

const SIGNATURES = ['signature', 'own', 'control_signature', 'executor_signature'];

function signaturesOf({ body }: Event): string {
  return JSON.stringify(SIGNATURES.map((name) => (body as Readonly<Record<string, unknown>>)[name]));
}

function isVerified(event: Event): boolean {
  try {
    verifySignatures(ORIGIN, parseEvent(event), publicKeyOf);
    return true;
  } catch {
    return false;
  }
}

/** The same numbers, so that they choose such an edit of a signed event: of the next members, where one brings none. */
export function choosingSignedAgain(
  events: readonly Event[],
  [what, at, other, how]: readonly number[],
): number[] {
  const signed = [...events.keys()].filter((i) => signaturesOf(events[i]!) !== signaturesOf(UNSIGNED));
  const chosen = [...Array(MEMBERS).keys()].map((n) => [
    what! - (what! % 8) + 3 + (what! % 5),
    signed[at! % signed.length]!,
    other! + n,
    how! - (how! % 5) + 1 + (how! % 4),
  ]);
  return chosen.find((numbers) => isSignedAgain(events, numbers)) ?? chosen[0]!;
}

/** No event has more. */
const MEMBERS = 24;
const UNSIGNED = { body: {} } as Event;

/** A ledger that differs in one thing, chosen by four numbers. */
export function mutant(events: readonly Event[], [what, at, other, how]: readonly number[]): Event[] {
  const all = [...events];
  const i = at! % all.length;
  switch (what! % 8) {
    case 0:
      return all.toSpliced(i, 1);
    case 1:
      return all.toSpliced(other! % (all.length + 1), 0, all[i]!);
    case 2: {
      const [moved] = all.splice(i, 1);
      return all.toSpliced(other! % (all.length + 1), 0, moved!);
    }
    default:
      return all.with(i, edited(all[i]!, other!, how!));
  }
}

/** Every edit of one member, signed again with the real keys of those it says signed it; and the first one as it stands. */
export function editsOf(event: Event): Event[] {
  const changed = membersOf(event).flatMap(([name, value]) => editsOfMember(event, name, value));
  return [...changed.map((one, n) => signedAgain(one, n)), ...changed.slice(0, 1)];
}

/** A signature of bytes alone is not edited: what it covers is. */
function membersOf(event: Event): [string, unknown][] {
  return Object.entries({ subject: event.subject, ...event.body }).filter(
    ([name, value]) => (name !== 'signature' || typeof value === 'object') && otherValues(value).length > 0,
  );
}

function withMember(event: Event, name: string, next: unknown): Event {
  return (
    name === 'subject' ? { ...event, subject: next } : { ...event, body: { ...event.body, [name]: next } }
  ) as Event;
}

function edited(event: Event, other: number, how: number): Event {
  const members = membersOf(event);
  const [name, value] = members[other % members.length] ?? ['subject', 'ada'];
  const edits = editsOfMember(event, name, value);
  const changed = edits[(how >> 1) % edits.length] ?? withMember(event, name, 'eve');
  return how % 5 > 0 ? signedAgain(changed, how >> 1) : changed;
}
