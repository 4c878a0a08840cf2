import { thisProcess } from '../effect/process.ts';
import { genesisOf } from '../journey/audit.ts';
import { Refusal } from '../refusal.ts';
import type { StoreOptions } from '../store/open.ts';
import type { Store, Tip } from '../store/store.ts';
import type { Config } from './config.ts';
import { createHeadFile, type KeptHead, readHeadFile } from './head-file.ts';
import { type HeadPlaces, headKeeper } from './head-keeper.ts';
import type { Layout } from './layout.ts';
import {
  type LedgerFile,
  pinnedOf,
  readLedgerFile,
  requirePinned,
  requirePinnedStore,
} from './ledger-file.ts';
import { type SteadyClock, steadyClock } from './steady-clock.ts';

/** The store of a project, known to hold the ledger of this project, all of it. */
export interface OpenedLedger {
  readonly store: Store;
  readonly origin: string;
  /** Asked again before anything is decided: a store can be exchanged under a process that has it open. */
  readonly requireKeptHead: (end: Pick<Tip, 'size' | 'last'>) => Promise<void>;
  /** CLOCK_AHEAD when the clock was set ahead since the last commit. */
  readonly requireSteadyClock: () => void;
}

export interface OpenLedgerOptions extends Pick<StoreOptions, 'clock'> {
  readonly mode: 'read' | 'write';
  /** `accept`: the kept head is not compared, for the one command that puts another in its place. */
  readonly head?: 'compare' | 'accept';
  /** Milliseconds since boot; without it those of this machine. A clock of one's own brings its own. */
  readonly uptime?: () => number;
}

/** The one place where the store of a project is opened: to read, to write, for the lane and for the agent core. */
export async function openLedger(
  layout: Layout,
  config: Config,
  { head = 'compare', mode, clock, uptime }: OpenLedgerOptions,
): Promise<OpenedLedger> {
  const pinned = await pinnedIn(layout, config, clock);
  requirePinnedStore(pinned, config.store);
  // A server has a clock of its own, which is compared with in the store.
  const time = config.store.kind === 'sqlite' ? timeOf(layout, pinned.origin, clock, uptime) : null;
  const opened = await config.store.open({ tenant: config.tenant, clock: time?.stamp ?? clock, mode });
  try {
    requirePinned(pinned, pinnedOf(await genesisOf(opened)));
    const keeper = headKeeper(opened, pinned.origin, headPlaces(layout, config), mode, time);
    if (head === 'compare') await keeper.require();
    const requireSteadyClock = () => time?.require();
    return {
      store: keeper.store,
      origin: pinned.origin,
      requireKeptHead: keeper.require,
      requireSteadyClock,
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

async function pinnedIn(layout: Layout, config: Config, clock: () => Date): Promise<LedgerFile> {
  try {
    return readLedgerFile(layout);
  } catch (error) {
    // No other host is connected to without the file.
    const is_here =
      error instanceof Refusal && error.code === 'LEDGER_UNPINNED' && config.store.kind === 'sqlite';
    if (is_here) await requireNotOlder(config, clock);
    throw error;
  }
}

/** The first entry says whether it is a ledger that this version does not read: to pin that one would not help. Nothing else is believed of it. */
async function requireNotOlder({ store: place, tenant }: Config, clock: () => Date): Promise<void> {
  try {
    const store = await place.open({ tenant, clock, mode: 'read' });
    await genesisOf(store).finally(() => store.close());
  } catch (error) {
    if (!(error instanceof Refusal) || error.code === 'STORE_OLDER') throw error;
  }
}

function timeOf({ head }: Layout, origin: string, clock: () => Date, uptime?: () => number): SteadyClock {
  const lastMark = () => {
    try {
      return readHeadFile(head, origin).mark;
    } catch (error) {
      // The next open of the project compares the head, and refuses there.
      if (error instanceof Refusal) return null;
      throw error;
    }
  };
  return steadyClock({ clock, boot_id: thisProcess().boot_id, lastMark, ...(uptime && { uptime }) });
}

export function headPlaces({ head }: Layout, { heads }: Config): HeadPlaces {
  return { files: heads === null ? [head] : [head, heads], lock: `${head}.lock` };
}

export interface KeptHeads {
  /** How many entries the longest head knows that can be read; null when none can. */
  readonly kept_size: number | null;
  /** A head that can be read is not on the way of this ledger, or none can be read. */
  readonly forgets: boolean;
}

export async function keptHeads({ files }: HeadPlaces, origin: string, store: Store): Promise<KeptHeads> {
  const heads = files.flatMap((path) => headIfReadable(path, origin));
  const { size } = await store.tip();
  let forgets = heads.length === 0;
  for (const kept of heads) {
    const entry = kept.size === 0 || kept.size > size ? null : await store.entry(kept.size - 1);
    if (kept.size > 0 && entry?.hash !== kept.last) forgets = true;
  }
  const kept_size = heads.length === 0 ? null : Math.max(...heads.map((kept) => kept.size));
  return { kept_size, forgets };
}

function headIfReadable(path: string, origin: string): KeptHead[] {
  try {
    return [readHeadFile(path, origin)];
  } catch (error) {
    if (error instanceof Refusal) return [];
    throw error;
  }
}

/** For a ledger that just began, or that this host has just joined. */
export function createHeadFiles({ files }: HeadPlaces, origin: string, { size, last }: Tip): void {
  for (const path of files) createHeadFile(path, { origin, size, last, mark: null });
}
