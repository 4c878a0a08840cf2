import { useEffect, useState } from 'preact/hooks';

/** A value that changes, and the listeners that draw it. */
export interface Cell<T> {
  get(): T;
  set(next: T): void;
  subscribe(listener: () => void): () => void;
}

export function cellOf<T>(first: T): Cell<T> {
  let value = first;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set: (next) => {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of [...listeners]) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export function useCell<T>(cell: Cell<T>): T {
  const [, redraw] = useState(0);
  const drawn = cell.get();
  useEffect(() => {
    const again = () => redraw((n) => n + 1);
    // It may have changed after it was drawn, before anything listened.
    if (!Object.is(cell.get(), drawn)) again();
    return cell.subscribe(again);
  }, [cell]);
  return drawn;
}
