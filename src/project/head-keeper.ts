import type { EventKind } from '../event/event.ts';
import { isOfAnyTime } from '../gate/ledger-time.ts';
import { GENESIS } from '../ledger/entry.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { type FileLock, openFileLock } from '../store/sqlite/file-lock.ts';
import type { Commit, Receipt, Store, Tip, WrittenEntry } from '../store/store.ts';
import {
  closeHead,
  overwriteHeadFile,
  readHeadFile,
  replaceHeadFile,
  syncHead,
  type WrittenHead,
} from './head-file.ts';
import type { ClockMark, SteadyClock } from './steady-clock.ts';

export interface HeadPlaces {
  /** `.keyturn/head`, and the one elsewhere if keyturn.yaml names it. */
  readonly files: readonly string[];
  readonly lock: string;
}

type End = Pick<Tip, 'size' | 'last'>;

interface Syncing {
  readonly size: number;
  readonly done: Promise<void>;
}

/** Keeps how far the ledger was, beside the store and elsewhere. */
export interface HeadKeeper {
  /** The same store. What it commits is kept; what a claim commits is kept durably before the claim is acknowledged. */
  readonly store: Store;
  /** Refuses a ledger that is shorter than what was kept, or that goes another way. `tip` saves a read. */
  require(tip?: End): Promise<void>;
}

export function headKeeper(
  store: Store,
  origin: string,
  places: HeadPlaces,
  mode: 'read' | 'write',
  time: SteadyClock | null,
): HeadKeeper {
  /** The furthest that this process has seen, and how much of that is in the files. */
  let seen: End = { size: 0, last: GENESIS };
  let kept_size = 0;
  let synced_size = 0;
  /** What is being made durable. */
  let syncing: Syncing | null = null;
  /** The last entry that this process wrote. Its time tells whether the clock can be a mark. */
  let written: WrittenEntry | null = null;
  let timer: NodeJS.Timeout | null = null;
  let lock: Promise<FileLock> | null = null;

  /** Several processes write these files. Under the lock none of them takes a head back. What `act` returns is awaited without the lock. */
  async function locked(act: () => Promise<void> | null): Promise<void> {
    lock ??= openFileLock(places.lock);
    let rest: Promise<void> | null;
    try {
      rest = (await lock).hold(act);
    } catch (error) {
      await unlock();
      throw error;
    }
    await rest;
  }

  async function unlock(): Promise<void> {
    const opened = lock;
    lock = null;
    (await opened?.catch(() => null))?.close();
  }

  async function keep(sync: boolean): Promise<void> {
    if (timer) clearTimeout(timer);
    timer = null;
    await locked(() => {
      const { size } = seen;
      // Claims that were committed together are kept by the first of them.
      if (synced_size >= size) return null;
      if (syncing !== null && syncing.size >= size) return sync ? syncing.done : null;
      const written = advanceAll(sync);
      kept_size = size;
      if (sync) return begin(size, written);
      written.forEach(closeHead);
      return null;
    });
  }

  function advanceAll(sync: boolean): readonly WrittenHead[] {
    const written: WrittenHead[] = [];
    try {
      for (const path of places.files) {
        const one = advance(path, sync);
        if (one) written.push(one);
      }
      return written;
    } catch (error) {
      written.forEach(closeHead);
      throw error;
    }
  }

  function begin(size: number, written: readonly WrittenHead[]): Promise<void> {
    const begun: Syncing = {
      size,
      done: makeDurable(size, written).finally(() => {
        if (syncing === begun) syncing = null;
      }),
    };
    syncing = begun;
    return begun.done;
  }

  async function makeDurable(size: number, written: readonly WrittenHead[]): Promise<void> {
    try {
      for (const one of written) await syncHead(one);
      synced_size = Math.max(synced_size, size);
    } finally {
      written.forEach(closeHead);
    }
  }

  /** Another process may have kept a later one, and not synced it. */
  function advance(path: string, sync: boolean): WrittenHead | null {
    const kept = readHeadFile(path, origin);
    if (kept.size >= seen.size && !sync) return null;
    const { size, last } = kept.size < seen.size ? seen : kept;
    return overwriteHeadFile(path, { origin, size, last, mark: newMark() ?? kept.mark });
  }

  /** A clock that is behind the ledger is wrong, and no mark for those that come later. */
  function newMark(): ClockMark | null {
    const mark = written && (time?.mark() ?? null);
    const is_behind = mark && Date.parse(mark.at) < Date.parse(written!.entry.at) - limits.clock_skew_ms;
    return is_behind ? null : mark;
  }

  /** A head that could not be written is an older head: the next commit tries again, and a claim is refused. */
  const keepIfPossible = () => keep(false).catch(() => undefined);

  async function commit(asked: Commit): Promise<Receipt> {
    const has = (...kinds: EventKind[]) => asked.events.some(({ kind }) => kinds.includes(kind));
    if (!asked.events.every(({ kind }) => isOfAnyTime(kind))) time?.require();
    const receipt = await (has('clock.accepted') ? commitTime(asked) : store.commit(asked));
    written = receipt.entries.at(-1)!;
    if (seen.size <= written.seq) seen = { size: written.seq + 1, last: written.hash };
    if (has('head.accepted')) await accept();
    else if (asked.events.some(({ kind }) => SYNCED.has(kind))) await keep(true);
    else timer ??= setTimeout(keepIfPossible, limits.head_gather_ms).unref();
    return receipt;
  }

  async function commitTime(asked: Commit): Promise<Receipt> {
    const takeBack = time?.accept();
    try {
      return await store.commit(asked);
    } catch (error) {
      takeBack?.();
      throw error;
    }
  }

  async function accept(): Promise<void> {
    const mark = newMark();
    await locked(() => {
      for (const path of places.files)
        replaceHeadFile(path, { origin, size: seen.size, last: seen.last, mark });
      kept_size = seen.size;
      return null;
    });
  }

  async function close(): Promise<void> {
    if (kept_size < seen.size) await keepIfPossible();
    await unlock();
    await store.close();
  }

  async function require(tip?: End): Promise<void> {
    // The head first and the store after it: others write meanwhile, and the store is never behind its head.
    for (const path of places.files) await requireGoesThrough(store, readHeadFile(path, origin), path, tip);
    const end = await requireGoesThrough(store, seen, 'this process', tip);
    if (mode === 'write' && end.size > seen.size) seen = end;
  }

  return { store: { ...store, commit, close }, require };
}

/** From these on something happens outside of the ledger, or another time holds. */
const SYNCED: ReadonlySet<EventKind> = new Set<EventKind>([
  'execution.claimed',
  'rollback.claimed',
  'backups.expired',
  'clock.accepted',
]);

/** Returns where the ledger ends. A `tip` that was read before the head may be older than it, and is read again. */
async function requireGoesThrough(store: Store, kept: End, keeper: string, tip?: End): Promise<End> {
  const end = tip && tip.size >= kept.size ? tip : await store.tip();
  const found = { entries: end.size, kept: kept.size, keeper };
  if (end.size < kept.size)
    refuse(
      'LEDGER_TRUNCATED',
      `The ledger has ${end.size} entries, and ${keeper} knows ${kept.size}.`,
      found,
    );
  if (kept.size === 0) return end;
  const last = end.size === kept.size ? end.last : (await store.entry(kept.size - 1))?.hash;
  if (last !== kept.last)
    refuse('LEDGER_FORKED', `The first ${kept.size} entries are not those that ${keeper} knows.`, found);
  return end;
}
