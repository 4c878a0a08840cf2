import { describe, expect, it } from 'vitest';
import {
  type ControlProof,
  type Event,
  type EventKind,
  isSigned,
  parseEvent,
} from '../../src/event/event.ts';
import { originOf } from '../../src/identity/act.ts';
import { signDecided, verifyFact } from '../../src/identity/fact.ts';
import { controlled, decided, granted, keyOf, ORIGIN, proposed, uncontrolled } from '../store/facts.ts';
import { governance } from '../store/place.ts';
import { objectsOf } from './judges.ts';
import { id, lived } from './lived.ts';
import { JUDGES } from './one-answer.ts';

/** What stands beside the signature of a human is signed by the control plane; a claim, by the executor that decided it. */

const { deepVerified, deepVerifiedWith } = JUDGES;

type Members = Readonly<Record<string, unknown>>;

/** The first entry of that kind that names what is changed, and a ledger in which it says something else. */
function changed(
  kind: EventKind,
  member: string,
  to: (value: never) => unknown,
  again: (event: Event) => Event = (event) => event,
) {
  const good = lived();
  const seq = good.findIndex(({ kind: one, body }) => one === kind && (body as Members)[member] !== null);
  const { body, ...event } = good[seq]!;
  const value = to((body as Members)[member] as never);
  const events = good.with(seq, again({ ...event, body: { ...body, [member]: value } } as Event));
  expect(events).not.toEqual(good);
  return { seq, events, objects: objectsOf(good) };
}

const ACCOUNT = () => ({ host: 'elsewhere', machine: null, uid: 7, user: 'eve' });
const OTHER = () => 'ef'.repeat(32);
const FEWER_ROLES = (approvers: readonly object[]) => approvers.map((one) => ({ ...one, roles: [] }));

const BESIDE: readonly (readonly [EventKind, string, (value: never) => unknown])[] = [
  ['approval.granted', 'decision', OTHER],
  ['order.given', 'decision', OTHER],
  ['order.given', 'approvers', FEWER_ROLES],
  ['intent.submitted', 'decision', OTHER],
  ['intent.delegated', 'decision', OTHER],
  ['break_glass.used', 'decision', OTHER],
  ['execution.claimed', 'presented', OTHER],
  ['execution.claimed', 'policy', OTHER],
  ['execution.claimed', 'decision', OTHER],
];

/** The account of the first approval, where there was none. */
const otherAccount = (again: (event: Event) => Event = (event) => event) => {
  const good = lived();
  const seq = good.findIndex(({ kind }) => kind === 'approval.granted');
  const event = good[seq]!;
  const edited = { ...event, body: { ...event.body, account: ACCOUNT() } } as Event;
  return { seq, events: good.with(seq, again(edited)), objects: objectsOf(good) };
};

describe('what stands beside the signature of a human', () => {
  it.each(BESIDE)('cannot be changed without a key: %s, %s', async (kind, member, to) => {
    const { seq, events, objects } = changed(kind, member, to);
    expect(await deepVerified(events, objects)).toEqual({ seq, code: 'SIGNATURE_INVALID' });
  });

  it('cannot be changed without a key: the account', async () => {
    const { seq, events, objects } = otherAccount();
    expect(await deepVerified(events, objects)).toEqual({ seq, code: 'SIGNATURE_INVALID' });
  });

  it('is what the control plane says, whose key is on its host', async () => {
    const again = (event: Event) => decided([event])[0]!;
    const account = otherAccount(again);
    expect(await deepVerified(account.events, account.objects)).toBeNull();
    const roles = changed('order.given', 'approvers', FEWER_ROLES, again);
    expect(await deepVerified(roles.events, roles.objects)).toBeNull();
    // A decision is still one that the policies made about this act.
    const decision = changed('approval.granted', 'decision', OTHER, again);
    expect(await deepVerifiedWith(decision.events, decision.objects)).toMatchObject({ seq: decision.seq });
  });

  it.each([
    ['an executor', 'host'],
    ['a human', 'ada'],
    ['no one', 'eve'],
  ])('is not signed by the key of %s', async (_, name) => {
    const { seq, events, objects } = otherAccount((event) => decided([event], name)[0]!);
    expect(await deepVerified(events, objects)).toEqual({ seq, code: 'CONTROL_KEY_UNKNOWN' });
  });

  it('is not there without a signature', async () => {
    const { seq, events, objects } = otherAccount(({ body, ...event }) => {
      const { control_key: _, control_signature: __, control_covers: ___, ...bare } = body as ControlProof;
      return { ...event, body: bare } as unknown as Event;
    });
    expect(await deepVerified(events, objects)).toEqual({ seq, code: 'SHAPE_INVALID' });
  });

  it('was signed for this ledger', async () => {
    const elsewhere = originOf('00000000-0000-4000-8000-000000000000', 'default');
    const good = [...governance('ada'), proposed(id(1))];
    const approval = granted(id(1), 'ada');
    expect(await deepVerified([...good, approval], new Map())).toBeNull();
    const foreign = decided([approval], 'control', elsewhere);
    const answer = await deepVerified([...good, ...foreign], new Map());
    expect(answer).toEqual({ seq: good.length, code: 'SIGNATURE_INVALID' });
  });

  it.each([
    ['revoked', [uncontrolled('control', 'ada')], 'CONTROL_KEY_REVOKED'],
    ['replaced', [controlled('newer', 'ada', 'control')], 'DECISION_STALE'],
  ] as const)('is not signed by a key that was %s', async (_, ends, code) => {
    const good = [...governance('ada'), proposed(id(1)), ...ends];
    const answer = await deepVerified([...good, granted(id(1), 'ada')], new Map());
    expect(answer).toEqual({ seq: good.length, code });
    // What it signed before stands.
    const before = [...governance('ada'), proposed(id(1)), granted(id(1), 'ada'), ...ends];
    expect(await deepVerified(before, new Map())).toBeNull();
  });
});

describe('a rehearsal', () => {
  it('names the control key, and is not signed by it', () => {
    const {
      control_key: _,
      control_signature: __,
      control_covers: ___,
      ...body
    } = granted(id(1), 'ada').body;
    const drafted = { kind: 'approval.granted', subject: id(1), body } as const;
    const [rehearsed] = signDecided(ORIGIN, [drafted], { public_key: keyOf('control'), key: null });
    expect(parseEvent(rehearsed!)).toEqual(rehearsed);
    expect(rehearsed!.body).toMatchObject({ control_key: keyOf('control'), control_covers: null });
    expect(() => verifyFact(ORIGIN, rehearsed!)).toThrow('does not verify');
  });
});

describe('one signature of the control plane for several entries', () => {
  const begin = [...governance('ada'), proposed(id(1)), proposed(id(2))];
  const together = () =>
    decided([granted(id(1), 'ada'), granted(id(2), 'ada')]) as Event<'approval.granted'>[];

  it('is one, and each entry verifies alone', async () => {
    const [one, two] = together();
    expect(one!.body.control_signature).toBe(two!.body.control_signature);
    expect(one!.body.control_covers).toHaveLength(2);
    for (const events of [[one!, two!], [two!, one!], [one!], [two!]])
      expect(await deepVerified([...begin, ...events], new Map())).toBeNull();
  });

  it('does not cover another entry', async () => {
    const [one, two] = together();
    const { control_key, control_signature, control_covers } = one!.body;
    const other = decided([granted(id(2), 'ada')])[0]!;
    const moved = {
      ...other,
      body: { ...other.body, control_key, control_signature, control_covers },
    } as Event;
    // The very act that it covers.
    expect(await deepVerified([...begin, moved], new Map())).toBeNull();
    const changed = { ...two!, body: { ...two!.body, account: ACCOUNT() } } as Event;
    // Right behind the one with the same signature, which was verified by then.
    const answer = await deepVerified([...begin, one!, changed], new Map());
    expect(answer).toEqual({ seq: begin.length + 1, code: 'SIGNATURE_INVALID' });
  });

  it('is over the list as it stands in the entry', async () => {
    const [one, two] = together();
    const { control_covers } = one!.body;
    const lists = [null, control_covers!.toReversed(), [control_covers![0]!, 'ef'.repeat(32)]];
    for (const list of lists) {
      const edited = { ...one!, body: { ...one!.body, control_covers: list } } as Event;
      const answer = await deepVerified([...begin, two!, edited], new Map());
      expect(answer).toEqual({ seq: begin.length + 1, code: 'SIGNATURE_INVALID' });
    }
  });
});

describe('what stands beside in a rollback and with a new key', () => {
  it('is covered by the executor, and by that key', async () => {
    const good = lived();
    for (const [kind, member] of [
      ['rollback.claimed', 'executor'],
      ['credential.added', 'own'],
    ] as const) {
      const seq = good.findIndex(
        ({ kind: one, body }) => one === kind && typeof (body as Members)[member] !== 'undefined',
      );
      const event = good[seq]!;
      expect(isSigned(event)).toBe(true);
      const value =
        member === 'own'
          ? Buffer.alloc(64, 1).toString('base64')
          : { host: 'elsewhere', boot_id: 'boot', pid: 1, started: '1' };
      const edited = { ...event, body: { ...event.body, [member]: value } } as Event;
      const answer = await deepVerified(good.with(seq, edited), objectsOf(good));
      expect(answer).toEqual({ seq, code: 'SIGNATURE_INVALID' });
    }
  });
});
