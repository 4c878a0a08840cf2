import { expect, it, onTestFinished } from 'vitest';
import { waitFor } from '../../src/journey/wait.ts';
import { journeyLimits } from '../../src/limits.ts';
import { readConfig } from '../../src/project/config.ts';
import { journeyContext } from '../../src/project/context.ts';
import { requireProject } from '../../src/project/layout.ts';
import { openLedger } from '../../src/project/open.ts';
import type { Store } from '../../src/store/store.ts';
import { SILENT } from '../../src/telemetry.ts';
import { elapsed, until } from '../support/processes.ts';
import { authority, proposeSay } from './authority.ts';

const WAITERS = 1_000;
const LOOKS = 8;

/** The same store, and what is called in it. */
function counted(store: Store, calls: string[]): Store {
  return new Proxy(store, {
    get: (_, name) => {
      const found = Reflect.get(store, name);
      if (typeof found !== 'function') return found;
      return (...given: unknown[]) => {
        calls.push(String(name));
        return Reflect.apply(found, store, given);
      };
    },
  });
}

it('1,000 who wait read the store as often as one does, while nothing happens', async () => {
  const p = await authority();
  const { intent_id } = await proposeSay(p);
  const layout = requireProject(p.root);
  const config = readConfig(layout);
  const clock = () => new Date();
  const ledger = await openLedger(layout, config, { clock, mode: 'read' });
  const calls: string[] = [];
  const store = counted(ledger.store, calls);
  const context = journeyContext(layout, config, { ...ledger, store }, clock, SILENT, null);
  const gone = new AbortController();
  const waiters: Promise<unknown>[] = [];
  onTestFinished(async () => {
    gone.abort();
    await Promise.allSettled(waiters);
    await ledger.store.close();
  });

  /** What is read once all have looked for the first time: each asks for its result, and then sees nothing new. */
  const readBy = async (count: number) => {
    calls.length = 0;
    while (waiters.length < count) waiters.push(waitFor(context, intent_id, { signal: gone.signal }));
    await until(() => calls.includes('find') && calls.slice(-5).join() === 'tip,tip,tip,tip,tip');
    calls.length = 0;
    await elapsed(LOOKS * journeyLimits.ledger_look_ms, 'what is read while nothing happens is counted');
    return [...calls];
  };
  const [by_one, by_all] = [await readBy(1), await readBy(WAITERS)];
  for (const calls_made of [by_one, by_all]) expect(new Set(calls_made)).toEqual(new Set(['tip']));
  expect(by_all.length).toBeLessThanOrEqual(LOOKS + 1);
});
