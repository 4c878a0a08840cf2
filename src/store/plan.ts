import { type Digest, sha256 } from '../canonical/digest.ts';
import type { JsonObject } from '../canonical/json.ts';
import { type Event, parseEvent } from '../event/event.ts';
import { type SealedEntry, sealEntry } from '../ledger/entry.ts';
import { append } from '../ledger/merkle.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { fold, overlay, type Row, type Rows } from './projection.ts';
import type { Commit, Tip } from './store.ts';

/** A commit whose shape is right and that no longer depends on the caller's memory. */
export interface CheckedCommit {
  readonly claims: readonly string[];
  readonly events: readonly Event[];
  readonly objects: readonly StoredObject[];
  readonly erase: readonly Digest[];
}

export interface StoredObject {
  readonly digest: Digest;
  readonly bytes: Uint8Array;
}

/** What is stored now, as one commit sees it. */
export interface Ledger extends Rows {
  isClaimed(key: string): boolean;
  holdsObject(digest: Digest): boolean;
}

/** Everything that one commit writes. Nothing of it can be refused any more. */
export interface Plan {
  readonly commit: CheckedCommit;
  readonly first_seq: number;
  readonly entries: readonly (SealedEntry & { readonly subject: string })[];
  readonly rows: Iterable<Row>;
  readonly tip: Tip;
}

/** Outside the transaction, so that a long check holds nobody up. */
export function checkCommit({ claims = [], events, objects = [], erase = [] }: Commit): CheckedCommit {
  // Claims are rebuilt from entries. Without an entry a claim or an object would be a fact that nobody recorded.
  if (events.length === 0) refuse('SHAPE_INVALID', 'A commit has at least one event.');
  for (const claim of claims)
    if (typeof claim !== 'string' || claim === '') refuse('SHAPE_INVALID', 'A claim is a text.');
  if (new Set(claims).size !== claims.length) refuse('CLAIM_TAKEN', 'The commit takes a claim twice.');
  const checked = { claims, events: events.map(parseEvent), objects: objects.map(copyOf), erase };
  requireErasuresNamed(checked);
  return checked;
}

/** The copy is what the digest is of, even when the caller uses its buffer again before the commit is written. */
function copyOf(object: Uint8Array): StoredObject {
  if (object.length > limits.output_bytes)
    refuse('INPUT_TOO_LARGE', `A stored object has ${object.length} bytes.`);
  const bytes = Uint8Array.from(object);
  return { digest: sha256(bytes), bytes };
}

/** Nothing vanishes without an entry that says who wanted it, and no entry says so of what stays. */
function requireErasuresNamed({ events, erase }: CheckedCommit): void {
  const named = events.filter(({ kind }) => kind === 'object.erased').map(({ subject }) => subject);
  if (named.toSorted().join() !== erase.toSorted().join())
    refuse('SHAPE_INVALID', 'Each erased object needs exactly one object.erased event.');
}

/**
 * Decides a commit against what is stored: claims first, then every event through the state machines. It only reads;
 * a refusal leaves nothing to undo, so commits can share a transaction without sharing their fate.
 */
export function planCommit(
  tenant: string,
  commit: CheckedCommit,
  tip: Tip,
  at: string,
  ledger: Ledger,
): Plan {
  for (const claim of commit.claims) if (ledger.isClaimed(claim)) refuse('CLAIM_TAKEN', undefined, { claim });
  for (const digest of commit.erase) if (!ledger.holdsObject(digest)) refuse('OBJECT_MISSING');
  const rows = overlay(ledger);
  const entries: Plan['entries'][number][] = [];
  let now = tip;
  for (const event of commit.events) {
    for (const row of fold(rows, event, now.size, at)) rows.put(row);
    const claims = entries.length === 0 ? commit.claims : [];
    const { kind, subject } = event;
    const body = event.body as JsonObject;
    const sealed = sealEntry({ seq: now.size, tenant, at, kind, subject, claims, body, prev: now.last });
    entries.push({ ...sealed, subject });
    now = { ...append(now, sealed.hash), last: sealed.hash, at };
  }
  return { commit, first_seq: tip.size, entries, rows: rows.changed(), tip: now };
}
