import type { WaitsFor } from '../display/unserved.ts';
import { currentCapability } from '../gate/capability.ts';
import type { Freeze } from '../gate/freeze.ts';
import { type Denial, standingOf } from '../gate/standing.ts';
import type { IntentState, IntentStatus } from '../gate/state.ts';
import { type StatusWord, statusWordOf } from '../gate/status-word.ts';
import { limits } from '../limits.ts';
import { type ReasonCode, Refusal } from '../refusal.ts';
import { waitsFor } from './beat.ts';
import { momentOf, notDispatched } from './check.ts';
import { checkClock } from './clock.ts';
import { authoritiesFor, type Context, namedIn } from './context.ts';
import { allIntents, goalOf, liveIntents } from './list.ts';
import { type InDoubt, inDoubt } from './look.ts';
import { comparePolicyFiles, type PolicyFilesComparison } from './policy-files.ts';
import { type Reviewers, reviewersOf } from './reviewers.ts';

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
    failed.push(await needs(context, state, state.runs.at(-1)?.finished_at));
  const waiting: WaitingNow[] = [];
  for await (const state of newest(context, 'proposed', limit))
    waiting.push({
      ...(await needs(context, state, null)),
      reviewers: await reviewersOf(context, state),
    });
  return {
    clock: await wrongClock(context),
    frozen: freezes,
    shadow: await shadowedServers(context),
    in_doubt: await doubtsNow(context),
    stuck: await stuckNow(context, limit),
    failed,
    waiting,
    ...(await approvedNow(context, limit)),
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
      found.push({ ...(await needs(context, state, state.rollback?.claimed_at)), execution_id });
    }
  return found;
}

/** What has expired needs no human, and may be many: it is passed over before a limit counts. */
async function* newest(context: Context, status: IntentStatus, limit: number): AsyncGenerator<IntentState> {
  const now = context.clock();
  let left = limit;
  for await (const state of newestFirst(context, status)) {
    if (statusWordOf(state, now) === 'expired') continue;
    if (left-- === 0) return;
    yield state;
  }
}

function newestFirst(context: Context, status: IntentStatus): AsyncGenerator<IntentState> {
  const expires = status === 'proposed' || status === 'approved';
  return (expires ? liveIntents : allIntents)(context, status as never, { newest_first: true });
}

async function needs(
  context: Context,
  state: IntentState,
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
    status_word: statusWordOf(state, context.clock()),
    since: since ?? proposed_at,
  };
}

type ApprovedNow = Pick<Status, 'approval_expired' | 'ungranted' | 'approved'>;

/** The three share one walk: a list that is full holds no other one up. */
async function approvedNow(context: Context, limit: number): Promise<ApprovedNow> {
  const lists = {
    approval_expired: [] as NotRun[],
    ungranted: [] as NotRun[],
    approved: [] as OrderedNow[],
  };
  for await (const state of newest(context, 'approved', limits.status_rows)) {
    const { list, denial } = await judged(context, state);
    if (lists[list].length === limit) continue;
    const one = await needs(context, state, state.approvals.at(-1)?.signed_at);
    if (list === 'approved') {
      const { audience } = currentCapability(state, context.clock());
      lists.approved.push({ ...one, waits_for: await waitsFor(context, audience) });
    } else lists[list].push({ ...one, code: denial!.code });
  }
  return lists;
}

/** What a human can only approve again. */
const UNAPPROVED: ReadonlySet<ReasonCode> = new Set<ReasonCode>([
  'APPROVAL_EXPIRED',
  'APPROVAL_MISSING',
  'APPROVER_REVOKED',
  'MADE_IN_FUTURE',
]);

async function judged(
  context: Context,
  state: IntentState,
): Promise<{ readonly list: keyof ApprovedNow; readonly denial: Denial | null }> {
  const authorities = await authoritiesFor(context, namedIn(state));
  const moment = await momentOf(context, await context.store.system(), authorities);
  const { not_granted, not_run } = standingOf(state, moment);
  if (not_granted && UNAPPROVED.has(not_granted.code))
    return { list: 'approval_expired', denial: not_granted };
  const denial = not_run ?? (await notDispatched(context, state));
  return { list: denial ? 'ungranted' : 'approved', denial };
}
