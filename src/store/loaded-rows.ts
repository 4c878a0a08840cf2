import type { Digest } from '../canonical/digest.ts';
import { type Event, isSigned } from '../event/event.ts';
import { PROJECTIONS, ROW_NAMES, rowsNamedBy } from '../fold/projection.ts';
import type { Row, RowName } from '../fold/row.ts';
import { delegationOf } from '../identity/authority.ts';
import { limits, postgresLimits } from '../limits.ts';
import { allClaims, type CheckedCommit, type StoredLedger } from './decide.ts';
import type { FoundRows, RowRef, Wanted } from './store.ts';

export const refOf = (ref: RowRef) => ref.join(' ');

/**
 * Thrown by a decision that looks at what was not loaded: it is loaded, and the decision made again. No refusal, because
 * some decisions forgive those; and it never leaves this folder.
 */
export class NotLoaded extends Error {
  readonly wanted: Wanted;

  constructor(wanted: Wanted) {
    super('a decision needs more than was loaded');
    this.wanted = wanted;
  }
}

/** Nearly every decision looks at these: they are loaded without being asked for. */
export const ALWAYS: ReadonlySet<RowName> = new Set(ROW_NAMES.filter((name) => PROJECTIONS[name].is_one));

const NOTHING: Wanted = { rows: new Map(), claims: [], objects: [] };

/** A good guess at what commits will look at. What it misses costs a round trip, never correctness. */
export function wantedOf(commits: readonly CheckedCommit[]): Wanted {
  return {
    rows: new Map(commits.flatMap(({ events }) => events.flatMap(lookedAt).map((ref) => [refOf(ref), ref]))),
    claims: commits.flatMap(allClaims),
    objects: commits.flatMap(({ erase }) => erase),
  };
}

/** The rows that it changes, who signed it and under what, and whether a run that the agent core dispatched still stands. */
function lookedAt(event: Event): RowRef[] {
  const refs = rowsNamedBy(event);
  if (event.kind === 'execution.claimed') refs.push(['dispatched', event.subject]);
  if (!isSigned(event)) return refs;
  const delegation = delegationOf(event);
  return [
    ...refs,
    ['principal', event.body.by],
    ...(delegation ? [['delegation', delegation] as const] : []),
  ];
}

/**
 * Rows that no event names by itself, and that decisions of late looked at all the same: the count of a proposer, for one. The next
 * ones look at them too, and a round trip for each would be made while all others wait for the lock of the chain.
 */
export class MissedRows {
  readonly #rows = new Map<string, RowRef>();

  add({ rows }: Wanted): void {
    for (const [ref, row] of rows) {
      this.#rows.delete(ref);
      this.#rows.set(ref, row);
    }
    for (const ref of this.#rows.keys())
      if (this.#rows.size > postgresLimits.missed_rows) this.#rows.delete(ref);
  }

  with(wanted: Wanted): Wanted {
    return { ...wanted, rows: new Map([...this.#rows, ...wanted.rows]) };
  }
}

/** Rows of one moment, held in memory, so that a decision can look at them without waiting. */
export interface LoadedRows {
  /** Throws NotLoaded where nothing is known. */
  readonly ledger: StoredLedger;
  /** Presumes that what is unknown is absent, and remembers where. */
  presuming(): { readonly ledger: StoredLedger; readonly presumed: ReadonlySet<string> };
  learn(wanted: Wanted, found: FoundRows): void;
  /** The rows after a write. */
  absorb(rows: Iterable<Row>): void;
  /** Forgets what can be read again: claims, objects, and the rows that do not fit. */
  trim(): void;
}

export function loadedRowsOf(tenant: string): LoadedRows {
  const rows = new Map<string, Row | null>();
  const claims = new Map<string, boolean>();
  const objects = new Map<Digest, boolean>();
  let has_always = false;

  function known(name: RowName, key: string): Row | null | undefined {
    const row = rows.get(refOf([name, key]));
    return row === undefined && has_always && ALWAYS.has(name) ? null : row;
  }

  const ledger: StoredLedger = {
    tenant,
    is_whole: true,
    row: <N extends RowName>(name: N, key: string) => {
      const row = known(name, key);
      if (row === undefined) missing({ ...NOTHING, rows: new Map([[refOf([name, key]), [name, key]]]) });
      return row as Row<N> | null;
    },
    isClaimed: (claim) => claims.get(claim) ?? missing({ ...NOTHING, claims: [claim] }),
    holdsObject: (digest) => objects.get(digest) ?? missing({ ...NOTHING, objects: [digest] }),
  };

  function presuming() {
    const presumed = new Set<string>();
    const row = <N extends RowName>(name: N, key: string) => {
      const found = known(name, key);
      if (found !== undefined || ALWAYS.has(name)) return ledger.row(name, key);
      presumed.add(refOf([name, key]));
      return null;
    };
    return { ledger: { ...ledger, row, isClaimed: () => false }, presumed };
  }

  function learn(wanted: Wanted, found: FoundRows): void {
    has_always = true;
    for (const ref of wanted.rows.keys()) put(ref, null);
    for (const row of found.rows) put(refOf([row.name, row.key]), row);
    for (const claim of wanted.claims) claims.set(claim, found.claims.has(claim));
    for (const digest of wanted.objects) objects.set(digest, found.objects.has(digest));
  }

  /** The rows that were put first go first: most decisions are about intents of late. */
  function trim(): void {
    claims.clear();
    objects.clear();
    for (const [ref, row] of rows) {
      if (rows.size <= limits.kept_rows) return;
      if (row === null || !ALWAYS.has(row.name)) rows.delete(ref);
    }
  }

  function put(ref: string, row: Row | null): void {
    rows.delete(ref);
    rows.set(ref, row);
  }

  return {
    ledger,
    presuming,
    learn,
    absorb: (changed) => {
      for (const row of changed) put(refOf([row.name, row.key]), row);
    },
    trim,
  };
}

function missing(wanted: Wanted): never {
  const gap = new NotLoaded(wanted);
  throw gap;
}

/** Decides on what is loaded; where that is too little, loads what the decision looked at and decides again. */
export async function decidedOn<T>(
  loaded: LoadedRows,
  decide: () => T,
  load: (wanted: Wanted) => Promise<FoundRows>,
): Promise<T> {
  for (;;) {
    try {
      return decide();
    } catch (error) {
      if (!(error instanceof NotLoaded)) throw error;
      loaded.learn(error.wanted, await load(error.wanted));
    }
  }
}

/** Whether each row that was presumed absent is one that the write makes: then its unique key is the proof. */
export function areProven(presumed: ReadonlySet<string>, made: Iterable<Row>): boolean {
  const proven = new Set(Array.from(made, ({ name, key }) => refOf([name, key])));
  return [...presumed].every((ref) => proven.has(ref));
}
