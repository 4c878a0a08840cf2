import { expect, it } from 'vitest';
import { turnsOf } from '../src/turns.ts';

it('a turn that is short goes on', () => {
  const turns = turnsOf(Number.POSITIVE_INFINITY);
  expect([turns(), turns(), turns()]).toEqual([null, null, null]);
});

it('one that is long ends, and all who ask in it go on together in the next, which is a new one', async () => {
  const turns = turnsOf(0);
  expect(turns()).toBeNull();
  const said: string[] = [];
  const go = async (name: string) => {
    await turns();
    said.push(name);
  };
  const all = [go('one'), go('two')];
  setImmediate(() => said.push('another'));
  expect(said).toEqual([]);
  await Promise.all(all);
  expect(said).toEqual(['one', 'two']);
  expect(turns()).toBeNull();
});
