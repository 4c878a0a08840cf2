import { describe, expect, it } from 'vitest';
import { derivePlan } from '../../src/plan/derive.ts';
import { ReusedMemory } from '../../src/plan/reused-memory.ts';
import { scratch } from '../support/scratch.ts';
import { lay, modify, plan } from './engine/story.ts';

describe('memory that each action takes again', () => {
  it('is the same for the next action, and another for a second content of one action', () => {
    const memory = new ReusedMemory();
    const [first, second] = [memory.take(100), memory.take(100)];
    expect(second.buffer).not.toBe(first.buffer);
    memory.release();
    const [next, after] = [memory.take(60), memory.take(100)];
    expect(next.buffer).toBe(first.buffer);
    expect(next).toHaveLength(60);
    expect(after.buffer).toBe(second.buffer);
  });

  it('is given back when an action does not need it', () => {
    const memory = new ReusedMemory();
    const [, second] = [memory.take(100), memory.take(100)];
    memory.release();
    memory.take(100);
    memory.release();
    memory.take(100);
    expect(memory.take(100).buffer).not.toBe(second.buffer);
  });

  it('shows no byte of an action before', async () => {
    const root = scratch();
    const texts = ['a long text: one\n', 'b: one\n', 'the longest text of them all: one\n', 'c: one'];
    lay(root, Object.fromEntries(texts.map((text, i) => [`f${i}`, text])));
    const shown: (string | undefined)[][] = [];
    const textOf = (bytes: Uint8Array | null) => (bytes ? Buffer.from(bytes).toString() : undefined);
    await derivePlan({
      plan: plan(texts.map((_, i) => modify(String(i), `f${i}`, 'one', 'twelve'))),
      root,
      config_digest: null,
      visit: async ({ before, after }) => {
        shown.push([textOf(await before()), textOf(await after())]);
      },
    });
    expect(shown).toEqual(texts.map((text) => [text, text.replace('one', 'twelve')]));
  });
});
