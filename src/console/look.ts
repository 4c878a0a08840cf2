import { createContext } from 'preact';
import { useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks';

/** What of a screen was seen: values that are cut until they are opened, and parts that were not on the screen yet. */
export interface ScreenLook {
  /** A cut value of this name is there. */
  needs(label: string, is_cut: boolean): void;
  open(label: string): void;
  isOpen(label: string): boolean;
  /** What has this name was on the screen to its end. Of what comes in several places, each is told apart. */
  seen(label: string, place?: string): void;
  expect(label: string, place?: string): void;
  /** Cut values that were not opened; parts of which a place was not seen. */
  readonly unopened: () => readonly string[];
  readonly unseen: () => readonly string[];
}

/** Where nothing has to be opened. */
export const QUIET: ScreenLook = {
  needs: () => {},
  open: () => {},
  isOpen: () => false,
  seen: () => {},
  expect: () => {},
  unopened: () => [],
  unseen: () => [],
};

export const LookContext = createContext<ScreenLook>(QUIET);
export const useLook = (): ScreenLook => useContext(LookContext);

/** A new one for each thing that is looked at. `changed` is called when the dock has something else to say. */
export function useFreshLook(subject: string): ScreenLook {
  const [, redraw] = useState(0);
  return useMemo(() => {
    const cuts = new Set<string>();
    const opened = new Set<string>();
    const parts = new Map<string, string>();
    const seen = new Set<string>();
    const keyOf = (label: string, place = '') => JSON.stringify([label, place]);
    const later = () => queueMicrotask(() => redraw((n) => n + 1));
    const add = (set: Set<string>, label: string) => {
      if (set.has(label)) return;
      set.add(label);
      later();
    };
    return {
      needs: (label, is_cut) => is_cut && add(cuts, label),
      open: (label) => add(opened, label),
      isOpen: (label) => opened.has(label),
      seen: (label, place) => add(seen, keyOf(label, place)),
      expect: (label, place) => {
        const key = keyOf(label, place);
        if (parts.has(key)) return;
        parts.set(key, label);
        later();
      },
      unopened: () => [...cuts].filter((label) => !opened.has(label)),
      unseen: () => [...new Set([...parts].flatMap(([key, label]) => (seen.has(key) ? [] : [label])))],
    };
  }, [subject]);
}

/** A mark at the end of a part: once it was on the screen, above the dock, the part was seen. */
export function useSeenMark(label: string, place?: string) {
  const look = useLook();
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    look.expect(label, place);
    const mark = ref.current;
    if (!mark) return;
    const observer = new IntersectionObserver(
      (entries) => entries.some(({ isIntersecting }) => isIntersecting) && look.seen(label, place),
      { rootMargin: '0px 0px -96px 0px' },
    );
    observer.observe(mark);
    return () => observer.disconnect();
  }, [look, label, place]);
  return ref;
}
