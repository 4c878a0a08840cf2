import type { Event } from '../../src/event/event.ts';
import { claimsOf } from '../../src/gate/claims.ts';
import { signerOf } from '../../src/identity/act.ts';
import { signFact } from '../../src/identity/fact.ts';
import { GENESIS, type SealedEntry, sealEntry } from '../../src/ledger/entry.ts';
import {
  claimed,
  denied,
  finished,
  issuedUnder,
  keyOf,
  ORIGIN,
  ordered,
  proposed,
  seedOf,
  signedBy,
} from '../store/facts.ts';
import { governance, NOON } from '../store/place.ts';
import { signedAt } from '../support/signed.ts';

const id = (n: number, kind: number) => `0000000${kind}-0000-4000-8000-${String(n).padStart(12, '0')}`;
export const intentAt = (n: number): string => id(n, 1);

const keyed = (name: string) => signerOf(name, keyOf(name), seedOf(name));
const [ADA, CONTROL, HOST] = [keyed('ada'), keyed('control'), keyed('host')];
const AGENT = signedBy('planner');
/** Made once and then changed, because what they rest on takes longer to make than they do. */
const MODEL = 'a model';
const ORDER = ordered(MODEL, 'ada', { approves_until: '2030-01-15T12:00:00.000Z' }).body;
const ISSUE = issuedUnder(MODEL, { ordinal: null }).body;
const CLAIM = claimed(MODEL).body;
const END = finished(MODEL, MODEL, 'success').body;

/** What happens to the intent of this number: most run, one in ten is rejected, one in a thousand waits for good. */
function* story(n: number): Generator<Event> {
  const [subject, execution_id, capability_id] = [intentAt(n), id(n, 2), id(n, 3)];
  yield proposed(subject, n % 2 === 0 ? AGENT : {});
  if (n % 1000 === 999) return;
  if (n % 10 === 9) return yield denied(subject, 'ada');
  const order = { ...ORDER, order_id: capability_id };
  yield signedAt(ORIGIN, 'order.given', subject, order, ADA, new Date(NOON));
  const issue = { ...ISSUE, capability_id };
  yield signFact(ORIGIN, 'control', { kind: 'capability.issued', subject, body: issue }, CONTROL);
  const claim = { ...CLAIM, execution_id, capability_id };
  yield signFact(ORIGIN, 'executor', { kind: 'execution.claimed', subject, body: claim }, HOST);
  const end = { ...END, execution_id, capability_id };
  yield signFact(ORIGIN, 'executor', { kind: 'execution.finished', subject, body: end }, HOST);
}

function* facts(size: number): Generator<Event> {
  yield* governance('ada');
  for (let n = 0; n < size; n++) yield* story(n);
}

const BATCH = 500;

/** A good ledger of so many entries with real signatures, made while it is read: the same one each time. */
export async function* longLedger(size: number, more: readonly Event[] = []): AsyncGenerator<SealedEntry[]> {
  let batch: SealedEntry[] = [];
  let [seq, prev] = [0, GENESIS];
  const seal = ({ kind, subject, body, ...event }: Event) => {
    const at = new Date(Date.parse(NOON) + seq).toISOString();
    const claims = claimsOf({ kind, subject, body, ...event } as Event);
    const sealed = sealEntry({ seq, tenant: 'default', at, kind, subject, claims, body, prev } as never);
    prev = sealed.hash;
    seq += 1;
    batch.push(sealed);
  };
  for (const event of facts(size)) {
    if (seq >= size) break;
    seal(event);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  for (const event of more) seal(event);
  yield batch;
}
