import { type Digest, sha256 } from '../canonical/digest.ts';
import { eventIn, signedBy } from '../event/event.ts';
import { foldEntry, LedgerOverlay, verifierOf } from '../fold/ledger.ts';
import { removedBy } from '../gate/objects.ts';
import type { Verified } from '../identity/verified.ts';
import { type Entry, leafHash, openWritten, type SealedEntry } from '../ledger/entry.ts';
import { append } from '../ledger/merkle.ts';
import { limits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import { type AgentRow, agentRows } from './agent-tables.ts';
import { type EntriesToWrite, type EntryToWrite, rowToWrite, type StoredLedger } from './decide.ts';
import { requireStored, restsIn, type StoredObject } from './rests.ts';
import type { Tip } from './store.ts';

/** An entry that another store wrote, read and found to be what its hash says. */
export interface ForeignEntry {
  readonly sealed: SealedEntry;
  readonly entry: Entry;
  readonly event: Verified;
}

/** Everything that the entries of another store write here. */
export interface Adoption extends EntriesToWrite {
  /** What the entries say was removed. */
  readonly erase: readonly Digest[];
}

/**
 * The attacker can write the other store, so every entry is checked whatever store it comes from.
 * `known` is the name of the ledger that is here; null where these entries begin it.
 */
export function openForeign(
  tenant: string,
  known: string | null,
  entries: readonly SealedEntry[],
): ForeignEntry[] {
  // Before any signature is looked at: those of a ledger that another founder began name another origin.
  if (known !== null && entries[0]?.seq === 0)
    refuse('LEDGER_FORKED', 'A ledger has begun here already, and entry 0 begins one.');
  const verified = verifierOf(tenant, known);
  return entries.map((sealed) =>
    inEntry(sealed.seq, () => {
      if (leafHash(sealed.bytes) !== sealed.hash) broken('its hash is not that of its bytes');
      const entry = openWritten(sealed.bytes);
      if (entry.seq !== sealed.seq) broken(`it says that it is entry ${entry.seq}`);
      if (entry.tenant !== tenant) broken('it belongs to another tenant');
      return { sealed, entry, event: verified(eventIn(entry)) };
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
 * refused, so a ledger that was adopted is one that could have been written here. `objects` are those that come with the entries; null
 * where they come later: who copies then has the whole ledger looked at (`copy.ts`).
 */
export function decideAdoption(
  foreign: readonly ForeignEntry[],
  tip: Tip,
  ledger: StoredLedger,
  objects: readonly StoredObject[] | null,
): Adoption {
  requireJoint(foreign[0], tip);
  const so_far = new LedgerOverlay(ledger);
  const brought = objects && new Map(objects.map(({ digest, bytes }) => [digest, bytes]));
  const entries: EntryToWrite[] = [];
  const agent_rows: AgentRow[] = [];
  let end = tip;
  for (const { sealed, entry, event } of foreign)
    inEntry(end.size, () => {
      const { seq, at, claims, prev, tenant, subject, kind } = entry;
      if (seq !== end.size) broken('it is missing');
      if (prev !== end.last) broken('it does not follow the entry before it');
      const rests = brought && restsIn(so_far, event);
      for (const row of foldEntry(so_far, { entry, event }, end.at)) so_far.put(row);
      if (rests) requireStored(rests, (digest) => brought?.get(digest) ?? refuse('OBJECT_MISSING'));
      for (const claim of claims) so_far.taken.set(claim, seq);
      agent_rows.push(...agentRows(event, { tenant, seq, at }));
      end = { ...append(end, sealed.hash), last: sealed.hash, at };
      entries.push({
        ...sealed,
        ...{ subject, kind, at },
        signer: signedBy(event),
        peak: end.frontier.at(-1)!,
      });
    });
  return {
    first_seq: tip.size,
    entries,
    claims: [...so_far.taken],
    rows: Array.from(so_far.changed(), rowToWrite),
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

/** An entry that commit could not have written means that the ledger itself is not what it was. */
export function inEntry<T>(seq: number, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refuse('LEDGER_BROKEN', `Entry ${seq}: ${error.message}`, { seq, found: error.code });
  }
}
