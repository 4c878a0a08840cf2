import type { Digest } from '../canonical/digest.ts';
import { type Event, parseEvent } from '../event/event.ts';
import { isOfPolicies } from '../fold/decided.ts';
import { fold } from '../fold/fold.ts';
import { type Row, type RowName, RowOverlay, type Rows } from '../fold/row.ts';
import { REHEARSED } from '../identity/draft.ts';
import { verifiedBefore } from '../identity/verified.ts';
import { Refusal } from '../refusal.ts';
import { entryTime } from '../store/decide.ts';
import type { Store, Tip } from '../store/store.ts';
import type { Context } from './context.ts';

/** For an act that is only rehearsed: its commit is folded as it would be, and ends there. Not even its refusal is recorded. */
export function rehearsing(context: Context, earlier: Event[]): Context {
  const { store, clock } = context;
  const commit: Store['commit'] = async (wanted) => {
    const events = wanted.events.map(parseEvent);
    await foldAfter(store, earlier, events, clock());
    throw REHEARSED;
  };
  return { ...context, store: { ...store, commit }, may_write: () => false };
}

/** What the policies say is a decision: it is recorded, for a human who proved to be there, and so it is not told before. */
export async function rehearsed<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw error instanceof Refusal && isOfPolicies(error.code) ? REHEARSED : error;
  }
}

/** A row that the fold asks for and that was not read yet. */
class Unread {
  readonly name: RowName;
  readonly key: string;

  constructor(name: RowName, key: string) {
    this.name = name;
    this.key = key;
  }
}

/** The rows after some of the earlier events, as long as the ledger ends there. */
interface FoldedEarlier {
  readonly last: Digest;
  readonly at: string | null;
  readonly events: number;
  readonly read: Map<string, Row | null>;
  readonly rows: RowOverlay;
}

/** One touch has up to `limits.touch_acts` acts: each is folded once, and not again for all that come after it. */
const folded = new WeakMap<readonly Event[], FoldedEarlier>();

/** Folds these events after the earlier ones, to which they are added unless they are refused. */
async function foldAfter(store: Store, earlier: Event[], events: readonly Event[], now: Date): Promise<void> {
  const tip = await store.tip();
  const kept = folded.get(earlier);
  const before = kept?.last === tip.last && kept.events === earlier.length ? kept : beginningAt(store, tip);
  const all = [...earlier.slice(before.events), ...events];
  const at = entryTime({ events: all }, before, now.toISOString());
  const rows = new RowOverlay(before.rows);
  for (const [i, event] of all.entries()) {
    const position = { seq: tip.size + before.events + i, at };
    for (const row of await foldReading(store, before.read, () =>
      fold(rows, verifiedBefore(event), position),
    ))
      rows.put(row);
  }
  for (const row of rows.changed()) before.rows.put(row);
  earlier.push(...events);
  folded.set(earlier, { ...before, at, events: earlier.length });
}

function beginningAt({ tenant }: Store, { last, at }: Tip): FoldedEarlier {
  const read = new Map<string, Row | null>();
  const below: Rows = {
    tenant,
    is_whole: true,
    row: <N extends RowName>(name: N, key: string) => {
      const found = read.get(`${name} ${key}`);
      const unread = new Unread(name, key);
      if (found === undefined) throw unread;
      return found as Row<N> | null;
    },
  };
  return { last, at, events: 0, read, rows: new RowOverlay(below) };
}

/** The fold is pure and reads rows at once; a store is asked for them one by one, as the fold comes to need them. */
async function foldReading<T>(store: Store, read: Map<string, Row | null>, act: () => T): Promise<T> {
  for (;;) {
    try {
      return act();
    } catch (error) {
      if (!(error instanceof Unread)) throw error;
      const { name, key } = error;
      const state = await store.find(name, key);
      read.set(`${name} ${key}`, state && { name, key, seq: 0, state });
    }
  }
}
