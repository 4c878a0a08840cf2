import { type Digest, sha256 } from '../canonical/digest.ts';
import type { KeyOf } from '../canonical/ed25519.ts';
import { canonicalTextOfParsed, type JsonObject } from '../canonical/json.ts';
import { type Event, parseEvent, signedBy } from '../event/event.ts';
import { fold } from '../fold/fold.ts';
import { requireRoom } from '../fold/grounds.ts';
import type { Ledger as FoldLedger } from '../fold/ledger.ts';
import { type PagedBy, PROJECTIONS } from '../fold/projection.ts';
import { type Row, RowOverlay } from '../fold/row.ts';
import { claimsOf, isActClaim } from '../gate/claims.ts';
import { entryTime } from '../gate/ledger-time.ts';
import { removedBy } from '../gate/objects.ts';
import type { QuotaLimit } from '../identity/quota.ts';
import type { Verified } from '../identity/verified.ts';
import { type SealedEntry, sealEntry } from '../ledger/entry.ts';
import { append } from '../ledger/merkle.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { type AgentRow, agentRows } from './agent-tables.ts';
import { type Brought, broughtFor, requireBrought, restsIn, type StoredObject } from './rests.ts';
import type { Commit, Receipt, Tip, WrittenEntry } from './store.ts';

/** A commit whose shape is right and that no longer depends on the caller's memory. */
export interface CheckedCommit {
  /** What the caller wants to be unique beside what its events are by themselves. The first entry takes it. */
  readonly claims: readonly string[];
  readonly events: readonly Verified[];
  readonly objects: readonly StoredObject[];
  readonly brought: Brought;
  readonly erase: readonly Digest[];
  readonly quota: QuotaLimit | null;
  readonly as_of: number | null;
}

/** What is stored now, as one commit sees it. */
export interface StoredLedger extends FoldLedger {
  holdsObject(digest: Digest): boolean;
}

/** What entries write, beside objects. Only a claim that is taken can still stop it. */
export interface EntriesToWrite {
  readonly first_seq: number;
  readonly entries: readonly EntryToWrite[];
  readonly claims: readonly Claim[];
  readonly rows: readonly RowToWrite[];
  /** What the entries add to the tables of the agent core. */
  readonly agent_rows: readonly AgentRow[];
  readonly tip: Tip;
}

/** Everything that one commit writes. */
export interface CommitDecision extends EntriesToWrite {
  readonly commit: CheckedCommit;
  readonly receipt: Receipt;
}

/** A unique key, and the entry that takes it. */
export type Claim = readonly [key: string, seq: number];

export interface EntryToWrite extends SealedEntry {
  readonly at: string;
  readonly subject: string;
  readonly kind: string;
  readonly signer: string | null;
  /** The root of the largest complete subtree that ends with this entry. */
  readonly peak: Digest;
}

/** What rows are listed by is null where they are not. */
export interface RowToWrite extends PagedBy {
  readonly row: Row;
  readonly status: string | null;
  /** The state as canonical JSON. */
  readonly text: string;
}

/** Outside the transaction, so that a long check holds up no other writer. */
export function checkCommit(
  commit: Commit,
  verified: (event: Event) => Verified,
  keyOf?: KeyOf,
): CheckedCommit {
  const { claims = [], events, objects = [], erase = [], quota = null, as_of = null } = commit;
  // Claims are rebuilt from entries. Without an entry a claim or an object would be a fact without a record.
  if (events.length === 0) refuse('SHAPE_INVALID', 'A commit has at least one event.');
  for (const claim of claims)
    if (typeof claim !== 'string' || claim === '') refuse('SHAPE_INVALID', 'A claim is a text.');
  const parsed = events.map(parseEvent);
  const own = parsed.flatMap(claimsOf);
  const others = claims.filter((claim) => !own.includes(claim));
  if (new Set([...own, ...others]).size !== own.length + others.length)
    refuse('CLAIM_TAKEN', 'The commit takes a claim twice.');
  const copies = objects.map(copyOf);
  const checked = {
    claims: others,
    events: parsed.map(verified),
    objects: copies,
    brought: broughtFor(parsed, copies, keyOf),
    erase,
    quota,
    as_of,
  };
  requireErasuresNamed(checked);
  return checked;
}

/** Everything that a commit wants to be unique. */
export function allClaims({ claims, events }: CheckedCommit): string[] {
  return [...claims, ...events.flatMap(claimsOf)];
}

/** The copy is what the digest is of, even when the caller uses its buffer again before the commit is written. */
function copyOf(object: Uint8Array): StoredObject {
  if (object.length > limits.object_bytes)
    refuse('INPUT_TOO_LARGE', `A stored object has ${object.length} bytes.`);
  const bytes = new Uint8Array(object);
  return { digest: sha256(bytes), bytes };
}

/** Nothing vanishes without an entry that says who wanted it, and no entry says so of what stays. */
function requireErasuresNamed({ events, erase }: CheckedCommit): void {
  const named = events.map(removedBy).filter((digest) => digest !== null);
  if (named.toSorted().join() !== erase.toSorted().join())
    refuse('SHAPE_INVALID', 'Each removed object needs exactly one event that says so.');
}

/**
 * Decides a commit against what is stored: every event goes through the state machines. It only reads; a refusal leaves
 * nothing to undo, so commits can share a transaction without sharing their fate.
 */
export function decideCommit(
  tenant: string,
  commit: CheckedCommit,
  tip: Tip,
  at: string,
  ledger: StoredLedger,
): CommitDecision {
  try {
    return decided(tenant, commit, tip, entryTime(commit.events[0], tip.at, at), ledger);
  } catch (error) {
    // Claims are checked first: CLAIM_TAKEN says more than the state that the winner of the claim has reached by now. Of an act that
    // is done again, the state says more.
    refuseTaken(commit, ledger, (claim) => !isActClaim(claim));
    throw error;
  }
}

export function refuseTaken(
  commit: CheckedCommit,
  ledger: StoredLedger,
  counts: (claim: string) => boolean = () => true,
): void {
  const claim = allClaims(commit).find((key) => counts(key) && ledger.isClaimed(key));
  if (claim !== undefined) refuse('CLAIM_TAKEN', undefined, { claim });
}

function decided(
  tenant: string,
  commit: CheckedCommit,
  tip: Tip,
  at: string,
  ledger: StoredLedger,
): CommitDecision {
  if (commit.as_of !== null && commit.as_of !== tip.size)
    refuse('DECISION_STALE', 'The ledger grew since it was looked at.', { size: tip.size });
  for (const digest of commit.erase) if (!ledger.holdsObject(digest)) refuse('OBJECT_MISSING');
  const changes = new RowOverlay(ledger);
  const entries: EntryToWrite[] = [];
  const written: WrittenEntry[] = [];
  const agent_rows: AgentRow[] = [];
  const taken: Claim[] = [];
  let end = tip;
  for (const event of commit.events) {
    requireRoom(changes, commit, event, at);
    const rests = restsIn(changes, event);
    for (const row of fold(changes, event, { seq: end.size, at })) changes.put(row);
    requireBrought(commit.brought, rests);
    agent_rows.push(...agentRows(event, { tenant, seq: end.size, at }));
    const { kind, subject, body } = event;
    const claims = [...(entries.length === 0 ? commit.claims : []), ...claimsOf(event)];
    for (const claim of claims) taken.push([claim, end.size]);
    const { size: seq, last: prev } = end;
    // Written member by member: V8 makes a hidden class for each object that begins with a spread.
    const entry = { seq, tenant, at, kind, subject, claims, body: body as JsonObject, prev };
    const { bytes, hash } = sealEntry(entry);
    const { size, frontier } = append(end, hash);
    end = { size, frontier, last: hash, at };
    entries.push({ seq, bytes, hash, at, subject, kind, signer: signedBy(event), peak: frontier.at(-1)! });
    written.push({ seq, bytes, hash, entry, event });
  }
  const rows = Array.from(changes.changed(), rowToWrite);
  const receipt = { entries: written };
  return { commit, first_seq: tip.size, entries, claims: taken, rows, agent_rows, tip: end, receipt };
}

export function rowToWrite(row: Row): RowToWrite {
  const { name, state } = row;
  const { tool, proposer, actor, due } = PROJECTIONS[name].paged?.(state as never) ?? NOT_PAGED;
  const status = 'status' in state ? state.status : null;
  return { row, status, tool, proposer, actor, due, text: canonicalTextOfParsed(state) };
}

const NOT_PAGED: PagedBy = { tool: null, proposer: null, actor: null, due: null };
