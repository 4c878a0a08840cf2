import type { Cell } from './cell.ts';
import { pageHeader } from './enter.ts';

/** `lost`: no connection, and it is tried again. `over`: the session ended, and only a new link helps. */
export interface LiveState {
  readonly state: 'live' | 'lost' | 'over';
  /** Since when it is so, by the clock of the page. */
  readonly since: number;
  /** The newest entry that was heard of. */
  readonly seq: number | null;
}

export interface HeardEntry {
  readonly seq: number;
  readonly at: string;
  readonly kind: string;
  readonly subject: string;
  readonly words: string;
}

export interface Listening {
  readonly live: Cell<LiveState>;
  readonly onEntry: (entry: HeardEntry) => void;
  /** The stream began, or began again: what was drawn before may be old. */
  readonly onOpen: () => void;
}

const AGAIN_MS = [500, 1_000, 2_000, 5_000];

/** Follows the ledger. A stream that broke off goes on after the last entry; one that cannot is begun again, and all is asked for anew. */
export function followLedger({ live, onEntry, onOpen }: Listening): { again(): void } {
  let stop = new AbortController();
  let last_id: string | null = null;
  let tries = 0;
  let timer = 0;
  const become = (state: LiveState['state']) => {
    const before = live.get();
    if (before.state !== state) live.set({ ...before, state, since: Date.now() });
  };
  const hear = (event: string) => {
    const [, id] = /^id: (.*)$/m.exec(event) ?? [];
    const [, data] = /^data: (.*)$/m.exec(event) ?? [];
    if (id === undefined || data === undefined) return;
    last_id = id;
    const entry = JSON.parse(data) as HeardEntry;
    live.set({ ...live.get(), seq: entry.seq });
    onEntry(entry);
  };
  /** Not an EventSource: that sends no header. Returns when the stream has ended, with the status of its answer. */
  const listen = async (signal: AbortSignal): Promise<number> => {
    const headers = { ...pageHeader(), ...(last_id !== null && { 'last-event-id': last_id }) };
    const answer = await fetch('/v1/events', { headers, signal });
    if (!answer.ok || answer.body === null) return answer.status;
    tries = 0;
    become('live');
    onOpen();
    let text = '';
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const events = (text + part.value).split('\n\n');
      text = events.pop()!;
      events.forEach(hear);
    }
    return answer.status;
  };
  const open = async () => {
    clearTimeout(timer);
    stop.abort();
    const own = new AbortController();
    stop = own;
    const status = await listen(own.signal).catch(() => 0);
    if (own.signal.aborted) return;
    if (status === 401) return become('over');
    // The service does not know where to go on from.
    if (status === 400) last_id = null;
    become('lost');
    timer = window.setTimeout(open, AGAIN_MS[Math.min(tries++, AGAIN_MS.length - 1)]);
  };
  void open();
  return { again: () => void open() };
}
