import { genesisOf } from '../journey/audit.ts';
import { Refusal } from '../refusal.ts';
import type { OpenOptions } from '../store/open.ts';
import type { Store, Tip } from '../store/store.ts';
import type { Config } from './config.ts';
import { createHeadFile, readHeadFile } from './head-file.ts';
import { type HeadPlaces, headKeeper } from './head-keeper.ts';
import type { Layout } from './layout.ts';
import { pinnedOf, readLedgerFile, requirePinned } from './ledger-file.ts';

/** The store of a project, known to hold the ledger of this project, all of it. */
export interface OpenedLedger {
  readonly store: Store;
  readonly origin: string;
  /** Asked again before anything is decided: a store can be exchanged under a process that has it open. */
  readonly requireKeptHead: (tip: Tip) => Promise<void>;
}

export interface OpenLedgerOptions extends Pick<OpenOptions, 'clock'> {
  readonly mode: 'read' | 'write';
  /** `accept`: the kept head is not compared, for the one command that puts another in its place. */
  readonly head?: 'compare' | 'accept';
}

/** The one place where the store of a project is opened: to read, to write, for the lane and for the agent core. */
export async function openLedger(
  layout: Layout,
  config: Config,
  { head = 'compare', ...options }: OpenLedgerOptions,
): Promise<OpenedLedger> {
  const pinned = readLedgerFile(layout);
  const opened = await config.store.open({ tenant: config.tenant, ...options });
  try {
    requirePinned(pinned, pinnedOf(await genesisOf(opened)));
    const keeper = headKeeper(opened, pinned.origin, headPlaces(layout, config), options.mode);
    if (head === 'compare') await keeper.require();
    return { store: keeper.store, origin: pinned.origin, requireKeptHead: keeper.require };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

export function headPlaces({ head }: Layout, { heads }: Config): HeadPlaces {
  return { files: heads === null ? [head] : [head, heads], lock: `${head}.lock` };
}

/** How many entries the longest head knows that can be read; null when none can. */
export function longestKept({ files }: HeadPlaces, origin: string): number | null {
  const sizes = files.flatMap((path) => {
    try {
      return [readHeadFile(path, origin).size];
    } catch (error) {
      if (error instanceof Refusal) return [];
      throw error;
    }
  });
  return sizes.length === 0 ? null : Math.max(...sizes);
}

/** For a ledger that just began, or that this host has just joined. */
export function createHeadFiles({ files }: HeadPlaces, origin: string, { size, last }: Tip): void {
  for (const path of files) createHeadFile(path, { origin, size, last });
}
