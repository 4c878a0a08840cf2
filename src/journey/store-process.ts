/** The helper of `store-aside.ts`. It opens the file to read it, and writes nothing. */

import { workAside } from '../effect/aside-process.ts';
import { openSqliteStore } from '../store/sqlite/store.ts';
import type { Rebuild } from '../store/store.ts';
import type { StoreFile } from './store-aside.ts';

workAside(async ({ path, tenant }: StoreFile): Promise<Rebuild> => {
  const store = await openSqliteStore({ path, tenant, clock: () => new Date(), mode: 'read' });
  try {
    return await store.rebuild({ write: false });
  } finally {
    await store.close();
  }
});
