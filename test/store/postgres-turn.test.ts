import { describe, expect, it } from 'vitest';
import { askedInOneTurn } from '../../src/store/postgres/turn.ts';

function counting(answer: (request: number) => number = (request) => request * 2) {
  const asked: (readonly number[])[] = [];
  const ask = askedInOneTurn(String, async (requests: readonly number[]) => {
    asked.push(requests);
    return requests.map(answer);
  });
  return { asked, ask };
}

describe('what is asked in one turn of the event loop', () => {
  it('is asked once, and each caller gets the answer to what it asked', async () => {
    const { asked, ask } = counting();
    const later = (async () => {
      await null;
      return ask(3);
    })();
    expect(await Promise.all([ask(1), ask(2), ask(1), later])).toEqual([2, 4, 2, 6]);
    expect(asked).toEqual([[1, 2, 3]]);
  });

  it('is not answered with what was asked before it', async () => {
    let value = 1;
    const { asked, ask } = counting(() => value);
    expect(await ask(0)).toBe(1);
    value = 2;
    expect(await ask(0)).toBe(2);
    expect(asked).toHaveLength(2);
  });

  it('fails together, and the next turn does not fail with it', async () => {
    let fails = true;
    const { ask } = counting((request) => {
      if (fails) throw new Error('away');
      return request;
    });
    const outcomes = await Promise.allSettled([ask(1), ask(2)]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    fails = false;
    expect(await ask(1)).toBe(1);
  });
});
