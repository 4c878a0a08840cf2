import { sha256 } from '../canonical/digest.ts';
import { canonicalText, type JsonObject } from '../canonical/json.ts';
import { skimEntry } from '../ledger/entry.ts';
import { journeyLimits, limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import type { Page } from '../store/store.ts';
import { turnsOf } from '../turns.ts';
import type { Context } from './context.ts';

/** What is asked of a list: those of its rows that fit the filter, newest first. */
export interface PageRequest {
  readonly limit: number;
  /** Where an earlier page of the same list ended. */
  readonly cursor?: string | undefined;
  /** At this time or later; before this time. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

/** Where the rows of a list come from, and which of them are meant. */
export interface Listing<S, T> {
  /** Part of each cursor: one of another list is refused. */
  readonly list: string;
  /** The rows before this entry, newest first, as many as asked for unless there are fewer. */
  batch(size: number, beyond: number | undefined): Promise<readonly { seq: number; state: S }[]>;
  /** The time of the entry that brought the row into being. */
  at(state: S): string;
  /** Nothing that came into being before this time fits. */
  readonly since?: string | undefined;
  /** What is shown of it; null where it does not fit. */
  shown(state: S): Promise<T | null>;
}

/** How a page ends. */
export interface PageEnd {
  /** Null where there are no more. A page can be shorter than asked for, and yet go on: only so much is looked at for one page. */
  readonly next: string | null;
  /** How many rows were looked at for it, whether they fit or not. */
  readonly looked: number;
}

export interface ListedPage<T> extends PageEnd {
  readonly found: readonly T[];
}

/** What a page costs does not depend on how many rows there are. */
export async function pageOf<S, T>(
  context: Context,
  request: PageRequest,
  { list, batch, at, since: ever, shown }: Listing<S, T>,
): Promise<ListedPage<T>> {
  // Times are no part of what a cursor is bound to: an age such as 2h is another time for each page.
  const { limit, cursor, since, until, ...filter } = request;
  const found: T[] = [];
  const end = until === undefined ? undefined : await seqAt(context, until);
  const place = cursor === undefined ? undefined : await placeOf(context, cursor, list, filter);
  let beyond = end === undefined || place === undefined ? (end ?? place) : Math.min(end, place);
  let looked = 0;
  const turns = turnsOf();
  const isTooOld = (time: string) => [since, ever].some((one) => one !== undefined && time < one);
  for (
    let size = limit + 1;
    looked < journeyLimits.page_looked_at;
    size = Math.max(size, journeyLimits.page_batch)
  ) {
    const rows = await batch(size, beyond);
    for (const { seq, state } of rows) {
      if (isTooOld(at(state))) return { found, looked, next: null };
      if (found.length === limit) return { found, looked, next: cursorOf(context, list, filter, beyond!) };
      looked += 1;
      // A store in this process answers without a wait, and each row may ask the policies.
      await turns();
      const one = await shown(state);
      if (one !== null) found.push(one);
      beyond = seq;
    }
    if (rows.length < size) return { found, looked, next: null };
  }
  return { found, looked, next: cursorOf(context, list, filter, beyond!) };
}

/** What was proposed before this has expired, however long it could live. */
export function liveSince({ clock }: Context): string {
  return new Date(clock().getTime() - limits.intent_ttl_s * 1000).toISOString();
}

/** Whether one of these has this text in it, in any case. Every row fits where no text is asked for. */
export function holdsText(among: readonly (string | null)[], part: string | undefined): boolean {
  return part === undefined || among.some((one) => one !== null && folded(one).includes(folded(part)));
}

const folded = (text: string) => text.normalize('NFKC').toLowerCase();

/** What a store is asked for: the newest rows before this entry. */
export function newestBefore(limit: number, beyond: number | undefined, by: Page['by']): Page {
  return { limit, newest_first: true, ...(by && { by }), ...(beyond !== undefined && { beyond }) };
}

/** The first entry of this time or later; the end of the ledger where there is none. */
export async function seqAt({ store }: Context, until: string): Promise<number> {
  let [low, high] = [0, (await store.tip()).size];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const entry = await store.entry(middle);
    const at = entry ? skimEntry(entry.bytes)?.at : undefined;
    if (at !== undefined && at < until) low = middle + 1;
    else high = middle;
  }
  return low;
}

const CURSOR = /^([0-9a-z]{1,11})-([0-9a-f]{16})$/;

/** Where a page ended, bound to the list that it belongs to. It is no secret: a caller who makes one up gets a place in their own list. */
function cursorOf(context: Context, list: string, filter: object, seq: number): string {
  return `${seq.toString(36)}-${sealOf(context, list, filter, seq)}`;
}

function sealOf({ origin }: Context, list: string, filter: object, seq: number): string {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  const sealed = { list, origin, seq, ...Object.fromEntries(given) } as JsonObject;
  return sha256(canonicalText(sealed)).slice(0, 16);
}

async function placeOf(context: Context, cursor: string, list: string, filter: object): Promise<number> {
  const [, place = '', seal] = CURSOR.exec(cursor) ?? [];
  const seq = Number.parseInt(place, 36);
  if (seal === undefined || seal !== sealOf(context, list, filter, seq))
    refuse('CURSOR_INVALID', 'The cursor belongs to another list, or was changed.');
  if (seq >= (await context.store.tip()).size)
    refuse('CURSOR_INVALID', 'The cursor is beyond the end of the ledger.');
  return seq;
}
