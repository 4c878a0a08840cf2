import type { Listed } from './app.ts';

export type Queue = ReadonlyMap<string, Listed> | null;

/** What needs this person, then what waits for others; each with the longest waiting first, so that what is new comes below. */
export function sorted(
  queue: Queue,
  name: string | null,
): { readonly mine: readonly Listed[]; readonly others: readonly Listed[] } {
  const now = Date.now();
  const open = [...(queue?.values() ?? [])].filter(
    ({ standing, expires_at, capabilities }) =>
      (standing === 'waiting' ||
        (standing === 'approved' && !capabilities.some(({ status }) => status === 'ordered'))) &&
      Date.parse(expires_at) > now,
  );
  open.sort((a, b) =>
    a.proposed_at < b.proposed_at
      ? -1
      : a.proposed_at > b.proposed_at
        ? 1
        : a.intent_id < b.intent_id
          ? -1
          : 1,
  );
  const needs = ({ approvals, proposer, approvals_needed }: Listed) =>
    name === null ||
    (!approvals.some(({ by }) => by === name) && proposer !== name) ||
    approvals.length >= approvals_needed;
  return { mine: open.filter(needs), others: open.filter((one) => !needs(one)) };
}

function ordered(queue: Queue, name: string | null): readonly Listed[] {
  const { mine, others } = sorted(queue, name);
  return [...mine, ...others];
}

export function placeIn(
  queue: Queue,
  intent_id: string,
  name: string | null,
): { readonly at: number; readonly of: number } {
  const all = ordered(queue, name);
  return { at: all.findIndex((one) => one.intent_id === intent_id) + 1, of: all.length };
}

/** The one after, or before; the first where this one is not in the queue any more. */
export function nextIn(queue: Queue, intent_id: string, name: string | null, step = 1): string | null {
  const all = ordered(queue, name);
  const at = all.findIndex((one) => one.intent_id === intent_id);
  const next = at === -1 ? all[0] : all[at + step];
  return next && next.intent_id !== intent_id ? next.intent_id : null;
}
