import { signedBy } from '../event/event.ts';
import { type Entry, openEntry, type SealedEntry } from '../ledger/entry.ts';
import { limits } from '../limits.ts';
import type { EntryPage } from '../store/store.ts';
import { type Told, tellEntries } from '../story/tell.ts';
import { entrySentence } from '../story/words.ts';
import { readerOf } from './contents.ts';
import type { Context } from './context.ts';
import { follow } from './follow.ts';
import { type PageEnd, type PageRequest, pageOf } from './page.ts';

/** Which entries are meant: those that fit all of it. */
interface EntryFilter {
  readonly kind?: string | undefined;
  readonly subject?: string | undefined;
  readonly signer?: string | undefined;
}

interface EntriesRequest extends PageRequest, EntryFilter {
  /** Also what the policies said, where they were asked. */
  readonly with_decisions?: boolean | undefined;
}

export interface EntryList extends PageEnd {
  readonly entries: readonly ToldEntry[];
}

export interface ToldEntry extends Entry {
  readonly words: string;
  readonly decision?: Told['decision'];
}

/** Newest first. What a page costs does not depend on how long the ledger is. */
export async function listEntries(context: Context, request: EntriesRequest): Promise<EntryList> {
  const { with_decisions = false, ...wanted } = request;
  const { found, ...end } = await pageOf<Entry, Entry>(context, wanted, {
    list: 'entries',
    batch: async (size, beyond) =>
      (await batchOf(context, wanted, size, beyond)).map(({ seq, bytes }) => ({
        seq,
        state: openEntry(bytes),
      })),
    at: ({ at }) => at,
    shown: async (entry) => (fits(entry, wanted) ? entry : null),
  });
  return { entries: await told(context, found, with_decisions), ...end };
}

/** The first few from one on; where none is there yet, the next one that comes. Rejects with the reason of the signal. */
export async function entriesSince(
  context: Context,
  from: number,
  signal: AbortSignal = new AbortController().signal,
): Promise<{ readonly entries: readonly ToldEntry[]; readonly next: number }> {
  const found = await firstFrom(context, from, signal);
  return { entries: await told(context, found, false), next: found.at(-1)!.seq + 1 };
}

async function firstFrom(context: Context, from: number, signal: AbortSignal): Promise<Entry[]> {
  for await (const batch of context.store.entries(from))
    if (batch.length > 0) return batch.slice(0, limits.page_rows).map(({ bytes }) => openEntry(bytes));
  for await (const entry of follow(context, { from, signal })) return [entry];
  throw signal.reason;
}

/** By the index that leaves the fewest. */
function batchOf(
  { store }: Context,
  { subject, signer, kind }: EntryFilter,
  limit: number,
  beyond: number | undefined,
): Promise<SealedEntry[]> {
  const page: EntryPage = { limit, ...(beyond !== undefined && { beyond }) };
  if (subject !== undefined) return store.entryPage({ ...page, by: ['subject', subject] });
  if (signer !== undefined) return store.entryPage({ ...page, by: ['signer', signer] });
  if (kind !== undefined) return store.entryPage({ ...page, by: ['kind', kind] });
  return store.entryPage(page);
}

/** The subject is the first index, so it needs no second look; the columns of the others are only as good as the file. */
function fits(entry: Entry, { subject, signer, kind }: EntryFilter): boolean {
  if (subject !== undefined && entry.subject !== subject) return false;
  if (signer !== undefined && signedBy(entry) !== signer) return false;
  return kind === undefined || entry.kind === kind;
}

async function told(
  { store }: Context,
  entries: readonly Entry[],
  with_decisions: boolean,
): Promise<ToldEntry[]> {
  if (!with_decisions) return entries.map((entry) => ({ ...entry, words: entrySentence(entry) }));
  return entriesInFile(entries, readerOf(store, entries));
}

/** The same from wherever entries and objects were read, such as a file. */
export async function entriesInFile(
  entries: readonly Entry[],
  read: Parameters<typeof tellEntries>[1],
): Promise<ToldEntry[]> {
  const facts = await tellEntries(entries, read);
  return entries.map((entry, i) => ({ ...entry, words: facts[i]!.words, decision: facts[i]!.decision }));
}
