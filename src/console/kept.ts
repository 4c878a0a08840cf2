/** What this browser keeps, and sends nowhere: who you are, the last head that it saw, how long you looked. */
export interface KeptHere {
  get(name: string): string | null;
  set(name: string, value: string): void;
  looked(at: number, seconds: number, opened: boolean): void;
  /** The decisions of the last seven days, as one line; null where there were none. */
  week(now: number): string | null;
}

interface PastLook {
  readonly at: number;
  readonly seconds: number;
  readonly opened: boolean;
}

const WEEK_MS = 7 * 86_400_000;
const MOST = 500;

export function keptIn(storage: Storage): KeptHere {
  // A browser may refuse to keep anything: the console works without.
  const get = (name: string) => {
    try {
      return storage.getItem(`keyturn.${name}`);
    } catch {
      return null;
    }
  };
  const set = (name: string, value: string) => {
    try {
      storage.setItem(`keyturn.${name}`, value);
    } catch {
      // Nothing is kept.
    }
  };
  const looks = (): readonly PastLook[] => {
    try {
      const found = JSON.parse(get('looks') ?? '[]') as unknown;
      return Array.isArray(found) ? (found as PastLook[]) : [];
    } catch {
      return [];
    }
  };
  return {
    get,
    set,
    looked: (at, seconds, opened) =>
      set('looks', JSON.stringify([...looks(), { at, seconds, opened }].slice(-MOST))),
    week: (now) => {
      const recent = looks().filter(({ at }) => at > now - WEEK_MS);
      if (recent.length === 0) return null;
      const times = recent.map(({ seconds }) => seconds).sort((a, b) => a - b);
      const middle = Math.round(times[Math.floor(times.length / 2)]!);
      const opened = recent.filter((one) => one.opened).length;
      const count = recent.length === 1 ? '1 decision' : `${recent.length} decisions`;
      return `${count} in seven days. You looked for ${middle} s (median), and opened everything in ${opened} of them.`;
    },
  };
}
