import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Recent } from '../../src/canonical/recent.ts';

describe('a memory of bounded size', () => {
  it('forgets what was asked for or set longest ago, and nothing else', () => {
    const memory = new Recent<string, number>(3);
    for (const [i, key] of ['a', 'b', 'c'].entries()) memory.set(key, i);
    expect(memory.get('a')).toBe(0);
    memory.set('d', 3);
    expect(['a', 'b', 'c', 'd'].map((key) => memory.get(key))).toEqual([0, undefined, 2, 3]);
    memory.set('a', 7);
    memory.set('e', 4);
    expect(['a', 'c', 'd', 'e'].map((key) => memory.get(key))).toEqual([7, undefined, 3, 4]);
  });

  it('holds what a plain list of the most recent would, whatever is set, asked for and deleted', () => {
    const act = fc.tuple(fc.constantFrom('set', 'get', 'delete'), fc.integer({ min: 0, max: 9 }));
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.array(act, { maxLength: 200 }), (most, acts) => {
        const memory = new Recent<number, number>(most);
        let list: [key: number, value: number][] = [];
        for (const [i, [what, key]] of acts.entries()) {
          const held = list.find(([each]) => each === key);
          if (what === 'get') expect(memory.get(key)).toBe(held?.[1]);
          if (what === 'set') memory.set(key, i + 1);
          if (what === 'delete') memory.delete(key);
          list = list.filter((each) => each !== held);
          const now = what === 'set' ? i + 1 : what === 'get' ? held?.[1] : undefined;
          if (now !== undefined) list = [...list, [key, now] as [number, number]].slice(-most);
        }
        expect(Array.from({ length: 10 }, (_, key) => memory.get(key))).toEqual(
          Array.from({ length: 10 }, (_, key) => list.find(([each]) => each === key)?.[1]),
        );
      }),
    );
  });

  it('forgets the oldest of many about as fast as the oldest of few', () => {
    const us = (most: number) => {
      const memory = new Recent<number, true>(most);
      for (let i = 0; i < most; i++) memory.set(i, true);
      const laps = Array.from({ length: 5 }, (_, lap) => {
        const from_ms = performance.now();
        for (let i = 0; i < 20_000; i++) memory.set(most + 20_000 * lap + i, true);
        return (performance.now() - from_ms) / 20;
      });
      return Math.min(...laps.slice(1));
    };
    const [few, many] = [us(10), us(100_000)];
    // A look from the front passes all that was deleted there, thousands of entries.
    expect(many).toBeLessThan(60 * few);
  });

  it('takes no more memory however often it is asked', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const memory = new Recent<number, number>(1_000);
    for (let i = 0; i <= 1_000; i++) memory.set(i, i);
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < 1_000_000; i++) memory.get(1 + (i % 1_000));
    collect();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(4_000_000);
    expect(memory.get(1)).toBe(1);
  });

  it('forgets what it is told to', () => {
    const memory = new Recent<string, number>(3);
    memory.set('a', 1);
    memory.delete('a');
    expect(memory.get('a')).toBeUndefined();
  });
});
