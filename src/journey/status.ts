import type { WaitsFor } from '../display/unserved.ts';
import type { Freeze } from '../gate/freeze.ts';
import type { Standing } from '../gate/standing.ts';
import type { IntentState, IntentStatus } from '../gate/state.ts';
import { hasExpired, type StatusWord } from '../gate/status-word.ts';
import { limits } from '../limits.ts';
import { type ReasonCode, Refusal } from '../refusal.ts';
import { approvalsOf } from './approvals.ts';
import { checkClock } from './clock.ts';
import type { Context } from './context.ts';
import { allIntents, goalOf, liveIntents } from './list.ts';
import { type InDoubt, inDoubt } from './look.ts';
import { comparePolicyFiles, type PolicyFilesComparison } from './policy-files.ts';
import { type Reviewers, reviewersOf } from './reviewers.ts';
import { standingNow } from './standing.ts';

/** An intent that needs a human, with what a person knows it by. */
export interface NeedsHuman {
  readonly intent_id: string;
  readonly hash: string;
  /** Null where it was erased, or its stored bytes are damaged. */
  readonly goal: string | null;
  readonly tool: string;
  readonly proposer: string;
  readonly proposer_verified: boolean;
  readonly status_word: StatusWord;
  /** Since when it has stood like this. */
  readonly since: string;
}

export type WaitingNow = NeedsHuman & { readonly reviewers: Reviewers };
export type InDoubtNow = InDoubt & Pick<NeedsHuman, 'goal'>;
export type StuckNow = NeedsHuman & { readonly execution_id: string };
export type OrderedNow = NeedsHuman & { readonly waits_for: WaitsFor };
export type NotRun = NeedsHuman & { readonly code: ReasonCode };

/** Of each list the newest, as many as asked for, newest first. */
export interface Status {
  /** What is wrong with the clock of this machine; null when it fits the ledger. With a wrong one the rest is judged by it. */
  readonly clock: { readonly code: ReasonCode; readonly words: string } | null;
  readonly frozen: readonly Freeze[];
  /** Servers with tools whose calls pass without an approval. */
  readonly shadow: readonly { readonly server: string; readonly tools: number }[];
  readonly in_doubt: readonly InDoubtNow[];
  /** Rollbacks that are not complete. */
  readonly stuck: readonly StuckNow[];
  readonly failed: readonly NeedsHuman[];
  readonly waiting: readonly WaitingNow[];
  /** Approved, and not by enough approvals that count now; the code says why. */
  readonly approval_expired: readonly NotRun[];
  /** Approved, and not to be run now; the code says why. */
  readonly ungranted: readonly NotRun[];
  /** May run now. */
  readonly approved: readonly OrderedNow[];
  readonly policies: PolicyFilesComparison;
}

export interface StatusRequest {
  /** Of each list; `limits.status_rows` unless told. */
  readonly limit?: number | undefined;
}

/** What needs a human, now. Whether an approved intent may run is asked of its standing, as everything asks it. */
export async function statusOf(
  context: Context,
  { limit = limits.status_rows }: StatusRequest,
): Promise<Status> {
  const { freezes } = await context.store.system();
  const failed: NeedsHuman[] = [];
  for await (const state of newest(context, 'failed', limit))
    failed.push(await needsNow(context, state, state.runs.at(-1)?.finished_at));
  const waiting: WaitingNow[] = [];
  for await (const state of newest(context, 'proposed', limit)) {
    const approvals = await approvalsOf(context, state);
    const reviewers = await reviewersOf(context, state, approvals);
    waiting.push({ ...(await needs(context, { ...approvals, state }, null)), reviewers });
  }
  return {
    clock: await wrongClock(context),
    frozen: freezes,
    shadow: await shadowedServers(context),
    in_doubt: await doubtsNow(context),
    stuck: await stuckNow(context, limit),
    failed,
    ...(await approvedNow(context, limit, waiting)),
    policies: await comparePolicyFiles(context),
  };
}

/** Servers with tools whose calls pass without an approval. */
export async function shadowedServers({ store }: Pick<Context, 'store'>): Promise<Status['shadow']> {
  const servers = (await store.all('server')).filter(
    ({ status, shadow }) => status === 'active' && shadow > 0,
  );
  return servers.map(({ server, shadow }) => ({ server, tools: shadow }));
}

const ABOUT_CLOCKS: ReadonlySet<ReasonCode> = new Set<ReasonCode>(['CLOCK_AHEAD', 'CLOCK_BEHIND']);

async function wrongClock(context: Context): Promise<Status['clock']> {
  try {
    await checkClock(context);
    return null;
  } catch (error) {
    if (error instanceof Refusal && ABOUT_CLOCKS.has(error.code))
      return { code: error.code, words: error.message };
    throw error;
  }
}

async function doubtsNow(context: Context): Promise<InDoubtNow[]> {
  const found: InDoubtNow[] = [];
  for (const one of await inDoubt(context)) found.push({ ...one, goal: await goalOf(context, one.state) });
  return found;
}

async function stuckNow(context: Context, limit: number): Promise<StuckNow[]> {
  const found: StuckNow[] = [];
  for (const status of ['stuck', 'rolling_back'] as const)
    for await (const state of newest(context, status, limit)) {
      const { execution_id } = state.runs.at(-1)!;
      found.push({ ...(await needsNow(context, state, state.rollback?.claimed_at)), execution_id });
    }
  return found;
}

/** What has expired needs no human, and may be many: it is passed over before a limit counts. */
async function* newest(context: Context, status: IntentStatus, limit: number): AsyncGenerator<IntentState> {
  const now = context.clock();
  let left = limit;
  for await (const state of newestFirst(context, status)) {
    if (hasExpired(state, now)) continue;
    if (left-- === 0) return;
    yield state;
  }
}

function newestFirst(context: Context, status: IntentStatus): AsyncGenerator<IntentState> {
  const walk = { newest_first: true };
  return status === 'proposed' || status === 'approved'
    ? liveIntents(context, [status], walk)
    : allIntents(context, ['status', [status]], walk);
}

async function needsNow(context: Context, state: IntentState, since: string | null | undefined) {
  return needs(context, { ...(await approvalsOf(context, state)), state }, since);
}

async function needs(
  context: Context,
  { state, status_word }: Pick<Standing, 'state' | 'status_word'>,
  since: string | null | undefined,
): Promise<NeedsHuman> {
  const { intent_id, hash, tool, proposer, proposer_verified, proposed_at } = state;
  return {
    intent_id,
    hash,
    goal: await goalOf(context, state),
    tool,
    proposer,
    proposer_verified,
    status_word,
    since: since ?? proposed_at,
  };
}

type ApprovedNow = Pick<Status, 'waiting' | 'approval_expired' | 'ungranted' | 'approved'>;

/** They share one walk: a list that is full holds no other one up. What the policies want more approvals of waits, as what has none. */
async function approvedNow(
  context: Context,
  limit: number,
  proposed: readonly WaitingNow[],
): Promise<ApprovedNow> {
  const lists = {
    waiting: [] as WaitingNow[],
    approval_expired: [] as NotRun[],
    ungranted: [] as NotRun[],
    approved: [] as OrderedNow[],
  };
  for await (const state of newest(context, 'approved', limits.status_rows)) {
    const standing = await standingNow(context, state);
    if (standing.status_word === 'waiting') {
      if (lists.waiting.length < limit)
        lists.waiting.push({
          ...(await needs(context, standing, null)),
          reviewers: await standing.reviewers(),
        });
      continue;
    }
    const waits_for = standing.next === 'run' ? await standing.executors() : null;
    const not_run = standing.next === 'approval' ? lists.approval_expired : lists.ungranted;
    if ((waits_for ? lists.approved : not_run).length === limit) continue;
    const one = await needs(context, standing, state.approvals.at(-1)?.signed_at);
    if (waits_for) lists.approved.push({ ...one, waits_for });
    else not_run.push({ ...one, code: standing.not_run!.code });
  }
  const waiting = [...proposed, ...lists.waiting].sort((a, b) => Date.parse(b.since) - Date.parse(a.since));
  return { ...lists, waiting: waiting.slice(0, limit) };
}
