import type { Cell } from './cell.ts';

/** `lost`: no connection, and it is tried again. `over`: the session ended, and only a new link helps. */
export interface Live {
  readonly state: 'live' | 'lost' | 'over';
  /** Since when it is so, by the clock of the page. */
  readonly since: number;
  /** The newest entry that was heard of. */
  readonly seq: number | null;
}

export interface Heard {
  readonly seq: number;
  readonly at: string;
  readonly kind: string;
  readonly subject: string;
  readonly words: string;
}

export interface Listening {
  readonly live: Cell<Live>;
  readonly onEntry: (entry: Heard) => void;
  /** The stream began, or began again: what was drawn before may be old. */
  readonly onOpen: () => void;
}

const AGAIN_MS = [500, 1_000, 2_000, 5_000];

/** Follows the ledger. A stream that broke off goes on after the last entry; one that cannot is begun again, and all is asked for anew. */
export function follow({ live, onEntry, onOpen }: Listening): { again(): void } {
  let source: EventSource | null = null;
  let tries = 0;
  let timer = 0;
  const become = (state: Live['state']) => {
    const before = live.get();
    if (before.state !== state) live.set({ ...before, state, since: Date.now() });
  };
  const open = () => {
    clearTimeout(timer);
    source?.close();
    source = new EventSource('/v1/events');
    source.addEventListener('open', () => {
      tries = 0;
      become('live');
      onOpen();
    });
    source.addEventListener('entry', (event) => {
      const entry = JSON.parse((event as MessageEvent<string>).data) as Heard;
      live.set({ ...live.get(), seq: entry.seq });
      onEntry(entry);
    });
    source.addEventListener('error', () => {
      become('lost');
      if (source?.readyState === EventSource.CLOSED) void later();
    });
  };
  const later = async () => {
    if (await isOver()) return become('over');
    clearTimeout(timer);
    timer = window.setTimeout(open, AGAIN_MS[Math.min(tries++, AGAIN_MS.length - 1)]);
  };
  open();
  return { again: open };
}

async function isOver(): Promise<boolean> {
  try {
    const { status } = await fetch('/v1/system/get', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    return status === 401;
  } catch {
    return false;
  }
}
