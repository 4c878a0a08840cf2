import type { Digest } from '../canonical/digest.ts';
import { type SealedEntry, skimEntry } from '../ledger/entry.ts';
import { limits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import type { HeldObject, Store, Tip } from './store.ts';

export interface CopyProgress {
  readonly entries: number;
  readonly of_entries: number;
  readonly objects: number;
}

export interface Copied {
  readonly tip: Tip;
  /** How many entries were there from an earlier copy. */
  readonly resumed_at: number;
  readonly objects: number;
}

/**
 * Copies the ledger of one store and its objects to another, and ends when both end with the same entry. Whatever broke
 * off may be begun again: it goes on where the target ends. Entries come first and objects after them, so that no object
 * is taken which an entry erased. Then `requireRests` looks at what entries rest on.
 */
export async function copyLedger(
  from: Store,
  to: Store,
  onProgress: (progress: CopyProgress) => void = () => {},
): Promise<Copied> {
  const resumed_at = await requireSameBeginning(from, to);
  if (resumed_at > 0) await requireWhole(to);
  let objects = 0;
  for (let round = 0; round < limits.copy_rounds; round++) {
    const tell = (entries: number, of_entries: number) => onProgress({ entries, of_entries, objects });
    await copyEntries(from, to, tell);
    for await (const count of copyObjects(from, to)) {
      objects += count;
      const { size } = await to.tip();
      tell(size, size);
    }
    const [source, target] = [await from.tip(), await to.tip()];
    if (isSame(source, target)) {
      await requireRests(to);
      return { tip: target, resumed_at, objects };
    }
    if (source.size <= target.size) refuseOther(target.size);
  }
  return refuse('STORE_BUSY', 'The ledger grows faster than it can be copied. Freeze it first.');
}

/**
 * The same for a source that others go on writing to: it ends with an entry that the source had meanwhile. What an entry behind that removed is
 * not in the copy, so such an entry is copied, too.
 */
export async function copyMeanwhile(from: Store, to: Store): Promise<Copied> {
  let objects = 0;
  for (let round = 0; round < limits.copy_rounds; round++) {
    await copyEntries(from, to, () => {});
    for await (const count of copyObjects(from, to)) objects += count;
    const tip = await to.tip();
    if (!(await removesAny(from, tip.size))) {
      await requireRests(to);
      return { tip, resumed_at: 0, objects };
    }
  }
  return refuse('STORE_BUSY', 'Objects are removed faster than they can be copied. Wait for the gc.');
}

/** The attacker can write the source: the decision that an entry names says something else, or the token. Entries came without them. */
async function requireRests(to: Store): Promise<void> {
  await to.rebuild({ write: false });
}

const REMOVES: ReadonlySet<string> = new Set(['object.erased', 'object.expired']);

async function removesAny(from: Store, size: number): Promise<boolean> {
  for await (const batch of from.entries(size))
    if (batch.some(({ bytes }) => REMOVES.has(skimEntry(bytes)?.kind ?? ''))) return true;
  return false;
}

/** A ledger that just began, as one write: it is there whole or not at all. */
export async function foundLedger(from: Store, to: Store): Promise<void> {
  const entries: SealedEntry[] = [];
  const objects: Uint8Array[] = [];
  for await (const batch of from.entries()) entries.push(...batch);
  for await (const batch of from.objects())
    for (const { digest } of batch) objects.push(await from.object(digest));
  await to.adopt({ entries, objects });
}

/** Each hash covers all entries before it, so the last one of the target says whether it is this ledger. */
async function requireSameBeginning(from: Store, to: Store): Promise<number> {
  const { size, last } = await to.tip();
  if (size === 0) return 0;
  for await (const [entry] of from.entries(size - 1)) {
    if (entry?.seq === size - 1 && entry.hash === last) return size;
    break;
  }
  return refuseOther(size);
}

/** What came over earlier is not copied again, so it is looked at: it could have been changed since. */
async function requireWhole(to: Store): Promise<void> {
  for await (const digest of each(to.objects())) await objectOf(to, digest);
}

function refuseOther(size: number): never {
  return refuse('LEDGER_FORKED', `The target holds ${size} entries that are not those of the source.`, {
    size,
  });
}

function isSame(a: Tip, b: Tip): boolean {
  return a.size === b.size && a.last === b.last && a.frontier.join() === b.frontier.join();
}

async function copyEntries(
  from: Store,
  to: Store,
  tell: (entries: number, of_entries: number) => void,
): Promise<void> {
  const { size } = await to.tip();
  const end = (await from.tip()).size;
  for await (const entries of gathered(from.entries(size))) {
    await to.adopt({ entries });
    tell(entries.at(-1)!.seq + 1, Math.max(end, entries.at(-1)!.seq + 1));
  }
}

/** As many as one write takes. */
async function* gathered(
  batches: AsyncIterable<readonly SealedEntry[]>,
): AsyncGenerator<readonly SealedEntry[]> {
  let entries: SealedEntry[] = [];
  for await (const batch of batches) {
    entries.push(...batch);
    if (entries.length < limits.read_batch) continue;
    yield entries;
    entries = [];
  }
  if (entries.length > 0) yield entries;
}

async function* copyObjects(from: Store, to: Store): AsyncGenerator<number> {
  let objects: Uint8Array[] = [];
  let bytes = 0;
  for await (const digest of missing(from, to)) {
    const object = await objectOf(from, digest);
    if (object === null) continue;
    objects.push(object);
    bytes += object.length;
    if (bytes < limits.copy_batch_bytes) continue;
    await to.adopt({ objects });
    yield objects.length;
    objects = [];
    bytes = 0;
  }
  if (objects.length === 0) return;
  await to.adopt({ objects });
  yield objects.length;
}

/** Null when it was erased meanwhile: the entry that says so comes with the next round. */
async function objectOf(from: Store, digest: Digest): Promise<Uint8Array | null> {
  try {
    return await from.object(digest);
  } catch (error) {
    if (error instanceof Refusal && error.code === 'OBJECT_MISSING') return null;
    throw error;
  }
}

/** Both lists have one order, so they are walked side by side: no list is held in memory. */
async function* missing(from: Store, to: Store): AsyncGenerator<Digest> {
  const there = each(to.objects());
  let next = await there.next();
  for await (const digest of each(from.objects())) {
    while (!next.done && next.value < digest) next = await there.next();
    if (next.done || next.value !== digest) yield digest;
  }
}

async function* each(batches: AsyncIterable<readonly HeldObject[]>): AsyncGenerator<Digest> {
  for await (const batch of batches) for (const { digest } of batch) yield digest;
}
