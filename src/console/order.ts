import type { QueueItem } from './types.ts';

export type WaitingMap = ReadonlyMap<string, QueueItem> | null;

/** What needs this person, then what waits for others; each with the longest waiting first, so that what is new comes below. */
export interface OrderedQueue {
  readonly mine: readonly QueueItem[];
  readonly others: readonly QueueItem[];
  readonly all: readonly QueueItem[];
}

/** The same for the same queue and person, until the first of it expires or is no longer ordered. A thousand proposals are not sorted for each that draws one. */
export function ordering(): (queue: WaitingMap, name: string | null, now?: number) => OrderedQueue {
  let known: { queue: WaitingMap; name: string | null; until: number; ordered: OrderedQueue } | null = null;
  return (queue, name, now = Date.now()) => {
    if (known?.queue === queue && known.name === name && now < known.until) return known.ordered;
    const ordered = orderOf(queue, name, now);
    const until = Math.min(
      ...[...(queue?.values() ?? [])]
        .map((one) => Date.parse(isOrdered(one, now) ? one.ordered_until! : one.expires_at))
        .filter((end) => end > now),
    );
    known = { queue, name, until, ordered };
    return ordered;
  };
}

/** What is not decided, or not ordered, or was approved and has to be approved again. */
export const OPEN_WORDS = ['waiting', 'approved', 'approval expired'] as const satisfies readonly Word[];

type Word = QueueItem['status_word'];

export function isOpenWord(word: Word): boolean {
  return (OPEN_WORDS as readonly Word[]).includes(word);
}

/** Whether an approval that the service counted, or an order, has ended since, of which no entry tells. */
export function hasLapsed({ approvals, approvers, ordered_until }: QueueItem, now: number): boolean {
  const isOver = (until: string | null) => until !== null && Date.parse(until) <= now;
  return (
    isOver(ordered_until) ||
    approvals.some(({ by, expires_at }) => approvers.includes(by) && isOver(expires_at))
  );
}

/** Whether a run is ordered, as the service says: what it tells was true when it answered, and an order lapses by the time alone. */
export function isOrdered({ ordered_until }: Pick<QueueItem, 'ordered_until'>, now: number): boolean {
  return ordered_until !== null && Date.parse(ordered_until) > now;
}

function isInQueue(one: QueueItem, now: number): boolean {
  return isOpenWord(one.status_word) && !isOrdered(one, now) && Date.parse(one.expires_at) > now;
}

function orderOf(queue: WaitingMap, name: string | null, now: number): OrderedQueue {
  const open = [...(queue?.values() ?? [])].filter((one) => isInQueue(one, now));
  const key = ({ proposed_at, intent_id }: QueueItem) => `${proposed_at} ${intent_id}`;
  open.sort((a, b) => (key(a) < key(b) ? -1 : 1));
  const needs = ({ approvers, missing, proposer, on_behalf_of, reviewers }: QueueItem) =>
    name === null ||
    missing === 0 ||
    (![...approvers, proposer, on_behalf_of].includes(name) &&
      (reviewers === null || reviewers.includes(name)));
  const mine = open.filter(needs);
  const others = open.filter((one) => !needs(one));
  return { mine, others, all: [...mine, ...others] };
}

export function positionInQueue(
  { all }: OrderedQueue,
  intent_id: string,
): { readonly at: number; readonly of: number } {
  return { at: all.findIndex((one) => one.intent_id === intent_id) + 1, of: all.length };
}

/** The one after, or before; the first where this one is not in the queue any more. */
export function nextIn({ all }: OrderedQueue, intent_id: string, step = 1): QueueItem | null {
  const at = all.findIndex((one) => one.intent_id === intent_id);
  const next = at === -1 ? all[0] : all[at + step];
  return next && next.intent_id !== intent_id ? next : null;
}

export const isNarrow = (): boolean => matchMedia('(max-width: 1040px)').matches;

/** What the address names: the screen, what it is about, and which proposal is drawn. */
export function screenOf(route: string, { all: [first] }: OrderedQueue, is_narrow: boolean) {
  const [screen = '', id = ''] = route.replace(/^\//, '').split('/');
  const is_queue = screen === '' || screen === 'queue';
  const current = screen === 'decide' ? id : is_queue && !is_narrow ? (first?.intent_id ?? null) : null;
  return { screen, id, current, deciding: is_queue || screen === 'decide' || screen === 'batch' };
}
