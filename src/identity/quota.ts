import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import type { Account } from './account.ts';
import { IDLE, nextPace, type Pace, rateOf } from './pace.ts';

/** How many proposals from one source wait for a human, and how fast they came. */
export interface Quota {
  /** `[hour, count]`: how many wait until the end of that hour at the latest, soonest first. What expires leaves by itself. */
  readonly pending: readonly Waiting[];
  readonly pace: Pace;
}

type Waiting = readonly [until_hour: number, count: number];

export const UNUSED: Quota = { pending: [], pace: IDLE };

/** The most that one source may have. */
export interface QuotaLimit {
  readonly pending: number;
  readonly minute: number;
}

export const QUOTA_LIMIT: QuotaLimit = {
  pending: limits.pending_proposals_default,
  minute: limits.proposals_minute_default,
};

interface Source {
  readonly proposer: string;
  readonly proposer_verified: boolean;
  readonly account: Account | null;
}

/** Whose quota it is: that of a name that a key proves, or that of the account. Another name without a key is not another quota. */
export function quotaKey({ proposer, proposer_verified, account }: Source): string {
  if (proposer_verified) return `proposer:${proposer}`;
  return account === null ? 'account:unknown' : `account:${account.uid}@${account.machine ?? account.host}`;
}

const HOUR_MS = 3_600_000;

const hourOf = (expires_at: string) => Math.ceil(Date.parse(expires_at) / HOUR_MS);

function waitingAt(quota: Quota, at: string): Waiting[] {
  return quota.pending.filter(([until_hour]) => until_hour * HOUR_MS > Date.parse(at));
}

export function pendingAt(quota: Quota, at: string): number {
  return waitingAt(quota, at).reduce((sum, [, count]) => sum + count, 0);
}

export function afterProposal(quota: Quota, expires_at: string, at: string): Quota {
  return { pending: added(waitingAt(quota, at), hourOf(expires_at), 1), pace: nextPace(quota.pace, at) };
}

/** A human decided, or a delegation did. */
export function afterDecision(quota: Quota, expires_at: string, at: string): Quota {
  return { ...quota, pending: added(waitingAt(quota, at), hourOf(expires_at), -1) };
}

function added(waiting: readonly Waiting[], hour: number, by: 1 | -1): Waiting[] {
  const [, count] = waiting.find(([until_hour]) => until_hour === hour) ?? [hour, 0];
  const others = waiting.filter(([until_hour]) => until_hour !== hour);
  const all: Waiting[] = count + by > 0 ? [...others, [hour, count + by]] : others;
  return all.sort(([a], [b]) => a - b);
}

/** Refuses one proposal more than the limit, and says when there is room again. */
export function requireQuota(quota: Quota, limit: QuotaLimit, at: string): void {
  const pending = pendingAt(quota, at);
  if (pending >= limit.pending) {
    const until = new Date(waitingAt(quota, at)[0]![0] * HOUR_MS).toISOString();
    refuse(
      'PROPOSALS_LIMITED',
      `${pending} proposals of this source wait for a human; the limit is ${limit.pending}.`,
      {
        pending,
        limit: limit.pending,
        try_again_at: until,
      },
    );
  }
  requirePace(quota.pace, limit, at);
}

/** Refuses one proposal more than a source may make within a minute, and says when it may again. */
export function requirePace(pace: Pace, limit: Pick<QuotaLimit, 'minute'>, at: string): void {
  const { minute } = rateOf(pace, new Date(at));
  if (minute < limit.minute) return;
  const again = new Date((Math.floor(Date.parse(at) / 60_000) + 2) * 60_000).toISOString();
  refuse(
    'PROPOSALS_LIMITED',
    `This source proposed ${minute} times within two minutes; the limit is ${limit.minute}. Try again at ${again}.`,
    {
      minute,
      limit: limit.minute,
      try_again_at: again,
    },
  );
}
