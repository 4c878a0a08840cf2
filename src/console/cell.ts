import { useEffect, useState } from 'preact/hooks';

/** A value that changes, and whoever draws it. */
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
  useEffect(() => cell.subscribe(() => redraw((n) => n + 1)), [cell]);
  return cell.get();
}
