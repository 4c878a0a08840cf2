import type { Event } from '../../src/event/event.ts';
import { claimsOf } from '../../src/gate/claims.ts';
import { signerOf } from '../../src/identity/act.ts';
import { signDecided, signFact } from '../../src/identity/fact.ts';
import { GENESIS, type SealedEntry, sealEntry } from '../../src/ledger/entry.ts';
import { moved, planned, received, STEP, step } from '../gate/agent-story.ts';
import { goal, of } from '../store/agent-facts.ts';
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
const {
  control_key: _,
  control_signature: __,
  control_covers: ___,
  ...ORDER
} = ordered(MODEL, 'ada', { approves_until: '2030-01-15T12:00:00.000Z' }).body;
const ISSUE = issuedUnder(MODEL, { ordinal: null }).body;
const CLAIM = claimed(MODEL).body;
const END = finished(MODEL, MODEL, 'success').body;
const FAILED = finished(MODEL, MODEL, 'failure').body;
const { expires_at: EXPIRES } = ISSUE;

/** What happens to the intent of this number: most run, one in ten is rejected, one in a thousand waits for good. */
function* mixed(n: number): Generator<Event> {
  const subject = intentAt(n);
  if (n % 10 !== 9) return yield* ran(n, END);
  yield proposed(subject, n % 2 === 0 ? AGENT : {});
  if (n % 1000 !== 999) yield denied(subject, 'ada');
}

function* ran(
  n: number,
  ended: typeof END,
  expires_at = EXPIRES,
  reports: string | null = null,
): Generator<Event> {
  const [subject, execution_id, capability_id] = [intentAt(n), id(n, 2), id(n, 3)];
  const effect = reports === null ? 'tool' : 'plan';
  yield proposed(subject, { effect, expires_at, ...(n % 2 === 0 && AGENT) });
  const order = { ...ORDER, order_id: capability_id, expires_at, lapses_at: expires_at };
  const ordering = signedAt(ORIGIN, 'order.given', subject, order, ADA, new Date(NOON));
  yield* signDecided(ORIGIN, [ordering], CONTROL);
  const issue = { ...ISSUE, capability_id, expires_at };
  yield signFact(ORIGIN, 'control', { kind: 'capability.issued', subject, body: issue }, CONTROL);
  const claim = { ...CLAIM, execution_id, capability_id, reports };
  yield signFact(ORIGIN, 'executor', { kind: 'execution.claimed', subject, body: claim }, HOST);
  const end = { ...ended, execution_id, capability_id };
  yield signFact(ORIGIN, 'executor', { kind: 'execution.finished', subject, body: end }, HOST);
}

const GIVEN_UP = { bytes: 1, gives_up_undo: false, reason: 'old' };
/** The backups of this plan are given up. */
export function givenUp(n: number): Event {
  const facts = { ...GIVEN_UP, execution_id: id(n, 2) };
  return signedAt(ORIGIN, 'backups.expired', intentAt(n), facts, ADA, new Date(NOON));
}

const HOUR_MS = 3_600_000;
const hourAfter = (at: Date) => new Date(at.getTime() + HOUR_MS).toISOString();

/** A conversation whose plan is called off. */
function* conversation(n: number): Generator<Event> {
  const one = goal(`goal-${n}`);
  const events = [
    received(),
    planned({ steps: [step(one.step_id)] }),
    moved(STEP, 'PENDING', 'SKIPPED'),
    moved(null, 'CREATED', 'CANCELLED'),
  ];
  for (const event of events) yield of(one, event);
}

/** What each intent or conversation of a ledger comes to, and the time from one entry to the next. */
const SHAPES = {
  mixed: { story: (n: number) => mixed(n), step_ms: 1 },
  undecided: {
    story: function* (n: number, at: Date) {
      yield proposed(intentAt(n), { expires_at: hourAfter(at) });
    },
    step_ms: 60_000,
  },
  failed: { story: (n: number, at: Date) => ran(n, FAILED, hourAfter(at)), step_ms: 60_000 },
  'plans with backups': {
    story: (n: number, at: Date) => ran(n, END, hourAfter(at), 'agent_outputs/reports/one'),
    step_ms: 60_000,
  },
  /** Ten hours later. */
  'plans whose backups go late': {
    story: function* (n: number, at: Date) {
      yield* ran(n, END, hourAfter(at), 'agent_outputs/reports/one');
      if (n >= 100) yield givenUp(n - 100);
    },
    step_ms: 60_000,
  },
  'called off': { story: (n: number) => conversation(n), step_ms: 2 * HOUR_MS },
} satisfies Record<string, { story: (n: number, at: Date) => Generator<Event>; step_ms: number }>;

export type Shape = keyof typeof SHAPES;
export const SHAPE_NAMES = Object.keys(SHAPES) as Shape[];

const BATCH = 500;

/** A good ledger of so many entries with real signatures, made while it is read: the same one each time. */
export async function* longLedger(
  size: number,
  more: readonly Event[] = [],
  shape: Shape = 'mixed',
): AsyncGenerator<SealedEntry[]> {
  const { story, step_ms } = SHAPES[shape];
  let batch: SealedEntry[] = [];
  let [seq, prev] = [0, GENESIS];
  const timeNow = () => new Date(Date.parse(NOON) + seq * step_ms);
  const facts = function* () {
    yield* governance('ada');
    for (let n = 0; n < size; n++) yield* story(n, timeNow());
  };
  const seal = ({ kind, subject, body, ...event }: Event) => {
    const at = timeNow().toISOString();
    const claims = claimsOf({ kind, subject, body, ...event } as Event);
    const sealed = sealEntry({ seq, tenant: 'default', at, kind, subject, claims, body, prev } as never);
    prev = sealed.hash;
    seq += 1;
    batch.push(sealed);
  };
  for (const event of facts()) {
    if (seq >= size) break;
    seal(event);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  for (const event of more) seal(event);
  yield batch;
}
