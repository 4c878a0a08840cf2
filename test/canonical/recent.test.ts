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

  it('forgets what it is told to', () => {
    const memory = new Recent<string, number>(3);
    memory.set('a', 1);
    memory.delete('a');
    expect(memory.get('a')).toBeUndefined();
  });
});
