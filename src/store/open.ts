import { resolve } from 'node:path';
import { Refusal } from '../refusal.ts';
import { parseAddress } from './postgres/address.ts';
import { openSqliteStore } from './sqlite/store.ts';
import type { Store } from './store.ts';

export interface StoreOptions {
  readonly tenant: string;
  readonly clock: () => Date;
  /** `create` makes the ledger of this tenant; it refuses when that ledger exists. */
  readonly mode: 'read' | 'write' | 'create';
}

/** Where a store is. What it takes to open it stays inside: nothing here, printed or written as JSON, shows a password. */
export interface StorePlace {
  readonly kind: 'sqlite' | 'postgres';
  /** For people. */
  readonly name: string;
  /** Which server and database, without user and password; `sqlite` for a file, which moves with its project. */
  readonly where: string;
  open(options: StoreOptions): Promise<Store>;
}

export function isServer(text: string): boolean {
  return /^postgres(ql)?:\/\//.test(text);
}

/** `postgres://…`, `sqlite:PATH`, or a path. */
export function storePlace(text: string): StorePlace {
  return isServer(text) ? postgresPlace(text) : sqlitePlace(text.replace(/^sqlite:/, ''));
}

export function sqlitePlace(path: string): StorePlace {
  const name = resolve(path);
  return {
    kind: 'sqlite',
    name,
    where: 'sqlite',
    open: (options) => openSqliteStore({ path: name, ...options }),
  };
}

export function postgresPlace(url: string): StorePlace {
  const { user, host, port, database } = parseAddress(url);
  return {
    kind: 'postgres',
    name: `postgres://${user}@${host}:${port}/${database}`,
    where: `postgres://${encodeURIComponent(host)}:${port}/${encodeURIComponent(database)}`,
    open: async (options) => (await import('./postgres/store.ts')).openPostgresStore({ url, ...options }),
  };
}

/** For a ledger that moves in: the one that is there already, or a new and empty one. */
export async function openTarget(place: StorePlace, options: Omit<StoreOptions, 'mode'>): Promise<Store> {
  try {
    return await place.open({ ...options, mode: 'create' });
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'PROJECT_EXISTS') throw error;
    return place.open({ ...options, mode: 'write' });
  }
}
