import { describe, expect, it } from 'vitest';
import type { Event } from '../../src/event/event.ts';
import { FoldedLedger, VerifiedEntries } from '../../src/fold/ledger.ts';
import { ReadEntries, type Tellable } from '../../src/fold/read.ts';
import { openEntry, type SealedEntry, sealEntry } from '../../src/ledger/entry.ts';
import { ORIGIN } from '../store/facts.ts';
import { expectRefusal } from '../support/refusal.ts';
import { sealed } from './judges.ts';
import { lived } from './lived.ts';

const NOTHING: ReadonlyMap<number, SealedEntry> = new Map();

const fresh = () => new ReadEntries('default', ORIGIN, new VerifiedEntries());

const read = (entries: readonly SealedEntry[]) => {
  const made = fresh();
  for (const one of entries) made.append(one);
  return made;
};

/** Everything that these events can be asked about. */
function askable(events: readonly Event[]): (readonly [Tellable, string])[] {
  const asked = new Map<string, readonly [Tellable, string]>();
  for (const { kind, subject } of events) {
    const [prefix, key = ''] = subject.split(':');
    if (kind === 'intent.proposed') asked.set(subject, ['intent', subject]);
    if (prefix === 'agent' || prefix === 'simulation') asked.set(subject, [prefix, key]);
  }
  return [...asked.values()];
}

const people = (events: readonly Event[]) =>
  new Set(events.flatMap(({ kind, subject }) => (kind === 'key.enrolled' ? [subject] : [])));
const delegations = (events: readonly Event[]) =>
  new Set(events.flatMap(({ kind, subject }) => (kind === 'delegation.granted' ? [subject] : [])));

describe('entries that were read', () => {
  it('tell at every size what the fold of the whole ledger tells', () => {
    const events = lived();
    const entries = sealed(events);
    const whole = new FoldedLedger({ is_whole: true });
    const step = fresh();
    const asked = new Set<Tellable>();
    for (const [i, one] of entries.entries()) {
      whole.take(openEntry(one.bytes));
      step.append(one);
      const before = events.slice(0, i + 1);
      // Once with what was folded before, and once from the first entry on.
      for (const reader of i === entries.length - 1 ? [step, read(entries)] : [step]) {
        for (const [name, key] of askable(before)) {
          asked.add(name);
          const told = reader.tell(name, key, NOTHING)!;
          expect(told.state).toEqual(whole.state(name, key));
          expect(told.size).toBe(i + 1);
        }
        const { system, authorities } = reader.state();
        expect(system).toEqual(whole.system);
        for (const name of people(before))
          expect(authorities.principal(name)).toEqual(whole.state('principal', name));
        for (const id of delegations(before))
          expect(authorities.delegation(id)).toEqual(whole.state('delegation', id));
      }
    }
    expect([...asked].sort()).toEqual(['agent', 'intent', 'simulation']);
  });

  it('are judged by the keys of their own moment, and what is asked stays as it was then', () => {
    const events = lived();
    const entries = sealed(events);
    const reader = read(entries.slice(0, 3));
    const { authorities, system } = reader.state();
    const [name] = people(events);
    const then = [authorities.principal(name!), system];
    for (const one of entries.slice(3)) reader.append(one);
    expect([authorities.principal(name!), system]).toEqual(then);
  });

  it('are refused where one is missing, twice, of another ledger or of an earlier time', async () => {
    const entries = sealed(lived());
    const [first, second, third] = entries as [SealedEntry, SealedEntry, SealedEntry];
    await expectRefusal('LEDGER_BROKEN', () => read([first, third]));
    await expectRefusal('LEDGER_BROKEN', () => read([first, second, second]));
    await expectRefusal('LEDGER_FORKED', () =>
      new ReadEntries('default', 'another', new VerifiedEntries()).append(first),
    );
    await expectRefusal('LEDGER_BROKEN', () =>
      new ReadEntries('other', ORIGIN, new VerifiedEntries()).append(first),
    );
    const early = sealEntry({ ...openEntry(third.bytes), at: '2000-01-01T00:00:00.000Z' });
    await expectRefusal('LEDGER_BROKEN', () => read([first, second, early]));
    const forged = { ...second, bytes: third.bytes };
    await expectRefusal('LEDGER_BROKEN', () => read([first, forged]));
  });

  it('are asked for again by number, and another one in their place is refused', async () => {
    const events = lived();
    const [, intent] = askable(events).find(([name]) => name === 'intent')!;
    const own = (one: SealedEntry) => openEntry(one.bytes).subject === intent;
    const entries = sealed(events);
    const refusals = { reason_code: 'HASH_MISMATCH', decision: null } as const;
    const other = events.find(
      ({ kind, subject }) => kind === 'intent.proposed' && subject !== intent,
    )!.subject;
    const many = Array.from(
      { length: 1001 },
      (): Event => ({ kind: 'intent.refused', subject: other, body: refusals }),
    );
    const long = sealed([...events, ...many]);
    const reader = read(long);
    const missing = reader.missing('intent', intent, NOTHING);
    expect(missing).toEqual(entries.filter(own).map(({ seq }) => seq));
    const [first] = missing as [number];
    await expectRefusal('LEDGER_BROKEN', () => reader.tell('intent', intent, NOTHING));
    const wrong = new Map(missing.map((seq) => [seq, long[seq]!]));
    await expectRefusal('LEDGER_BROKEN', () =>
      reader.tell(
        'intent',
        intent,
        new Map(wrong).set(first, { ...long[first]!, bytes: long[first + 1]!.bytes }),
      ),
    );
    expect(reader.tell('intent', intent, wrong)!.state).toEqual(
      read(entries).tell('intent', intent, NOTHING)!.state,
    );
    expect(reader.missing('intent', intent, NOTHING)).toEqual([]);
  });
});
