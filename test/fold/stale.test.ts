import { describe, expect, it } from 'vitest';
import { type Event, isSigned } from '../../src/event/event.ts';
import { act, broken, frozen, granted, issuedUnder, ordered, proposed } from '../store/facts.ts';
import { governance } from '../store/place.ts';
import { deepVerified, objectsOf, onSqlite, storeJudges } from './judges.ts';
import { id, lived, timeOf } from './lived.ts';
import { ROWS, STALE } from './stale.ts';

const { committed } = storeJudges(onSqlite);
const A = id(1);
const begins = governance('ada', 'bo', 'cy');

describe('an act that waited for its signature', () => {
  it('is told for every kind of event that is signed', () => {
    const kinds = new Set(
      lived()
        .filter(isSigned)
        .map(({ kind }) => kind),
    );
    expect(Object.keys(ROWS).sort()).toEqual([...kinds].sort());
  });

  it.each(STALE)('is refused where what was shown changed: $kind $n, $code', async (one) => {
    const { stale, current, code } = one;
    for (const judge of [deepVerified, committed]) {
      if (current) expect(await judge(current, objectsOf(current))).toBeNull();
      expect(await judge(stale, objectsOf(stale))).toEqual({ seq: stale.length - 1, code });
    }
  });
});

describe('a break-glass', () => {
  it('does not go past a freeze that was made after it was signed', async () => {
    const drawn = begins.length;
    const ready = [
      proposed(A),
      granted(A, 'cy'),
      ordered(A, 'ada', { approvers: [{ name: 'cy', roles: [] }] }),
    ];
    const signed = new Date(timeOf(drawn + ready.length - 1));
    const glass = (name: string) => {
      const { signature: _, key: __, by: ___, signed_at: ____, ...facts } = broken(A, name).body;
      return act('break_glass.used', A, facts as never, name, { at: signed });
    };
    const under = issuedUnder(A, { approvers: [{ name: 'cy', roles: [] }] });
    const [ada, bo] = [glass('ada'), glass('bo')];
    const codeOf = async (...events: Event[]) => (await deepVerified(events, new Map()))?.code;
    expect(await codeOf(...begins, ...ready, frozen('ada'), ada, bo, under)).toBe('FROZEN');
    expect(await codeOf(...begins, ...ready, ada, bo, under)).toBeUndefined();
  });
});
