import { keyPairFromSeed } from '../../src/canonical/ed25519.ts';
import { type Event, isSigned } from '../../src/event/event.ts';
import { signAct, signerOf } from '../../src/identity/act.ts';
import { accessed, confirmed, moved, planned, received, STEP, step } from '../gate/agent-story.ts';
import { changed, dispatchOf, endOf, goal, of } from '../store/agent-facts.ts';
import {
  activated,
  assigned,
  broken,
  claimed,
  controlled,
  delegation,
  denied,
  enrolledAgent,
  finished,
  frozen,
  granted,
  issued,
  keyOf,
  ORIGIN,
  proposed,
  refused,
  resolved,
  retried,
  revoked,
  signedBy,
  submitted,
  takenBack,
  unfrozen,
  withdrawn,
} from '../store/facts.ts';
import { governance } from '../store/place.ts';

/** A ledger that could have been written, and ledgers that differ from it in one thing. */

const id = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const NEWER = 'cd'.repeat(32);
const by = (name: string, roles: string[] = []) => ({ approvers: [{ name, roles }] });

/** Every state machine moves in it. */
export function lived(): Event[] {
  const [a, b, c, d, e] = [id(1), id(2), id(3), id(4), id(5)] as const;
  const [first, second, third] = [id(11), id(12), id(13)] as const;
  const one = { ...goal('goal-1'), intent_id: id(6), execution_id: id(16) };
  const core = { proposer: 'agent-core', ...signedBy('agent-core') };
  return [
    ...governance('ada', 'bo', 'cy'),
    enrolledAgent('agent-core', 'ada', keyOf('agent-core')),
    assigned('bo', ['ops'], 'ada'),
    delegation(id(21), 'ada', 'planner'),
    proposed(a),
    granted(a, 'bo'),
    issued(a, 'ada', by('bo', ['ops'])),
    claimed(a, first),
    finished(a, first, 'failure'),
    retried(a, first, 2, 'ada'),
    issued(a, 'ada', { attempt: 2, ordinal: 2, ...by('bo', ['ops']) }),
    claimed(a, second, 2),
    finished(a, second, 'partial', 2),
    resolved(a, second, 'happened', 'bo'),
    proposed(b),
    submitted(b, 'planner', id(21)),
    issued(b, 'planner', {
      delegation: id(21),
      ordinal: 3,
      expires_at: '2026-02-15T12:00:00.000Z',
      ...by('ada'),
    }),
    takenBack(id(21), 'ada'),
    proposed(c),
    denied(c, 'ada'),
    proposed(d),
    granted(d, 'cy'),
    broken(d, 'ada'),
    broken(d, 'bo'),
    frozen('ada', { scope: 'tool', name: 'other' }),
    unfrozen('bo', { scope: 'tool', name: 'other' }),
    issued(d, 'ada', { ordinal: 4, ...by('cy') }),
    withdrawn(d, 'ada'),
    revoked('cy', 'ada'),
    proposed(e),
    refused(e),
    changed('Draft'),
    changed('Active'),
    ...[
      received(),
      planned({ steps: [step(one.step_id)] }),
      moved(STEP, 'PENDING', 'WAITING_CONFIRM'),
      moved(null, 'CREATED', 'WAITING_CONFIRM'),
      confirmed('YES'),
      moved(STEP, 'WAITING_CONFIRM', 'READY'),
      accessed('ALLOW'),
      moved(null, 'WAITING_CONFIRM', 'READY'),
      moved(null, 'READY', 'IN_PROGRESS'),
    ].map((event) => of(one, event)),
    proposed(one.intent_id, core),
    granted(one.intent_id, 'bo'),
    issued(one.intent_id, 'ada', { ordinal: 1, ...by('bo', ['ops']) }),
    dispatchOf(one),
    claimed(one.intent_id, one.execution_id),
    finished(one.intent_id, one.execution_id, 'success'),
    endOf(one, 'SUCCEEDED'),
    proposed(id(7)),
    granted(id(7), 'bo'),
    issued(id(7), 'ada', { ordinal: 5, ...by('bo', ['ops']) }),
    claimed(id(7), third),
    controlled('newer', 'bo'),
    activated('ada', NEWER),
  ];
}

const NAMES = ['ada', 'bo', 'cy', 'planner', 'agent-core', 'eve'];
const SUBJECTS = [1, 2, 3, 4, 5, 6, 7].map(id);

/** What else a member could say, so that it is still of its kind. */
function otherValues(value: unknown): unknown[] {
  if (typeof value === 'boolean') return [!value];
  if (typeof value === 'number') return [value + 1, Math.max(0, value - 1)];
  if (value === null) return [];
  if (Array.isArray(value)) return [[]];
  if (typeof value !== 'string') return [];
  if (NAMES.includes(value)) return NAMES.filter((name) => name !== value);
  if (SUBJECTS.includes(value)) return SUBJECTS.filter((subject) => subject !== value);
  if (/^[0-9a-f]{64}$/.test(value)) return ['ef'.repeat(32)];
  const ms = /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : Number.NaN;
  if (!Number.isNaN(ms)) return [-86_400_000, 3_600_000].map((off) => new Date(ms + off).toISOString());
  return [];
}

/** With the real key of whoever it says signed it. */
function signedAgain(event: Event): Event {
  if (!isSigned(event)) return event;
  const { signature: _, key: __, by: name, signed_at, ...facts } = event.body;
  const seed = Buffer.alloc(32, name);
  const signer = signerOf(name, keyPairFromSeed(seed).public_key, seed);
  return signAct(ORIGIN, event.kind, event.subject, facts as never, signer, new Date(signed_at));
}

/** A ledger that differs in one thing, chosen by four numbers. Half of the edits are signed again. */
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

function edited(event: Event, other: number, how: number): Event {
  const members = Object.entries({ subject: event.subject, ...event.body }).filter(
    ([name, value]) => name !== 'signature' && otherValues(value).length > 0,
  );
  const [name, value] = members[other % members.length] ?? ['subject', 'ada'];
  const values = otherValues(value);
  const next = values[(how >> 1) % values.length] ?? 'eve';
  const changed =
    name === 'subject' ? { ...event, subject: next } : { ...event, body: { ...event.body, [name]: next } };
  return how % 2 === 0 ? signedAgain(changed as Event) : (changed as Event);
}
