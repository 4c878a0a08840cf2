import { type Digest, sha256 } from '../canonical/digest.ts';
import { parseEvent } from '../event/event.ts';
import { foldEntry, verifierOf } from '../fold/ledger.ts';
import { overlay } from '../fold/row.ts';
import { removedBy } from '../gate/objects.ts';
import type { Verified } from '../identity/verified.ts';
import { type Entry, leafHash, openEntry, type SealedEntry } from '../ledger/entry.ts';
import { append } from '../ledger/merkle.ts';
import { canonicalForm } from '../ledger/strict.ts';
import { limits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import { agentTableRows } from './agent-rows.ts';
import type { AgentTableRows } from './agent-tables.ts';
import {
  type Claim,
  type Ledger,
  type PlannedEntry,
  type PlannedRow,
  plannedRow,
  type StoredObject,
} from './decide.ts';
import type { Tip } from './store.ts';

/** An entry that another store wrote, read and found to be what its hash says. */
export interface ForeignEntry {
  readonly sealed: SealedEntry;
  readonly entry: Entry;
  readonly event: Verified;
}

/** Everything that the entries of another store write here. */
export interface Adoption {
  readonly entries: readonly (PlannedEntry & { readonly at: string })[];
  readonly claims: readonly Claim[];
  readonly rows: readonly PlannedRow[];
  readonly agent_rows: readonly AgentTableRows[];
  /** What the entries say was removed. */
  readonly erase: readonly Digest[];
  readonly tip: Tip;
}

/**
 * Nothing is believed because of where it comes from: whoever can write the other store could have put anything in it.
 * `known` is the name of the ledger that is here; null where these entries begin it.
 */
export function openForeign(
  tenant: string,
  known: string | null,
  entries: readonly SealedEntry[],
): ForeignEntry[] {
  const verified = verifierOf(tenant, known);
  return entries.map((sealed) =>
    asEntry(sealed.seq, () => {
      if (leafHash(sealed.bytes) !== sealed.hash) broken('its hash is not that of its bytes');
      const entry = openEntry(sealed.bytes);
      if (!canonicalForm(entry, sealed.bytes)) broken('its bytes are not in canonical form');
      if (entry.seq !== sealed.seq) broken(`it says that it is entry ${entry.seq}`);
      if (entry.tenant !== tenant) broken('it belongs to another tenant');
      return { sealed, entry, event: verified(parseEvent(entry)) };
    }),
  );
}

/** Checked as `commit` checks them: no object is larger than what it would have taken. */
export function foreignObjects(objects: readonly Uint8Array[]): StoredObject[] {
  return objects.map((bytes) => {
    if (bytes.length > limits.object_bytes)
      refuse('INPUT_TOO_LARGE', `A stored object has ${bytes.length} bytes.`);
    return { digest: sha256(bytes), bytes };
  });
}

/**
 * Pure: folds entries that exist already, with the time and the claims that they have. It refuses what `commit` would have
 * refused, so a ledger that was adopted is one that could have been written here.
 */
export function planAdoption(foreign: readonly ForeignEntry[], tip: Tip, ledger: Ledger): Adoption {
  requireJoint(foreign[0], tip);
  const rows = overlay(ledger);
  const taken = new Map<string, number>();
  const so_far = { ...rows, isClaimed: (claim: string) => taken.has(claim) || ledger.isClaimed(claim) };
  const entries: (PlannedEntry & { at: string })[] = [];
  const agent_rows: AgentTableRows[] = [];
  let end = tip;
  for (const { sealed, entry, event } of foreign)
    asEntry(end.size, () => {
      const { seq, at, claims, prev, tenant, subject } = entry;
      if (seq !== end.size) broken('it is missing');
      if (prev !== end.last) broken('it does not follow the entry before it');
      for (const row of foldEntry(so_far, { entry, event }, end.at)) rows.put(row);
      for (const claim of claims) taken.set(claim, seq);
      const added = agentTableRows(event, { tenant, seq, at });
      if (added) agent_rows.push(added);
      end = { ...append(end, sealed.hash), last: sealed.hash, at };
      entries.push({ ...sealed, subject, at, peak: end.frontier.at(-1)! });
    });
  return {
    entries,
    claims: [...taken],
    rows: Array.from(rows.changed(), plannedRow),
    agent_rows,
    erase: foreign.map(({ event }) => removedBy(event)).filter((digest) => digest !== null),
    tip: end,
  };
}

/** Entries are added to their own ledger only, where it ends. */
function requireJoint(first: ForeignEntry | undefined, { size, last }: Tip): void {
  if (first && (first.entry.seq !== size || first.entry.prev !== last))
    refuse(
      'LEDGER_FORKED',
      `The store has ${size} entries, and entry ${first.entry.seq} does not follow them.`,
      {
        size,
      },
    );
}

function broken(problem: string): never {
  return refuse('LEDGER_BROKEN', problem);
}

function asEntry<T>(seq: number, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refuse('LEDGER_BROKEN', `Entry ${seq}: ${error.message}`, { seq, found: error.code });
  }
}
