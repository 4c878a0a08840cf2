import { genesisOf } from '../journey/audit.ts';
import type { OpenOptions } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import type { Config } from './config.ts';
import type { Layout } from './layout.ts';
import { pinnedOf, readLedgerFile, requirePinned } from './ledger-file.ts';

/** The store of a project, known to hold the ledger of this project. */
export interface OpenedLedger {
  readonly store: Store;
  readonly origin: string;
}

/** The one place where the store of a project is opened: to read, to write, for the lane and for the agent core. */
export async function openLedger(
  layout: Layout,
  config: Config,
  options: Pick<OpenOptions, 'clock'> & { readonly mode: 'read' | 'write' },
): Promise<OpenedLedger> {
  const pinned = readLedgerFile(layout);
  const store = await config.store.open({ tenant: config.tenant, ...options });
  try {
    requirePinned(pinned, pinnedOf(await genesisOf(store)));
    return { store, origin: pinned.origin };
  } catch (error) {
    await store.close();
    throw error;
  }
}
