import type { Digest } from '../canonical/digest.ts';
import { type Event, parseEvent } from '../event/event.ts';
import { type Entry, leafHash, openEntry } from '../ledger/entry.ts';

/** An entry with the fact that it tells. */
export interface ReadEntry {
  readonly entry: Entry;
  readonly event: Event;
  readonly hash: Digest;
}

/** The keys and policies of a project are read for every intent. */
const REMEMBERED = 1000;

/** Reads entries, and what it has read before not again: it goes by the hash of the bytes, not by what a row says. */
export function entryReader(): (bytes: Uint8Array) => ReadEntry {
  const known = new Map<Digest, ReadEntry>();
  return (bytes) => {
    const hash = leafHash(bytes);
    const found = known.get(hash);
    if (found) return found;
    const entry = openEntry(bytes);
    const read = { entry, event: parseEvent(entry), hash };
    if (known.size >= REMEMBERED) known.clear();
    known.set(hash, read);
    return read;
  };
}
