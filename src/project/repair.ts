import type { Digest } from '../canonical/digest.ts';
import { parseEvent } from '../event/event.ts';
import { FoldedLedger } from '../fold/ledger.ts';
import { genesisOf } from '../journey/audit.ts';
import { type Entry, openEntry, type SealedEntry } from '../ledger/entry.ts';
import { openHead } from '../ledger/head.ts';
import type { TreeRoot } from '../ledger/merkle.ts';
import { verifierKey } from '../ledger/note.ts';
import { LedgerVerifier } from '../ledger/verify.ts';
import { limits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import type { Store } from '../store/store.ts';
import { closingStore, requireServer, tenantAt } from './store.ts';

export interface RepairRequest {
  /** A folder: the project there says whose ledger is meant, unless a tenant is named. */
  readonly at: string;
  /** With the role that owns the tables. */
  readonly url: string;
  readonly tenant?: string;
  /** Texts of heads that were kept: what they cover is never set aside. */
  readonly kept?: readonly string[];
  /** How many entries the ledger has afterwards, as an earlier look said. Without it nothing is changed. */
  readonly keep?: number;
  /** Also sets aside what can be read as entries. */
  readonly readable_too?: boolean;
}

/** A row past the end, and what its bytes say where they say anything. */
export interface PastEntry {
  readonly seq: number;
  readonly at: string | null;
  readonly kind: string | null;
  readonly subject: string | null;
}

export interface RepairedStore {
  /** Without a password. */
  readonly store: string;
  readonly tenant: string;
  /** How many entries verify, one after the other, from the first. */
  readonly entries: number;
  readonly last: Digest;
  /** How many the store said that there are. */
  readonly stored_size: number;
  /** Why the next stored row is no entry of this ledger; null when there is none. */
  readonly problem: string | null;
  readonly set_aside: number;
  /** The first of them. */
  readonly first: readonly PastEntry[];
  readonly written: boolean;
}

interface End {
  readonly size: number;
  readonly last: Digest;
  readonly problem: string | null;
}

/**
 * The attacker has the role of the application: it can add rows past the end and move the end, and change no entry. So the
 * entries that verify from the first one on are the ledger, whatever the store says; the rest is kept as evidence.
 */
export async function repairStore(request: RepairRequest): Promise<RepairedStore> {
  const place = requireServer(request.url);
  const tenant = request.tenant ?? tenantAt(request.at);
  const store = await place.open({ tenant, clock: () => new Date(), mode: 'read' });
  return closingStore(store, async () => {
    const { end, past, stored } = await lookAt(store, request);
    const is_due = past.count > 0 || stored.size !== end.size || stored.last !== end.last;
    const written = is_due && request.keep !== undefined;
    if (request.keep !== undefined) requireAsked(request, end, past);
    if (written) await cutAt(request.url, tenant, end, past, true);
    return {
      store: place.name,
      tenant,
      entries: end.size,
      last: end.last,
      stored_size: stored.size,
      problem: end.problem,
      set_aside: past.count,
      first: past.first,
      written,
    };
  });
}

function requireAsked({ keep, readable_too = false }: RepairRequest, { size }: End, past: Past): void {
  if (keep !== size)
    refuse('SHAPE_INVALID', `${size} entries verify, not ${keep}. Look again without --keep.`);
  if (past.is_readable && !readable_too) refuse('REPAIR_READABLE');
}

/** Tries the cut and takes it back: so the look needs the same role, and finds what only folding finds. */
async function lookAt(store: Store, { url, kept = [] }: RepairRequest) {
  const heads = await openedHeads(store, kept);
  let end = await verifiedEnd(store, heads, null);
  for (;;) {
    const past = await pastOf(store, end.size);
    try {
      return { end, past, stored: await cutAt(url, store.tenant, end, past, false) };
    } catch (error) {
      const seq = brokenAt(error);
      if (seq === null || seq >= end.size) throw error;
      end = await verifiedEnd(store, heads, { size: seq, problem: (error as Refusal).message });
    }
  }
}

async function cutAt(url: string, tenant: string, { size, last }: End, past: Past, write: boolean) {
  const { cutPostgresStore } = await import('../store/postgres/repair.ts');
  return cutPostgresStore({ url, tenant, size, last, past: past.count, write });
}

async function openedHeads(store: Store, texts: readonly string[]): Promise<TreeRoot[]> {
  const { origin, ledger_key } = await genesisOf(store);
  return texts.map((text) => openHead(text, verifierKey(origin, ledger_key)));
}

/** Where a deep verification stops. `most` is where folding stopped earlier than that. */
async function verifiedEnd(
  store: Store,
  kept: readonly TreeRoot[],
  most: { size: number; problem: string } | null,
): Promise<End> {
  const verifier = new LedgerVerifier({
    tenant: store.tenant,
    deep: true,
    kept,
    inspect: new FoldedLedger({ is_whole: true }).take,
  });
  const problem = (await feedAll(store, verifier, most?.size ?? Number.MAX_SAFE_INTEGER)) ?? most?.problem;
  if (verifier.size === 0) refuse('LEDGER_BROKEN', 'Not even the first entry verifies.', { seq: 0 });
  // Refuses where a kept head covers more than what verifies: then entries were changed, and this is no repair.
  const { size, last } = verifier.finish();
  return { size, last, problem: problem ?? null };
}

/** Why it stopped; null at the last row, or when there are as many as asked for. */
async function feedAll(store: Store, verifier: LedgerVerifier, most: number): Promise<string | null> {
  for await (const batch of store.entries())
    for (const sealed of batch) {
      if (verifier.size === most) return null;
      try {
        verifier.feed([sealed]);
      } catch (error) {
        if (!(error instanceof Refusal) || error.code !== 'LEDGER_BROKEN') throw error;
        return error.message;
      }
    }
  return null;
}

function brokenAt(error: unknown): number | null {
  if (!(error instanceof Refusal) || error.code !== 'LEDGER_BROKEN') return null;
  return typeof error.facts.seq === 'number' ? error.facts.seq : null;
}

interface Past {
  readonly count: number;
  readonly first: readonly PastEntry[];
  readonly is_readable: boolean;
}

async function pastOf(store: Store, size: number): Promise<Past> {
  const first: PastEntry[] = [];
  let count = 0;
  let is_readable = false;
  for await (const batch of store.entries(size))
    for (const sealed of batch) {
      count += 1;
      const entry = readable(sealed);
      // Keyturn may have appended it after a forged entry. What it says then happened, and is forgotten with it.
      is_readable ||= entry !== null;
      const { at = null, kind = null, subject = null } = entry ?? {};
      if (first.length < limits.named_rows) first.push({ seq: sealed.seq, at, kind, subject });
    }
  return { count, first, is_readable };
}

function readable({ bytes }: SealedEntry): Entry | null {
  try {
    const entry = openEntry(bytes);
    parseEvent(entry);
    return entry;
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}
