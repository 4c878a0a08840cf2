import type { ServiceState } from '../store/store.ts';

interface Kept {
  value: string;
  readonly until: Ends;
}

/** By the clock, and by the time that passed in this process. */
interface Ends {
  readonly clock: number;
  readonly steady: number;
}

/**
 * For a store whose only service this is: in the memory of that process, and over with it. What is kept for a time is over when either of the
 * two clocks says so: one can be set back, and the other stands while the machine sleeps.
 */
export function ownServiceState(
  now: () => number = Date.now,
  steady: () => number = () => performance.now(),
): ServiceState {
  const kinds = new Map<string, Map<string, Kept>>();
  const after = (ttl_ms: number): Ends => ({ clock: now() + ttl_ms, steady: steady() + ttl_ms });
  const isOver = ({ until }: Kept) => until.clock <= now() || until.steady <= steady();
  const live = (kind: string): Map<string, Kept> => {
    const rows = kinds.get(kind) ?? new Map<string, Kept>();
    kinds.set(kind, rows);
    for (const [key, row] of rows) if (isOver(row)) rows.delete(key);
    return rows;
  };
  /** Without a walk over the others: every request of a session asks. */
  const found = (kind: string, key: string): Kept | undefined => {
    const row = kinds.get(kind)?.get(key);
    return row && !isOver(row) ? row : undefined;
  };
  return {
    get: async (kind, key) => found(kind, key)?.value ?? null,
    put: async (kind, { key, value, ttl_ms }, most) => {
      const rows = live(kind);
      rows.set(key, { value, until: after(ttl_ms) });
      if (rows.size > most) rows.delete(rows.keys().next().value!);
    },
    swap: async (kind, key, { from, to }) => {
      const row = found(kind, key);
      if (row?.value !== from) return false;
      row.value = to;
      return true;
    },
    take: async (kind, key) => {
      const row = found(kind, key);
      kinds.get(kind)?.delete(key);
      return row?.value ?? null;
    },
    list: async (kind, beginning = '') =>
      [...live(kind)]
        .filter(([key]) => key.startsWith(beginning))
        .map(([key, { value }]) => ({ key, value })),
    lease: async (kind, key, holder, ttl_ms) => {
      const held = found(kind, key);
      if (held !== undefined && held.value !== holder) return false;
      live(kind).set(key, { value: holder, until: after(ttl_ms) });
      return true;
    },
  };
}
