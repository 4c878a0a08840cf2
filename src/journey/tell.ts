import { type Entry, openEntry } from '../ledger/entry.ts';
import { type Absence, readOutput, type Story, type Told, tellEntries, tellIntent } from '../story/tell.ts';
import { readerOf } from './contents.ts';
import type { Context } from './context.ts';

/** The story of an intent, as the store of this project has it. */
export async function tell({ store }: Context, intent_id: string): Promise<Story> {
  const about = async (subject: string): Promise<Entry[]> =>
    (await store.entriesOf(subject)).map(({ bytes }) => openEntry(bytes));
  const entries = await about(intent_id);
  const replaces = entries[0]?.body.replaces;
  const before = typeof replaces === 'string' ? await about(replaces) : [];
  return tellIntent(entries, readerOf(store), before);
}

export function tellAbout({ store }: Context, entries: readonly Entry[]): Promise<Told[]> {
  return tellEntries(entries, readerOf(store));
}

export function printed({ store }: Context, digest: string | null): Promise<Uint8Array | Absence> {
  return readOutput(digest, readerOf(store));
}
