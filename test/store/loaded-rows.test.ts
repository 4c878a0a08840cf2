import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { verifierOf } from '../../src/fold/ledger.ts';
import type { Row } from '../../src/fold/row.ts';
import { limits } from '../../src/limits.ts';
import { checkCommit } from '../../src/store/decide.ts';
import { draftBatch } from '../../src/store/draft.ts';
import { groupCommit } from '../../src/store/group.ts';
import { areProven, loadedRowsOf, MissedRows, NotLoaded, wantedOf } from '../../src/store/loaded-rows.ts';
import { begun, claimed, DIGEST, enrolled, erased, issued, ORIGIN, proposed, refused } from './facts.ts';
import { NOON } from './place.ts';

const NOTHING = { rows: new Map(), claims: [], objects: [] };
const NONE = { rows: [], claims: new Set<string>(), objects: new Set<string>() };
const EMPTY = { size: 0, last: '0'.repeat(64), at: null, frontier: [] };

describe('what a decision looks at', () => {
  it('is asked for when it was not loaded, and never guessed', () => {
    const { ledger, learn } = loadedRowsOf('default');
    for (const look of [
      () => ledger.row('intent', 'a'),
      () => ledger.row('system', 'system'),
      () => ledger.isClaimed('c'),
      () => ledger.holdsObject(DIGEST),
    ])
      expect(look).toThrow(NotLoaded);
    learn(NOTHING, NONE);
    expect(ledger.row('system', 'system')).toBeNull();
    expect(() => ledger.row('intent', 'a')).toThrow(NotLoaded);
    learn({ ...NOTHING, rows: new Map([['intent a', ['intent', 'a']]]), claims: ['c'] }, NONE);
    expect([ledger.row('intent', 'a'), ledger.isClaimed('c')]).toEqual([null, false]);
  });

  it('can be presumed absent only where the write itself proves it', () => {
    const loaded = loadedRowsOf('default');
    loaded.learn(NOTHING, NONE);
    const { ledger, presumed } = loaded.presuming();
    const id = randomUUID();
    const commit = checkCommit(
      { events: [begun(), enrolled('ada'), proposed(id, { proposer: 'ada' })] },
      verifierOf('default', null),
    );
    const draft = draftBatch('default', [commit], EMPTY, NOON, ledger);
    const made = draft.rows.map(({ row }) => row);
    expect(areProven(presumed, made)).toBe(true);
    expect(ledger.row('capability', 'c')).toBeNull();
    expect(areProven(presumed, made)).toBe(false);
  });

  it('is guessed well enough that the usual commits need nothing more', () => {
    const id = randomUUID();
    const events = [...issued(id, 'ada'), claimed(id), refused(id), erased(DIGEST, 'ada')];
    const { rows, claims, objects } = wantedOf([
      checkCommit({ claims: ['c'], events, erase: [DIGEST] }, verifierOf('default', ORIGIN)),
    ]);
    const names = [...rows.values()].map(([name]) => name).toSorted();
    expect(names).toEqual(['capability', 'dispatched', 'execution', 'intent', 'principal']);
    expect(claims.map((claim) => claim.split(':')[0])).toEqual([
      'c',
      'act',
      'execution',
      'capability',
      'erased',
    ]);
    expect(objects).toEqual([DIGEST]);
  });

  it('is loaded at once when a decision before it missed it, but not without end', () => {
    const missed = new MissedRows();
    const want = (key: string) => ({
      ...NOTHING,
      rows: new Map([[`quota ${key}`, ['quota', key] as const]]),
    });
    for (let i = 0; i < 100; i++) missed.add(want(`agent-${i}`));
    missed.add(want('agent-90'));
    const { rows, claims } = missed.with({ ...want('planner'), claims: ['c'] });
    expect(rows.size).toBe(17);
    expect([...rows.keys()].slice(-2)).toEqual(['quota agent-90', 'quota planner']);
    expect(claims).toEqual(['c']);
  });

  it('is kept from one commit to the next, but not without end', () => {
    const { ledger, absorb, learn, trim } = loadedRowsOf('default');
    learn(NOTHING, NONE);
    const row = (key: string) => ({ name: 'execution', key, seq: 0, state: {} }) as unknown as Row;
    absorb([row('first')]);
    trim();
    expect(ledger.row('execution', 'first')).not.toBeNull();
    absorb(Array.from({ length: 3_000 }, (_, i) => row(`${i}`)));
    trim();
    expect(() => ledger.row('execution', 'first')).toThrow(NotLoaded);
    // What was put last stays: runs that are under way are among these.
    expect(ledger.row('execution', '2999')).not.toBeNull();
    expect(() => ledger.row('execution', '0')).toThrow(NotLoaded);
  });
});

describe('a group of commits', () => {
  it('gathers while the one before it is under way, and is answered one by one', async () => {
    const batches: number[][] = [];
    let begun = () => {};
    const first_begun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const group = groupCommit<number, number>(
      async (batch) => {
        batches.push([...batch]);
        begun();
        await ended;
        return batch.map((n) => (n % 2 ? { answer: n } : { error: n }));
      },
      (waiting) => Math.min(waiting.length, 3),
    );
    const first = group.ask(1);
    await first_begun;
    const rest = [2, 3, 4, 5].map((n) => group.ask(n));
    end();
    const outcomes = await Promise.allSettled([first, ...rest]);
    expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual([true, false, true, false, true]);
    expect(batches).toEqual([[1], [2, 3, 4], [5]]);
    await group.answered();
  });

  it('waits for what was asked until now, and not for a caller who asks again and again', async () => {
    const group = groupCommit<number, number>(
      async (batch) => batch.map((answer) => ({ answer })),
      (waiting) => waiting.length,
    );
    let is_over = false;
    let asked = 0;
    const asks = async () => {
      for (let n = 0; !is_over && n < 1_000; n++) await group.ask(n).then(() => asked++);
    };
    const asking = asks();
    const answered = group.ask(-1);
    await group.answered();
    expect(await Promise.race([answered, 'not yet'])).toBe(-1);
    expect(asked).toBeLessThan(10);
    is_over = true;
    await asking;
  });

  it('answers so many in one turn of the event loop, and all before the next batch is cut', async () => {
    const batches: number[] = [];
    const group = groupCommit<number, number>(
      async (batch) => {
        batches.push(batch.length);
        return batch.map((answer) => ({ answer }));
      },
      (waiting) => waiting.length,
    );
    let turn = 0;
    const answered: number[] = [];
    const count = 4 * limits.answers_turn + 1;
    let is_over = false;
    const tick = () => {
      turn += 1;
      if (!is_over) setImmediate(tick);
    };
    setImmediate(tick);
    const caller = async () => {
      await group.ask(1);
      answered[turn] = (answered[turn] ?? 0) + 1;
      await group.ask(2);
    };
    await Promise.all(Array.from({ length: count }, caller));
    is_over = true;
    expect(Math.max(...Object.values(answered))).toBe(limits.answers_turn);
    expect(batches).toEqual([count, count]);
  });

  it('shares a failure, and goes on after it', async () => {
    let fails = true;
    const group = groupCommit<number, number>(
      async (batch) => {
        if (fails) throw new Error('no');
        return batch.map((answer) => ({ answer }));
      },
      (waiting) => waiting.length,
    );
    const outcomes = await Promise.allSettled([group.ask(1), group.ask(2)]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    fails = false;
    expect(await group.ask(3)).toBe(3);
  });
});
