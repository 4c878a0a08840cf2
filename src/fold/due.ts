import { limits } from '../limits.ts';

const HOUR_MS = 3_600_000;
/** Rows by the hour in which the clock makes them over. */
export class DueRows {
  readonly #hours = new Map<number, Set<string>>();
  #swept = 0;

  add(row: string, from_ms: number, now_ms: number): void {
    if (isFar(from_ms - now_ms)) return;
    const hour = hourOf(from_ms);
    const rows = this.#hours.get(hour);
    if (rows) rows.add(row);
    else this.#hours.set(hour, new Set([row]));
  }

  remove(row: string, from_ms: number): void {
    const hour = hourOf(from_ms);
    const rows = this.#hours.get(hour);
    if (rows?.delete(row) && rows.size === 0) this.#hours.delete(hour);
  }

  /** Those whose hour is over, once. Most entries are of the hour of the one before, and find none. */
  until(now_ms: number): string[] {
    const hour = Math.floor(now_ms / HOUR_MS);
    if (hour === this.#swept) return [];
    this.#swept = hour;
    const found: string[] = [];
    for (const [of, rows] of this.#hours) {
      if (of > hour) continue;
      found.push(...rows);
      this.#hours.delete(of);
    }
    return found;
  }
}

/** The first full hour that it is over in. */
function hourOf(from_ms: number): number {
  return Math.ceil(from_ms / HOUR_MS);
}

/** Not in a good ledger. An attacker writes any time, and must not have each sweep look at many hours. */
function isFar(after_ms: number): boolean {
  return after_ms > Math.max(limits.intent_ttl_s, limits.conversation_rests_s) * 1000 + HOUR_MS;
}
