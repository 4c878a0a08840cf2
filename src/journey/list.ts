import { dueDay } from '../fold/projection.ts';
import { type ApprovalsNow, couldAdd } from '../gate/approvals.ts';
import type { IntentState, IntentStatus } from '../gate/state.ts';
import type { StatusWord } from '../gate/status-word.ts';
import { canAct } from '../identity/principal.ts';
import { openEnvelope } from '../intent/envelope.ts';
import { skimEntry } from '../ledger/entry.ts';
import { journeyLimits, limits } from '../limits.ts';
import { type ReasonCode, Refusal } from '../refusal.ts';
import type { Page, PagedRow } from '../store/store.ts';
import { turnsOf } from '../turns.ts';
import { approvalsOf, type ToldApprovals, toldOf } from './approvals.ts';
import { type Context, humansNow, type LookedUp } from './context.ts';
import { mayWaitApproved } from './lacking.ts';
import { holdsText, liveSince, newestBefore, type PageEnd, type PageRequest, pageOf } from './page.ts';
import { couldApprove, type Reviewers, reviewersOf } from './reviewers.ts';

/** Which intents are meant: those that fit all of it. */
interface IntentFilter {
  readonly status_word?: StatusWord | undefined;
  readonly tool?: string | undefined;
  readonly proposer?: string | undefined;
  /** A part of its goal, its tool or its proposer, in any case. */
  readonly text?: string | undefined;
  /**
   * What this human is asked to look at: an approval is missing, theirs does not count yet, they did not ask for it, unless they are the
   * only human, and the policies ask them, or name no reviewer.
   */
  readonly needs?: string | undefined;
}

export interface ListRequest extends IntentFilter, PageRequest {}

export interface IntentSummary extends IntentState, ToldApprovals {
  /** Null where it was erased, or its stored bytes are damaged. */
  readonly goal: string | null;
  readonly reviewers: Reviewers;
}

export interface IntentList extends PageEnd {
  readonly intents: readonly IntentSummary[];
}

/** Newest first. */
export async function listIntents(context: Context, request: ListRequest): Promise<IntentList> {
  const look = await lookFor(context, request.needs);
  const by = indexFor(request, await mayWaitApproved(context));
  const { found, ...end } = await pageOf<IntentState, IntentSummary>(context, request, {
    list: 'intents',
    batch: (limit, beyond) => context.store.page('intent', newestBefore(limit, beyond, by)),
    at: ({ proposed_at }) => proposed_at,
    ...(isLive(request) && { since: liveSince(context) }),
    shown: (state) => summaryIf(context, state, look, request),
  });
  return { intents: found, ...end };
}

/** What is the same for each row of one answer. */
interface Look {
  readonly is_alone: boolean;
  /** Whether the human whom it is about can sign. */
  readonly can_sign: boolean;
  readonly known: LookedUp;
}

async function lookFor(context: Context, needs: string | undefined): Promise<Look> {
  const known: LookedUp = { principals: new Map(), delegations: new Map() };
  if (needs === undefined) return { is_alone: false, can_sign: false, known };
  const can_sign = canAct(await context.store.find('principal', needs));
  return { is_alone: (await humansNow(context)) === 1, can_sign, known };
}

/** The index that leaves the fewest. */
function indexFor({ proposer, tool, status_word, needs }: IntentFilter, waits_approved: boolean): Page['by'] {
  const is_either = needs !== undefined || (status_word === 'waiting' && waits_approved);
  const wanted = is_either ? UNAPPROVED : status_word && STORED[status_word];
  const by_status: Page['by'] = wanted && ['status', wanted];
  if (needs === undefined && FEW.has(status_word)) return by_status;
  if (proposer !== undefined) return ['proposer', [proposer]];
  return tool === undefined ? by_status : ['tool', [tool]];
}

/** What no intent stays for long without a human being told. */
export const FEW: ReadonlySet<StatusWord | undefined> = new Set<StatusWord>(['running', 'IN DOUBT', 'STUCK']);

/** What has not expired. */
const LIVE: ReadonlySet<StatusWord> = new Set<StatusWord>(['waiting', 'approved', 'approval expired']);

const isLive = ({ needs, status_word }: IntentFilter) =>
  needs !== undefined || (status_word !== undefined && LIVE.has(status_word));

/**
 * The stored statuses that an intent can have which stands like this. The index is exact for words that only entries change. `waiting`,
 * `expired`, `approved` and `approval expired` rest on the clock and on who may sign as well, `running` and `IN DOUBT` on processes:
 * these the page refines row by row, so a page of them can be shorter than asked for, and yet go on. Where the policies read who has
 * approved, what is approved can be `waiting`, too.
 */
export const STORED: Readonly<Record<StatusWord, readonly IntentStatus[]>> = {
  waiting: ['proposed'],
  expired: ['proposed', 'approved'],
  rejected: ['rejected'],
  withdrawn: ['withdrawn'],
  replaced: ['replaced'],
  approved: ['approved'],
  'approval expired': ['approved'],
  running: ['claimed'],
  'IN DOUBT': ['claimed', 'partial', 'rolling_back'],
  succeeded: ['succeeded'],
  failed: ['failed'],
  happened: ['happened'],
  'rolled back': ['rolled_back'],
  undone: ['undone'],
  STUCK: ['stuck'],
};

/** What can expire. Those an approval can be missing of, too. */
type Expiring = 'proposed' | 'approved';
const UNAPPROVED: readonly Expiring[] = ['proposed', 'approved'];

async function summaryIf(
  context: Context,
  state: IntentState,
  look: Look,
  filter: IntentFilter,
): Promise<IntentSummary | null> {
  if (!couldFit(state, filter, look)) return null;
  const approvals = await approvalsOf(context, state, look.known);
  if (!fits(state, approvals, filter, look)) return null;
  const reviewers = await reviewersOf(context, state, approvals);
  if (!isAsked(reviewers, filter)) return null;
  const goal = await goalOf(context, state);
  if (!holdsText([goal, state.tool, state.proposer], filter.text)) return null;
  return { ...state, ...toldOf(approvals), goal, reviewers };
}

function isAsked(reviewers: Reviewers, { needs }: IntentFilter): boolean {
  return needs === undefined || reviewers === null || reviewers.includes(needs);
}

/** Null where it was erased, or its stored bytes are damaged. */
export async function goalOf(
  { store, memory }: Context,
  { hash, effect_digest }: Pick<IntentState, 'hash' | 'effect_digest'>,
): Promise<string | null> {
  try {
    const bytes = await store.object(hash);
    return (memory.asked.get(`${hash} ${effect_digest}`)?.envelope ?? openEnvelope(bytes)).declared_goal;
  } catch (error) {
    // One damaged object must not hide all others; `show` says what is wrong with it.
    if (error instanceof Refusal && UNREADABLE.has(error.code)) return null;
    throw error;
  }
}

const UNREADABLE: ReadonlySet<ReasonCode> = new Set<ReasonCode>(['OBJECT_MISSING', 'OBJECT_CORRUPT']);

/** What the row alone says: nothing is looked up for one that does not fit. */
function couldFit(
  state: IntentState,
  { tool, proposer, needs }: IntentFilter,
  { can_sign, is_alone }: Look,
): boolean {
  if (tool !== undefined && state.tool !== tool) return false;
  if (proposer !== undefined && state.proposer !== proposer) return false;
  return needs === undefined || (can_sign && couldAdd(state, { approvers: [] }, { name: needs, is_alone }));
}

function fits(
  state: IntentState,
  approvals: ApprovalsNow,
  { status_word: wanted, needs }: IntentFilter,
  { is_alone }: Look,
): boolean {
  if (wanted !== undefined && approvals.status_word !== wanted) return false;
  return needs === undefined || couldApprove(state, approvals, { name: needs, is_alone });
}

export interface NextNeeded {
  /** Null where nothing waits for this human. */
  readonly intent_id: string | null;
  /** How many wait after it, counted up to `more_counted`. */
  readonly more: number;
}

export interface NextRequest {
  readonly needs: string;
  /** Only what was proposed after this one. */
  readonly after?: string | undefined;
}

/** What has waited longest of what this human is asked to look at. */
export async function nextNeeded(context: Context, { needs, after }: NextRequest): Promise<NextNeeded> {
  const look = await lookFor(context, needs);
  let intent_id: string | null = null;
  let more = 0;
  // By now it may have been decided, or have expired.
  const beyond = after === undefined ? undefined : await proposedAt(context, after);
  if (after !== undefined && beyond === undefined) return { intent_id, more };
  for await (const state of liveIntents(context, UNAPPROVED, { beyond })) {
    if (!couldFit(state, { needs }, look)) continue;
    const approvals = await approvalsOf(context, state, look.known);
    if (!fits(state, approvals, { needs }, look)) continue;
    if (!isAsked(await reviewersOf(context, state, approvals), { needs })) continue;
    if (intent_id === null) intent_id = state.intent_id;
    else if (++more === journeyLimits.more_counted) break;
  }
  return { intent_id, more };
}

/** The entry that brought it into being; no other one, such as a refusal that named its id before. */
async function proposedAt({ store }: Context, intent_id: string): Promise<number | undefined> {
  const entries = await store.entriesOf(intent_id);
  return entries.find(({ bytes }) => skimEntry(bytes)?.kind === 'intent.proposed')?.seq;
}

interface Walk {
  /** Oldest first unless told. */
  readonly newest_first?: boolean;
  /** Only what came after this entry, or before it with the newest first. */
  readonly beyond?: number | undefined;
}

/** Every intent, or those of some statuses or of some days on which they are due. */
export async function* allIntents(
  { store }: Context,
  by?: Page['by'],
  { newest_first = false, beyond: from }: Walk = {},
): AsyncGenerator<IntentState> {
  const turns = turnsOf();
  for (let beyond = from; ; ) {
    const page: PagedRow<'intent'>[] = await store.page('intent', {
      limit: journeyLimits.scan_rows,
      newest_first,
      ...(by && { by }),
      ...(beyond !== undefined && { beyond }),
    });
    for (const { state } of page) {
      await turns();
      yield state;
    }
    if (page.length < journeyLimits.scan_rows) return;
    beyond = page.at(-1)!.seq;
  }
}

/** Those that wait or are approved, and may not have expired: none that expired before today is read. */
export async function* liveIntents(
  context: Context,
  statuses: readonly Expiring[],
  walk: Walk = {},
): AsyncGenerator<IntentState> {
  for await (const state of allIntents(context, ['due', daysLeft(context)], walk))
    if (statuses.some((status) => status === state.status)) yield state;
}

const DAY_MS = 24 * 3600 * 1000;

/** Today and each day on which an intent of now can still expire; one more for a clock that was ahead. */
function daysLeft({ clock }: Context): string[] {
  const now_ms = clock().getTime();
  const days = Math.ceil((limits.intent_ttl_s * 1000) / DAY_MS) + 2;
  return Array.from({ length: days }, (_, i) => dueDay(new Date(now_ms + i * DAY_MS)));
}
