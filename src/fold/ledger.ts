import type { Digest } from '../canonical/digest.ts';
import { type Event, parseEvent } from '../event/event.ts';
import { claimsOf } from '../gate/claims.ts';
import { requireInOrder } from '../gate/ledger-time.ts';
import { originOf } from '../identity/act.ts';
import type { Principal } from '../identity/principal.ts';
import { type Verified, verifiedBefore, verifySignatures } from '../identity/verified.ts';
import { type Entry, leafHash, openEntry } from '../ledger/entry.ts';
import { refuse } from '../refusal.ts';
import { fold } from './fold.ts';
import { authoritiesOf, type Row, type RowName, type Rows, type States } from './row.ts';

/** An entry with the fact that it tells. */
export interface ReadEntry {
  readonly entry: Entry;
  readonly event: Event;
}

/** Rows, and the unique keys that were taken by now. */
export interface Ledger extends Rows {
  isClaimed(claim: string): boolean;
}

/**
 * Folds an entry that was written before, with its own time and claims, behind one of the time `before`. It refuses what a
 * commit would not have written.
 */
export function foldEntry(
  ledger: Ledger,
  { entry, event }: { readonly entry: Entry; readonly event: Verified },
  before: string | null,
): Iterable<Row> {
  const { claims, at, seq } = entry;
  requireInOrder(before, event, at);
  for (const claim of claimsOf(event))
    if (!claims.includes(claim)) refuse('LEDGER_BROKEN', `it did not take the claim ${claim}`);
  const is_twice = new Set(claims).size < claims.length;
  if (is_twice || claims.some((claim) => ledger.isClaimed(claim)))
    refuse('CLAIM_TAKEN', 'it takes a claim that was taken');
  return fold(ledger, event, { seq, at });
}

/** The name of the ledger that begins with this event. */
export function originFrom({ kind, body }: Event, tenant: string): string {
  if (kind !== 'system.initialised')
    return refuse('LEDGER_BROKEN', 'The ledger does not begin with its initialisation.');
  return originOf(body.project_id, tenant);
}

/** Verifies the signatures of a ledger's events. Without `origin` the first one must begin the ledger. */
export function verifierOf(tenant: string, origin: string | null): (event: Event) => Verified {
  let known = origin;
  return (event) => {
    known ??= originFrom(event, tenant);
    return verifySignatures(known, event);
  };
}

export interface FoldOptions {
  /** Every entry is shown, from the first one on. Otherwise: the first two, all about one subject, and all about whoever signed. */
  readonly is_whole: boolean;
  /** Remembers entries, by hash, whose signatures were found good: the same bytes are not verified again. */
  readonly verified?: Set<Digest>;
}

/** How many signatures a process that lives long remembers. */
const REMEMBERED = 100_000;

/**
 * A ledger, or a part of one, folded in memory: what a deep verification, a proof, the gate's own look and a replay ask. Memory
 * grows with the number of rows and claims.
 */
export class FoldedLedger implements Ledger {
  readonly is_whole: boolean;
  readonly #verified: Set<Digest> | undefined;
  readonly #rows = new Map<string, Row>();
  readonly #claims = new Set<string>();
  readonly #principals = new Map<string, Principal>();
  #tenant = '';
  #at: string | null = null;

  constructor({ is_whole, verified }: FoldOptions) {
    this.is_whole = is_whole;
    this.#verified = verified;
  }

  get tenant(): string {
    return this.#tenant;
  }

  get origin(): string {
    return this.system.origin;
  }

  /** Keys, policies and freezes, as their signed entries tell it. */
  get system(): States['system'] {
    return (
      this.state('system', 'system') ??
      refuse('LEDGER_BROKEN', 'The ledger does not begin with its initialisation.')
    );
  }

  readonly row = <N extends RowName>(name: N, key: string): Row<N> | null =>
    (this.#rows.get(`${name} ${key}`) as Row<N> | undefined) ?? null;

  readonly state = <N extends RowName>(name: N, key: string): States[N] | null =>
    this.row(name, key)?.state ?? null;

  /** Everybody who was shown. */
  readonly principals = (): readonly Principal[] => [...this.#principals.values()];

  readonly isClaimed = (claim: string): boolean => this.#claims.has(claim);

  readonly authorities = authoritiesOf(this);

  readonly take = (entry: Entry): void => this.#fold(entry, parseEvent(entry), null);

  /** `hash` is that of the bytes that were read. */
  takeRead({ entry, event, hash }: ReadEntry & { readonly hash: Digest }): void {
    this.#fold(entry, event, hash);
  }

  #fold(entry: Entry, event: Event, hash: Digest | null): void {
    this.#tenant ||= entry.tenant;
    const verified = this.#verifiedOnce(event, hash);
    for (const row of foldEntry(this, { entry, event: verified }, this.#at)) this.#put(row);
    for (const claim of entry.claims) this.#claims.add(claim);
    this.#at = entry.at;
  }

  #verifiedOnce(event: Event, hash: Digest | null): Verified {
    if (hash !== null && this.#verified?.has(hash)) return verifiedBefore(event);
    const origin = this.state('system', 'system')?.origin ?? null;
    const verified = verifierOf(this.#tenant, origin)(event);
    if (hash !== null && this.#verified) {
      if (this.#verified.size >= REMEMBERED) this.#verified.clear();
      this.#verified.add(hash);
    }
    return verified;
  }

  #put(row: Row): void {
    this.#rows.set(`${row.name} ${row.key}`, row);
    if (row.name === 'principal') this.#principals.set(row.key, row.state as Principal);
  }
}

/** The keys and policies of a project are read for every intent. */
const READ = 1000;

/** Reads entries, and what it has read before not again: it goes by the hash of the bytes, not by what a row says. */
export function entryReader(): (bytes: Uint8Array) => ReadEntry & { readonly hash: Digest } {
  const known = new Map<Digest, ReadEntry & { readonly hash: Digest }>();
  return (bytes) => {
    const hash = leafHash(bytes);
    const found = known.get(hash);
    if (found) return found;
    const entry = openEntry(bytes);
    const read = { entry, event: parseEvent(entry), hash };
    if (known.size >= READ) known.clear();
    known.set(hash, read);
    return read;
  };
}
