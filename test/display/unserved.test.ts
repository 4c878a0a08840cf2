import { expect, it } from 'vitest';
import { hasNoExecutor, isUnserved } from '../../src/display/unserved.ts';

const waits = (enrolled: number, running: number, is_here = false) => ({
  executor: 'database',
  enrolled,
  running,
  is_here,
});

it('an order is unserved where executors are enrolled, none runs, and this host is none of them', () => {
  expect(isUnserved(waits(1, 0))).toBe(true);
  expect(isUnserved(waits(2, 1))).toBe(false);
  expect(isUnserved(waits(1, 0, true))).toBe(false);
  expect(isUnserved(null)).toBe(false);
});

it('an order that no enrolled executor could take is told apart', () => {
  expect([hasNoExecutor(waits(0, 0)), isUnserved(waits(0, 0))]).toEqual([true, false]);
  expect([hasNoExecutor(waits(1, 0)), hasNoExecutor(null)]).toEqual([false, false]);
});
