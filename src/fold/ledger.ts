import type { Digest } from '../canonical/digest.ts';
import { type KeyOf, rememberedKeys } from '../canonical/ed25519.ts';
import { Recent } from '../canonical/recent.ts';
import { TextSet } from '../canonical/text-set.ts';
import { type Event, eventIn } from '../event/event.ts';
import { claimsOf } from '../gate/claims.ts';
import { requireInOrder } from '../gate/ledger-time.ts';
import { originOf } from '../identity/act.ts';
import { type Verified, verifiedBefore, verifySignatures } from '../identity/verified.ts';
import { type Entry, leafHash, openWritten } from '../ledger/entry.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { type NeededDecision, neededDecision } from './decided.ts';
import { DueRows } from './due.ts';
import { fold } from './fold.ts';
import { type IssuedToken, issuedToken } from './issued.ts';
import { canBeOver, isEarly, isRowOver, overFrom, overWith, usesBackups } from './over.ts';
import { rowsNamedBy } from './projection.ts';
import { authoritiesOf, type Row, type RowName, RowOverlay, type Rows, type States } from './row.ts';

/** An entry with the fact that it tells. */
export interface ReadEntry {
  readonly entry: Entry;
  readonly event: Event;
}

/** The same, with the hash of its bytes. */
export interface HashedEntry extends ReadEntry {
  readonly hash: Digest;
}

/** Rows, and the unique keys that were taken by now. */
export interface Ledger extends Rows {
  isClaimed(claim: string): boolean;
}

/** A ledger with entries laid over it that are not stored yet. */
export class LedgerOverlay extends RowOverlay implements Ledger {
  /** The claims that those entries took. */
  readonly taken = new Map<string, number>();
  readonly #below: Ledger;

  constructor(below: Ledger) {
    super(below);
    this.#below = below;
  }

  isClaimed(claim: string): boolean {
    return this.taken.has(claim) || this.#below.isClaimed(claim);
  }
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
  const is_twice = claims.length > 1 && new Set(claims).size < claims.length;
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

/** Verifies the signatures of a ledger's events. While `origin` is null the ledger has not begun: the first one must begin it. */
export function verifierOf(
  tenant: string,
  origin: string | null,
  keyOf: KeyOf = rememberedKeys(),
): (event: Event) => Verified {
  let known = origin;
  return (event) => {
    known ??= originFrom(event, tenant);
    return verifySignatures(known, event, keyOf);
  };
}

export interface FoldOptions {
  /**
   * Every entry is shown, from the first one on. Otherwise: the first two, all about one subject, the proposal of what replaced it, and all
   * about its signers.
   */
  readonly is_whole: boolean;
  readonly verified?: VerifiedEntries;
  /** What was true before each entry beyond the one subject that is folded here. Without it these entries are shown as well. */
  readonly below?: Below;
  /** Is told which decision each entry rests on. The fold has no objects: who has them looks whether the decision says that. */
  readonly decided?: (needed: NeededDecision, seq: number) => void;
  /** The same for the token that an entry issues. */
  readonly issued?: (token: IssuedToken, seq: number) => void;
  /**
   * Claims, and rows that are over, are forgotten, but for these. Should an entry look at what may be a forgotten one, nothing more is folded,
   * and what the entries from there on name of it is added to these. Without it none is forgotten.
   */
  readonly keeps?: Keeps;
}

/**
 * What another reading of the ledger does not forget. Where something was missed, whatever the reading found counts for nothing: the
 * caller reads again.
 */
export class Keeps {
  readonly #for_good = new TextSet();
  /** Plans that are looked at although they were over, each until its last such entry. */
  readonly #late = new Map<string, number>();
  #missed = false;

  /** The entry `seq` looks at it. `is_early` tells that it was forgotten although a good ledger may go on with it. */
  miss(what: string, seq: number, is_early: boolean): void {
    this.#missed = true;
    if (is_early && !this.isAwaited(what, seq - 1)) this.#late.set(what, seq);
    else this.#for_good.add(what);
  }

  /** Whether something was missed since this was asked last. */
  takeMissed(): boolean {
    const missed = this.#missed;
    this.#missed = false;
    return missed;
  }

  has(what: string): boolean {
    return this.#for_good.has(what);
  }

  /** Whether an entry after this one looks at it. */
  isAwaited(what: string, seq: number): boolean {
    return (this.#late.get(what) ?? seq) > seq;
  }
}

/** An entry looks at a row or a claim that was forgotten. No refusal, because it says nothing about the ledger. */
class Forgotten extends Error {}

/** Rows as they were just before an entry. */
export interface Below {
  row<N extends RowName>(name: N, key: string, before: number): Row<N> | null;
}

/**
 * Entries, by hash, whose signatures this process has verified: the same bytes are not verified again. What it only signed does not
 * belong here.
 */
export class VerifiedEntries {
  readonly keyOf = rememberedKeys();
  readonly #known = new Recent<Digest, true>(limits.remembered_claims);

  has(hash: Digest): boolean {
    return this.#known.get(hash) !== undefined;
  }

  add(hash: Digest): void {
    this.#known.set(hash, true);
  }
}

/**
 * A ledger, or a part of one, folded in memory: what a deep verification, a proof, the gate's own look and a replay ask. Memory
 * grows with the number of rows and claims; with `keeps`, by some 16 bytes for each claim and each row that is over.
 */
export class FoldedLedger implements Ledger {
  readonly is_whole: boolean;
  readonly is_one_subject: boolean;
  readonly #verified: VerifiedEntries | undefined;
  readonly #decided: FoldOptions['decided'];
  readonly #issued: FoldOptions['issued'];
  readonly #below: Below | undefined;
  readonly #rows = new Map<string, Row>();
  readonly #claims = new Set<string>();
  readonly #keeps: Keeps | undefined;
  readonly #forgotten: TextSet | null;
  /** Those of them that had backups. */
  readonly #early = new TextSet();
  #is_lost = false;
  readonly #due = new DueRows();
  readonly #keyOf: KeyOf;
  #tenant = '';
  #at: string | null = null;
  /** The entry that is being folded, or was last. */
  #seq = 0;

  constructor({ is_whole, verified, below, decided, issued, keeps }: FoldOptions) {
    this.is_whole = is_whole;
    this.is_one_subject = below !== undefined;
    this.#keeps = keeps;
    this.#forgotten = keeps ? new TextSet() : null;
    this.#verified = verified;
    this.#keyOf = verified?.keyOf ?? rememberedKeys();
    this.#below = below;
    this.#decided = decided;
    this.#issued = issued;
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

  readonly row = <N extends RowName>(name: N, key: string): Row<N> | null => {
    const found = this.#rows.get(`${name} ${key}`) as Row<N> | undefined;
    if (found === undefined && canBeOver(name)) this.#requireKnown(`${name} ${key}`);
    return found ?? this.#below?.row(name, key, this.#seq) ?? null;
  };

  readonly state = <N extends RowName>(name: N, key: string): States[N] | null =>
    this.row(name, key)?.state ?? null;

  readonly isClaimed = (claim: string): boolean => {
    if (this.#claims.has(claim)) return true;
    this.#requireKnown(`claim ${claim}`);
    return false;
  };

  #requireKnown(what: string): void {
    if (!this.#isMissing(what)) return;
    this.#keeps!.miss(what, this.#seq, this.#early.has(what));
    const gap = new Forgotten();
    throw gap;
  }

  #isMissing(what: string): boolean {
    return this.#forgotten?.has(what) === true && !this.#keeps!.has(what);
  }

  readonly authorities = authoritiesOf(this);

  readonly take = (entry: Entry): void => {
    this.#fold(entry, eventIn(entry), null);
  };

  /** The rows that the entry changed. `hash` is that of the bytes that were read. */
  takeRead({ entry, event, hash }: HashedEntry): readonly Row[] {
    return this.#fold(entry, event, hash);
  }

  #fold(entry: Entry, event: Event, hash: Digest | null): readonly Row[] {
    if (!this.#is_lost)
      try {
        return this.#foldKnown(entry, event, hash);
      } catch (error) {
        if (!(error instanceof Forgotten)) throw error;
        this.#is_lost = true;
      }
    this.#missNamed(event, entry.seq);
    return [];
  }

  /** What further entries look at of it is missed at once, as far as they tell: one more reading is enough for most ledgers. */
  #missNamed(event: Event, seq: number): void {
    if (usesBackups(event)) this.#keeps!.miss(`intent ${event.subject}`, seq, true);
    for (const [name, key] of rowsNamedBy(event)) {
      const what = `${name} ${key}`;
      if (canBeOver(name) && !this.#early.has(what) && this.#isMissing(what))
        this.#keeps!.miss(what, seq, false);
    }
  }

  #foldKnown(entry: Entry, event: Event, hash: Digest | null): readonly Row[] {
    this.#tenant ||= entry.tenant;
    this.#seq = entry.seq;
    const verified = this.#verifiedOnce(event, hash);
    const needed = this.#decided ? neededDecision(this, event) : null;
    const token = this.#issued ? issuedToken(this, event) : null;
    // Over `below`, the entry before this one in the ledger may be any other, which sets the clock back.
    const before = this.#below ? null : this.#at;
    const rows = [...foldEntry(this, { entry, event: verified }, before)];
    for (const row of rows) this.#put(row);
    if (this.#forgotten) this.#forgetOver(rows, Date.parse(entry.at));
    if (needed) this.#decided?.(needed, entry.seq);
    if (token) this.#issued?.(token, entry.seq);
    for (const claim of entry.claims) this.#take(claim);
    this.#at = entry.at;
    return rows;
  }

  #verifiedOnce(event: Event, hash: Digest | null): Verified {
    if (hash !== null && this.#verified?.has(hash)) return verifiedBefore(event);
    const origin = this.state('system', 'system')?.origin ?? null;
    const verified = verifierOf(this.#tenant, origin, this.#keyOf)(event);
    if (hash !== null) this.#verified?.add(hash);
    return verified;
  }

  #put(row: Row): void {
    this.#rows.set(`${row.name} ${row.key}`, row);
  }

  #take(claim: string): void {
    if (!this.#forgotten || this.#keeps?.has(`claim ${claim}`)) this.#claims.add(claim);
    else this.#forgotten.add(`claim ${claim}`);
  }

  #forgetOver(rows: readonly Row[], now_ms: number): void {
    for (const row of rows) {
      const from_ms = overFrom(row);
      if (from_ms !== null) this.#due.add(`${row.name} ${row.key}`, from_ms, now_ms);
      this.#forget(row, now_ms);
    }
    for (const text of this.#due.until(now_ms)) {
      const row = this.#rows.get(text);
      if (row) this.#forget(row, now_ms);
    }
  }

  #forget(row: Row, now_ms: number): void {
    const text = `${row.name} ${row.key}`;
    if (!canBeOver(row.name) || this.#keeps?.has(text)) return;
    const is_early = isEarly(row);
    if (is_early && this.#keeps?.isAwaited(text, this.#seq)) return;
    const from_ms = overFrom(row);
    const is_past = from_ms !== null && from_ms <= now_ms && !this.#isDispatched(row.key);
    if (!is_past && !isRowOver(row, this.#isDispatched)) return;
    if (from_ms !== null) this.#due.remove(text, from_ms);
    // The end of a dispatch may be what its intent waited for.
    const intent = row.name === 'dispatched' ? this.#rows.get(`intent ${row.key}`) : undefined;
    const others = row.name === 'intent' ? overWith((row as Row<'intent'>).state) : [];
    for (const one of [text, ...others.filter((one) => !this.#keeps?.has(one))]) {
      this.#rows.delete(one);
      this.#forgotten?.add(one);
      if (is_early) this.#early.add(one);
    }
    if (intent) this.#forget(intent, now_ms);
  }

  readonly #isDispatched = (intent_id: string): boolean => {
    const row = this.#rows.get(`dispatched ${intent_id}`) as Row<'dispatched'> | undefined;
    return row !== undefined && !row.state.is_over;
  };
}

/** Reads entries, and what it has read before not again: it goes by the hash of the bytes, not by what a row says. */
export class EntryReader {
  readonly #known = new Recent<Digest, HashedEntry>(limits.remembered_entries);

  /** `hash` is that of the bytes. */
  readonly read = (bytes: Uint8Array, hash: Digest = leafHash(bytes)): HashedEntry => {
    const found = this.#known.get(hash);
    if (found) return found;
    const entry = openWritten(bytes);
    return this.keep({ entry, event: eventIn(entry), hash });
  };

  /** What was parsed, and sealed as bytes of this hash. */
  keep({ entry, event, hash }: HashedEntry): HashedEntry {
    const read = { entry, event, hash };
    this.#known.set(hash, read);
    return read;
  }

  known(hash: Digest): HashedEntry | undefined {
    return this.#known.get(hash);
  }
}
