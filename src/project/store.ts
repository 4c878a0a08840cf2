import { rmSync } from 'node:fs';
import { Refusal, refuse } from '../refusal.ts';
import { type Copied, type CopyProgress, copyLedger, foundLedger } from '../store/copy.ts';
import { requireObjects } from '../store/objects.ts';
import {
  isServer,
  openTarget,
  postgresPlace,
  type StorePlace,
  sqlitePlace,
  storePlace,
} from '../store/open.ts';
import type { Migrated, MigrateOptions } from '../store/postgres/store.ts';
import type { Store } from '../store/store.ts';
import { type Config, readConfig } from './config.ts';
import { findProject, type Layout, layoutOf } from './layout.ts';

/** A new ledger is made in the project first, and then put on the server whole: a crash leaves no half project there. */
export async function moveIn(draft: Layout, { store, tenant }: Config, clock: () => Date): Promise<void> {
  const taken = (): never =>
    refuse('PROJECT_EXISTS', `${store.name} has a ledger of "${tenant}" already. Name another tenant.`);
  const from = await sqlitePlace(draft.store).open({ tenant, clock, mode: 'read' });
  await closingStore(from, async () =>
    closingStore(await openTarget(store, { tenant, clock }), async (to) => {
      if ((await to.tip()).size > 0) taken();
      try {
        await foundLedger(from, to);
      } catch (error) {
        // Another process founded it in this moment.
        throw error instanceof Refusal && error.code === 'LEDGER_FORKED' ? taken() : error;
      }
    }),
  );
  for (const suffix of ['', '-wal', '-shm']) rmSync(draft.store + suffix, { force: true });
}

export interface CopyRequest {
  /** A folder: the project there says whose ledger is meant, unless a tenant is named. */
  readonly at: string;
  readonly tenant?: string;
  /** `postgres://…`, `sqlite:PATH` or a path. */
  readonly from: string;
  readonly to: string;
  readonly onProgress?: (progress: CopyProgress) => void;
}

export interface MigratedStore extends Migrated {
  /** Without a password. */
  readonly store: string;
  readonly application: string | null;
}

/** Makes the tables of a shared store, or brings them to the newest form, with the role that owns them. */
export async function migrateStore({ url, application }: MigrateOptions): Promise<MigratedStore> {
  const store = requireServer(url).name;
  const { migratePostgresStore } = await import('../store/postgres/store.ts');
  const migrated = await migratePostgresStore({ url, ...(application !== undefined && { application }) });
  return { store, application: application ?? null, ...migrated };
}

/** What only a server has: roles, and tables that one of them owns. */
export function requireServer(url: string): StorePlace {
  return isServer(url)
    ? postgresPlace(url)
    : refuse('SHAPE_INVALID', 'A store with roles is named by a URL that begins with postgres://.');
}

export interface CopiedStore extends Copied {
  readonly from: string;
  readonly to: string;
  readonly tenant: string;
}

/** Copies a ledger with its objects to another store, or goes on with a copy that broke off. */
export async function copyStore(request: CopyRequest): Promise<CopiedStore> {
  const [from, to] = [storePlace(request.from), storePlace(request.to)];
  const tenant = request.tenant ?? tenantAt(request.at);
  const clock = () => new Date();
  return closingStore(await from.open({ tenant, clock, mode: 'read' }), async (source) => {
    await requireObjects(source);
    return closingStore(await openTarget(to, { tenant, clock }), async (target) => {
      const copied = await copyLedger(source, target, request.onProgress);
      await requireObjects(target);
      return { from: from.name, to: to.name, tenant, ...copied };
    });
  });
}

export function tenantAt(folder: string): string {
  const root = findProject(folder);
  return root === null ? 'default' : readConfig(layoutOf(root)).tenant;
}

export async function closingStore<T>(store: Store, act: (store: Store) => Promise<T>): Promise<T> {
  try {
    return await act(store);
  } finally {
    await store.close();
  }
}
