import { describe, expect, it, onTestFinished } from 'vitest';
import { ownServiceState } from '../../src/project/service-state.ts';
import type { ServiceState } from '../../src/store/store.ts';
import { until } from '../support/processes.ts';
import { postgres } from './postgres-place.ts';

const server = postgres();

const STATES: Record<string, () => Promise<readonly [ServiceState, ServiceState]>> = {
  'in one process': async () => {
    const only = ownServiceState();
    return [only, only];
  },
  'in PostgreSQL, of two processes': async () => {
    const tenant = `state-${Math.random()}`;
    const stores = [await server().open('create', { tenant }), await server().open('write', { tenant })];
    onTestFinished(async () => void (await Promise.all(stores.map((one) => one.close()))));
    return [stores[0]!.service_state!, stores[1]!.service_state!];
  },
};

describe.each(Object.entries(STATES))('what services remember, %s', (_, opened) => {
  const row = (key: string, value = key, ttl_ms = 60_000) => ({ key, value, ttl_ms });

  it('is there for both until it is replaced, taken or over', async () => {
    const [a, b] = await opened();
    await a.put('kind', row('x'), 10);
    expect(await b.get('kind', 'x')).toBe('x');
    expect(await b.get('other', 'x')).toBeNull();
    await b.put('kind', row('x', 'newer'), 10);
    expect(await a.get('kind', 'x')).toBe('newer');
    const taken = await Promise.all([a, b].map((one) => one.take('kind', 'x')));
    expect(taken.toSorted()).toEqual(['newer', null]);
    await a.put('kind', row('x', 'short', 1), 10);
    await until(async () => (await b.get('kind', 'x')) === null);
    expect([await b.get('kind', 'x'), await b.take('kind', 'x'), await b.list('kind')]).toEqual([
      null,
      null,
      [],
    ]);
  });

  it('is swapped by one of two, and by none that saw something else', async () => {
    const [a, b] = await opened();
    await a.put('kind', row('x', '1'), 10);
    const swaps = await Promise.all(
      [a, b].map((one, n) => one.swap('kind', 'x', { from: '1', to: `by ${n}` })),
    );
    expect(swaps.toSorted()).toEqual([false, true]);
    expect(await a.swap('kind', 'x', { from: '1', to: '3' })).toBe(false);
    expect(await a.swap('kind', 'none', { from: '1', to: '3' })).toBe(false);
  });

  it('is listed by the beginning of its key, which is no pattern', async () => {
    const [a, b] = await opened();
    for (const key of ['a.1', 'a.2', 'ab', '%', 'a_1']) await a.put('kind', row(key), 10);
    const keys = async (beginning?: string) => (await b.list('kind', beginning)).map(({ key }) => key);
    expect(await keys('a.')).toEqual(['a.1', 'a.2']);
    expect(await keys('%')).toEqual(['%']);
    expect(await keys('a_')).toEqual(['a_1']);
    expect(await keys()).toHaveLength(5);
  });

  it('is of so many at most: the oldest goes', async () => {
    const [a, b] = await opened();
    for (const key of ['1', '2', '3', '4']) await a.put('kind', row(key), 3);
    expect((await b.list('kind')).map(({ key }) => key)).toEqual(['2', '3', '4']);
  });

  it('is leased to one holder, again to the same, and to another when it is over', async () => {
    const [a, b] = await opened();
    expect(await a.lease('turn', 'x', 'a', 60_000)).toBe(true);
    expect(await a.lease('turn', 'x', 'a', 60_000)).toBe(true);
    expect(await b.lease('turn', 'x', 'b', 60_000)).toBe(false);
    expect(await a.lease('turn', 'x', 'a', 0)).toBe(true);
    expect(await b.lease('turn', 'x', 'b', 60_000)).toBe(true);
    expect(await a.lease('turn', 'x', 'a', 0)).toBe(false);
  });
});
