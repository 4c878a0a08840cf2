import { join } from 'node:path';
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import { scratch } from '../support/scratch.ts';
import { begun, enrolled, proposed } from './facts.ts';
import { openSqliteStore } from './open.ts';

export function opened(path: string, mode: 'read' | 'write' | 'create' = 'write', busy_ms = 100) {
  return openSqliteStore({ path, tenant: 'default', clock: () => new Date(), mode, busy_ms });
}

/** A store with one proposal in a ledger that has begun: three entries. Closed again. */
export async function made(folder = scratch()): Promise<string> {
  const path = join(folder, 'store.db');
  const store = await opened(path, 'create');
  await store.commit({ events: [begun(), enrolled('ada')] });
  await store.commit({ claims: ['one'], events: [proposed()], objects: [Buffer.from('content')] });
  await store.close();
  return path;
}

export function sqlite<T>(path: string, act: (db: DatabaseSyncInstance) => T): T {
  const db = new DatabaseSync(path);
  try {
    return act(db);
  } finally {
    db.close();
  }
}
