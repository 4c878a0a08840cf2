import type { Digest } from '../canonical/digest.ts';
import { Recent } from '../canonical/recent.ts';
import { type EventKind, isOneOf } from '../event/event.ts';
import { requireInOrder } from '../gate/ledger-time.ts';
import { SERVER_KINDS, serverSubject } from '../gate/server.ts';
import type { System } from '../gate/system.ts';
import type { Authorities } from '../identity/delegation.ts';
import { type Entry, leafHash, type SealedEntry } from '../ledger/entry.ts';
import { EntryIndex } from '../ledger/entry-index.ts';
import { LedgerVerifier } from '../ledger/verify.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { History } from './history.ts';
import { EntryReader, FoldedLedger, type HashedEntry, type VerifiedEntries } from './ledger.ts';
import type { RowName, States } from './row.ts';

/** What holds for every intent after `size` entries, the last of which has the hash `last` and the time `at`. */
export interface LedgerState {
  readonly system: System;
  readonly authorities: Authorities;
  readonly size: number;
  readonly last: Digest;
  readonly at: string;
}

/** The same, with the state of what was asked about. */
export interface LedgerStateWith<S> extends LedgerState {
  readonly state: S;
}

interface About {
  readonly subject: (key: string) => string;
  /**
   * The kinds that tell it; null for all but those of the history, whose rows would hide what became of them since. The others about the
   * subject rest on what is not folded for it.
   */
  readonly kinds: readonly EventKind[] | null;
}

const ABOUT = {
  intent: { subject: (key) => key, kinds: null },
  agent: { subject: (key) => `agent:${key}`, kinds: null },
  simulation: { subject: (key) => `simulation:${key}`, kinds: ['simulation.changed'] },
  server: { subject: serverSubject, kinds: SERVER_KINDS },
} as const satisfies Partial<Record<RowName, About>>;

/** What entries can be asked about. */
export type Tellable = keyof typeof ABOUT;

/** The entries about one subject, folded up to and with `newest`. */
interface Part {
  readonly folded: FoldedLedger;
  newest: number;
}

/**
 * A ledger, read entry by entry from its first one, each hashed and behind the one before it. People, keys, delegations and the
 * system are folded at once; an intent or a conversation when it is asked about, and then only what came since.
 */
export class ReadEntries {
  readonly #origin: string;
  readonly #verified: VerifiedEntries;
  readonly #reader: EntryReader;
  readonly #verifier: LedgerVerifier;
  readonly #index = new EntryIndex();
  readonly #history: History;
  readonly #recent = new Map<number, SealedEntry>();
  readonly #parts = new Recent<string, Part>(limits.folded_parts);
  #entry: Entry | null = null;

  constructor(tenant: string, origin: string, verified: VerifiedEntries, reader = new EntryReader()) {
    this.#origin = origin;
    this.#verified = verified;
    this.#reader = reader;
    this.#history = new History(verified);
    const known = (hash: Digest) => reader.known(hash)?.entry;
    this.#verifier = new LedgerVerifier({ tenant, known, onEntry: (entry) => this.#follow(entry) });
  }

  get size(): number {
    return this.#index.size;
  }

  hash(seq: number): Digest {
    return this.#index.hash(seq);
  }

  /** The next entry. After a refusal this object is of no use. */
  append(sealed: SealedEntry): void {
    const seq = this.size;
    this.#verifier.feed([sealed]);
    const { kind, subject } = this.#entry!;
    if (History.tells(kind)) this.#history.take(this.#readOf(sealed));
    if (seq === 0 && this.#history.system(1).origin !== this.#origin)
      refuse('LEDGER_FORKED', 'The entries belong to another ledger.');
    this.#index.add(subject, sealed.hash);
    this.#recent.set(seq, sealed);
    this.#recent.delete(seq - limits.folded_entries);
  }

  /** The place in the chain is right. So must be the time. */
  #follow(entry: Entry): void {
    requireInOrder(this.#entry?.at ?? null, entry, entry.at);
    this.#entry = entry;
  }

  state(): LedgerState {
    const { size } = this;
    const system = this.#history.system(size);
    const authorities = this.#history.authorities(size);
    return { system, authorities, size, last: this.hash(size - 1), at: this.#entry!.at };
  }

  /** The entries that have to be read again before this can be told. */
  missing(name: Tellable, key: string, brought: ReadonlyMap<number, SealedEntry>): number[] {
    const subject = ABOUT[name].subject(key);
    const newest = this.#parts.get(subject)?.newest ?? -1;
    return this.#index.after(subject, newest).filter((seq) => !this.#recent.has(seq) && !brought.has(seq));
  }

  /** What the entries tell, with those that were `missing`; null where none is about it. */
  tell<N extends Tellable>(
    name: N,
    key: string,
    brought: ReadonlyMap<number, SealedEntry>,
  ): LedgerStateWith<States[N] | null> | null {
    const { subject, kinds }: { subject: About['subject']; kinds: About['kinds'] } = ABOUT[name];
    if (this.#index.newest(subject(key)) < 0) return null;
    const part = this.#partOf(subject(key));
    for (const seq of this.#index.after(subject(key), part.newest)) {
      const read = this.#readOf(this.#recent.get(seq) ?? this.#same(seq, brought.get(seq)));
      if (kinds === null ? !History.tells(read.event.kind) : isOneOf(kinds, read.event))
        part.folded.takeRead(read);
      part.newest = seq;
    }
    return { state: part.folded.state(name, key), ...this.state() };
  }

  #partOf(subject: string): Part {
    const known = this.#parts.get(subject);
    if (known) return known;
    const folded = new FoldedLedger({ is_whole: false, verified: this.#verified, below: this.#history });
    const part = { folded, newest: -1 };
    this.#parts.set(subject, part);
    return part;
  }

  /** An entry that is read again must be the one that was read. */
  #same(seq: number, sealed: SealedEntry | undefined): SealedEntry {
    if (sealed && leafHash(sealed.bytes) === this.hash(seq)) return { ...sealed, hash: this.hash(seq) };
    return refuse('LEDGER_BROKEN', `Entry ${seq}: it is not the one that was read before.`, { seq });
  }

  /** Of an entry whose hash was looked at. */
  #readOf({ bytes, hash }: SealedEntry): HashedEntry {
    return this.#reader.read(bytes, hash);
  }
}
