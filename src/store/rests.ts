import type { Digest } from '../canonical/digest.ts';
import { type KeyOf, publicKeyOf } from '../canonical/ed25519.ts';
import type { CapabilityClaims } from '../capability/token.ts';
import { openIssued } from '../capability/verify.ts';
import type { Event } from '../event/event.ts';
import { type NeededDecision, neededDecision, requireDecision, restsOn } from '../fold/decided.ts';
import { type IssuedToken, issuedToken, requireAsIssued } from '../fold/issued.ts';
import type { Rows } from '../fold/row.ts';
import { type DecisionRecord, openDecision } from '../policy/replay.ts';
import { refuse } from '../refusal.ts';

export interface StoredObject {
  readonly digest: Digest;
  readonly bytes: Uint8Array;
}

/** The objects that an event rests on, and what each must say. */
export interface Rests {
  readonly decision: NeededDecision | null;
  readonly token: IssuedToken | null;
}

/** `rows` are those before the event. What it rests on is looked at after it was folded: the state machines say more. */
export function restsIn(rows: Rows, event: Event): Rests {
  return { decision: neededDecision(rows, event), token: issuedToken(rows, event) };
}

/** What a writer brings for its events to rest on, as its objects tell it. */
export interface Brought {
  readonly decisions: ReadonlyMap<Digest, DecisionRecord>;
  readonly tokens: ReadonlyMap<Digest, CapabilityClaims>;
}

export function broughtFor(
  events: readonly Event[],
  objects: readonly StoredObject[],
  keyOf?: KeyOf,
): Brought {
  return { decisions: decisionsIn(events, objects), tokens: tokensIn(events, objects, keyOf) };
}

function decisionsIn(
  events: readonly Event[],
  objects: readonly StoredObject[],
): ReadonlyMap<Digest, DecisionRecord> {
  const named = new Set(events.map(restsOn));
  const found = objects.filter(({ digest }) => named.has(digest));
  return new Map(found.map(({ digest, bytes }) => [digest, openDecision(bytes)]));
}

function tokensIn(
  events: readonly Event[],
  objects: readonly StoredObject[],
  keyOf: KeyOf = publicKeyOf,
): ReadonlyMap<Digest, CapabilityClaims> {
  const found = new Map<Digest, CapabilityClaims>();
  for (const { kind, body } of events) {
    if (kind !== 'capability.issued') continue;
    const brought = objects.find(({ digest }) => digest === body.token);
    if (brought) found.set(body.token, openIssued(brought.bytes, body.control_key, keyOf));
  }
  return found;
}

/** Each question is asked for one fact, so the commit that names a decision or a token brings it. */
export function requireBrought({ decisions, tokens }: Brought, { decision, token }: Rests): void {
  if (decision) requireDecision(decision, decisions.get(decision.digest) ?? refuse('DECISION_MISSING'));
  if (token) requireAsIssued(token, tokens.get(token.body.token) ?? null);
}

/** The same of an entry that was written before, over what is stored; null where an entry says that it was removed. */
export function requireStored(
  { decision, token }: Rests,
  stored: (digest: Digest) => Uint8Array | null,
): void {
  const ruling = decision && stored(decision.digest);
  if (decision && ruling) requireDecision(decision, openDecision(ruling));
  const text = token && stored(token.body.token);
  if (token && text) requireAsIssued(token, openIssued(text, token.body.control_key, publicKeyOf));
}

/** The digests of these objects. */
export function digestsOf({ decision, token }: Rests): Digest[] {
  return [decision?.digest, token?.body.token].filter((digest) => digest !== undefined);
}

/** The store lost it, or an attacker took it away: that says nothing of the entry itself. */
export function refuseLost({ digest, seq }: { readonly digest: Digest; readonly seq: number }): never {
  return refuse('OBJECT_MISSING', `Entry ${seq} rests on an object that is not there.`, { digest, seq });
}
