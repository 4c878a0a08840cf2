import type { EventKind } from '../event/event.ts';
import type { Authorities } from '../identity/delegation.ts';
import { refuse } from '../refusal.ts';
import { type Below, FoldedLedger, type HashedEntry, type VerifiedEntries } from './ledger.ts';
import { movedBy } from './projection.ts';
import type { Row, RowName, States } from './row.ts';

/** A row, and the entry that made it so. */
interface Version {
  readonly seq: number;
  readonly row: Row;
}

/**
 * The system, the people with their keys, and the delegations, as they were before each entry of the ledger. An intent is folded over
 * it entry by entry, so an approval is judged by the keys of its own moment, and no intent is a reason to fold any of this again.
 */
export class History implements Below {
  readonly #folded: FoldedLedger;
  readonly #versions = new Map<string, Version[]>();

  constructor(verified: VerifiedEntries) {
    this.#folded = new FoldedLedger({ is_whole: false, verified });
  }

  /** Whether an entry of this kind belongs here. One that sets the clock back changes no row, but its signature counts. */
  static tells(kind: string): boolean {
    return (
      kind === 'clock.accepted' || movedBy(kind as EventKind).some(({ is_kept_folded }) => is_kept_folded)
    );
  }

  /** The next entry that belongs here. A refusal leaves everything as it was. */
  take(read: HashedEntry): void {
    for (const row of this.#folded.takeRead(read)) {
      const ref = `${row.name} ${row.key}`;
      const known = this.#versions.get(ref);
      const version = { seq: read.entry.seq, row };
      if (known) known.push(version);
      else this.#versions.set(ref, [version]);
    }
  }

  /** The row as it was just before the entry `before`. */
  row<N extends RowName>(name: N, key: string, before: number): Row<N> | null {
    const versions = this.#versions.get(`${name} ${key}`) ?? [];
    let [low, high] = [0, versions.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (versions[middle]!.seq < before) low = middle + 1;
      else high = middle;
    }
    return (versions[low - 1]?.row as Row<N> | undefined) ?? null;
  }

  system(before: number): States['system'] {
    return (
      this.row('system', 'system', before)?.state ??
      refuse('LEDGER_BROKEN', 'The ledger does not begin with its initialisation.')
    );
  }

  authorities(before: number): Authorities {
    return {
      principal: (name) => this.row('principal', name, before)?.state ?? null,
      delegation: (id) => this.row('delegation', id, before)?.state ?? null,
    };
  }
}
