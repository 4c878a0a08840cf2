import { describe, expect, it, onTestFinished } from 'vitest';
import { watchWhile } from '../../src/effect/watching.ts';
import { limits } from '../../src/limits.ts';
import { until } from '../support/processes.ts';

/** A watch that counts its looks, and finds what `found` says. */
function watching(found: () => string | null = () => null) {
  const began_ms = performance.now();
  const looks_ms: number[] = [];
  const watch = watchWhile<string>({
    look: async () => {
      looks_ms.push(performance.now() - began_ms);
      return found();
    },
    failed: String,
    late: () => 'late',
  });
  onTestFinished(() => watch.stop());
  return { watch, looks_ms };
}

describe('a look that a hint asks for', () => {
  it('comes before the one by the clock, and what it finds ends the action', async () => {
    const { watch, looks_ms } = watching(() => 'frozen');
    watch.lookSoon();
    await until(() => watch.signal.aborted);
    expect(watch.found()).toBe('frozen');
    expect(looks_ms).toHaveLength(1);
  });

  it('comes once for however many hints, and not at once after the last look', async () => {
    const { watch, looks_ms } = watching();
    for (let i = 0; i < 1000; i++) watch.lookSoon();
    await until(() => looks_ms.length === 1);
    for (let i = 0; i < 1000; i++) watch.lookSoon();
    await until(() => looks_ms.length === 2);
    const [first, second] = looks_ms as [number, number];
    // A timer of node may fire a millisecond early.
    expect(first).toBeGreaterThanOrEqual(limits.watch_told_ms - 2);
    expect(second - first).toBeGreaterThanOrEqual(limits.watch_told_ms - 2);
  });

  it('does not come after the end', async () => {
    const ended = watching();
    ended.watch.lookSoon();
    ended.watch.stop();
    const other = watching();
    await until(() => other.looks_ms.length === 2);
    expect(ended.looks_ms).toEqual([]);
  });
});
