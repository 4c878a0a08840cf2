import { type Event, parseEvent } from '../event/event.ts';
import { isOfPolicies } from '../fold/decided.ts';
import { fold } from '../fold/fold.ts';
import { type Row, type RowName, RowOverlay, type Rows } from '../fold/row.ts';
import { REHEARSED } from '../identity/draft.ts';
import { verifiedBefore } from '../identity/verified.ts';
import { Refusal } from '../refusal.ts';
import { entryTime } from '../store/decide.ts';
import type { Store } from '../store/store.ts';
import type { Context } from './context.ts';

/** For an act that is only rehearsed: its commit is folded as it would be, and ends there. Not even its refusal is recorded. */
export function rehearsing(context: Context, ahead: Event[]): Context {
  const { store, clock } = context;
  const commit: Store['commit'] = async (wanted) => {
    const events = wanted.events.map(parseEvent);
    await foldAhead(store, [...ahead, ...events], clock());
    ahead.push(...events);
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

/** The fold is pure and reads rows at once; a store is asked for them one by one, as the fold comes to need them. */
async function foldAhead(store: Store, events: readonly Event[], now: Date): Promise<void> {
  const tip = await store.tip();
  const at = entryTime({ events }, tip, now.toISOString());
  const known = new Map<string, Row | null>();
  const rows: Rows = {
    tenant: store.tenant,
    is_whole: true,
    row: <N extends RowName>(name: N, key: string) => {
      const found = known.get(`${name} ${key}`);
      const unread = new Unread(name, key);
      if (found === undefined) throw unread;
      return found as Row<N> | null;
    },
  };
  for (;;) {
    try {
      const ahead = new RowOverlay(rows);
      for (const [i, event] of events.entries()) {
        for (const row of fold(ahead, verifiedBefore(event), { seq: tip.size + i, at })) ahead.put(row);
      }
      return;
    } catch (error) {
      if (!(error instanceof Unread)) throw error;
      const { name, key } = error;
      const state = await store.find(name, key);
      known.set(`${name} ${key}`, state && { name, key, seq: 0, state });
    }
  }
}
