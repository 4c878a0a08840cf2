import { describe, expect, it } from 'vitest';
import { stepGate } from '../../src/journey/steps.ts';

/** So many callers come at once; each step takes so long. How many steps each turn of the event loop held, those without any left out. */
async function turnsOf(callers: number, takes_ms: (caller: number) => number): Promise<number[]> {
  let now_ms = 0;
  let turn = 0;
  let is_over = false;
  const count = () => {
    turn += 1;
    if (!is_over) setImmediate(count);
  };
  setImmediate(count);
  const step = stepGate(() => now_ms);
  const seen: { caller: number; turn: number }[] = [];
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      await step();
      now_ms += takes_ms(caller);
      // What it reads is there at once, as rows of SQLite are: that is no wait.
      await Promise.resolve();
      seen.push({ caller, turn });
    }),
  );
  is_over = true;
  expect(seen.map(({ caller }) => caller)).toEqual(Array.from({ length: callers }, (_, i) => i));
  const held = new Map<number, number>();
  for (const one of seen) held.set(one.turn, (held.get(one.turn) ?? 0) + 1);
  return [...held.values()];
}

describe('the gate for the steps of many callers', () => {
  it('lets a caller that is alone through at once, again and again', async () => {
    const step = stepGate();
    let turned = false;
    const mark = setImmediate(() => {
      turned = true;
    });
    for (let i = 0; i < 3; i++) {
      await step();
      await new Promise<void>((resolve) => process.nextTick(resolve));
    }
    expect(turned).toBe(false);
    clearImmediate(mark);
  });

  it('lets as many go on together as fit into a turn, by how long the last ones took', async () => {
    expect(await turnsOf(9, () => 10)).toEqual([1, 2, 2, 2, 2]);
    expect(await turnsOf(5, () => 100)).toEqual([1, 1, 1, 1, 1]);
  });

  it('lets twelve go on together at most, and at most twice as many as before', async () => {
    expect(await turnsOf(40, () => 0.1)).toEqual([1, 2, 4, 8, 12, 12, 1]);
  });

  it('lets fewer go on after a step that took long', async () => {
    expect(await turnsOf(12, (caller) => (caller === 3 ? 60 : 1))).toEqual([1, 2, 4, 1, 2, 2]);
  });
});
