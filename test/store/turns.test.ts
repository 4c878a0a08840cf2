import { describe, expect, it } from 'vitest';
import type { Store } from '../../src/store/store.ts';
import { made, opened } from './sqlite-file.ts';

/** A file answers at once, so a caller who waits for nothing else would keep the event loop for as long as it reads. */

/** Far more than fit into a turn, and few enough to end where no other ever has its turn. */
const MOST = 100_000;

/** How often it was asked until something else had its turn. */
async function asked(ask: (store: Store) => Promise<unknown>): Promise<number> {
  const store = await opened(await made(), 'read');
  let others = false;
  let count = 0;
  try {
    await ask(store);
    setImmediate(() => {
      others = true;
    });
    for (; !others && count < MOST; count++) await ask(store);
    return count;
  } finally {
    await store.close();
  }
}

async function all(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}

describe('a store in a file that is read again and again lets others have their turn', () => {
  it.each<[string, (store: Store) => Promise<unknown>]>([
    ['one row at a time', (store) => store.find('principal', 'ada')],
    ['what is there now', (store) => store.tip()],
    ['a page', (store) => store.page('intent', { limit: 10 })],
    ['its entries', (store) => all(store.entries())],
    ['its objects', (store) => all(store.objects())],
  ])('%s', async (_, ask) => {
    expect(await asked(ask)).toBeLessThan(MOST);
  });
});
