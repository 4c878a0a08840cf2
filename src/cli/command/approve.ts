import { isDigest } from '../../canonical/digest.ts';
import { type IntentState, type Keyturn, parseDuration, type Review } from '../../keyturn.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { afterApproval } from '../conversation.ts';
import { unlock, whoActs } from '../human.ts';
import { requireId } from '../operand.ts';
import { showAll } from '../pager.ts';
import { painter } from '../paint.ts';
import { writing } from '../project.ts';
import type { Result } from '../schema.ts';
import { reviewScreen } from '../screen.ts';
import { fields } from '../table.ts';
import { atTerminal, type Terminal } from '../terminal.ts';

export function approve(call: Call): Promise<Answer> {
  const { as, hash, ttl } = call.options;
  const intent_id = requireId(call);
  if (hash !== undefined && !isDigest(hash)) refuse('HASH_MALFORMED');
  const ttl_s = ttl === undefined ? undefined : parseDuration(ttl);
  return writing(call, async (keyturn) => {
    const name = await whoActs(keyturn, as);
    const seen = await keyturn.review(intent_id);
    if (hash !== undefined && hash !== seen.state.hash) refuse('HASH_MISMATCH');
    const result = await atTerminal(async (terminal) => {
      await showReview(terminal, seen);
      const typed = await terminal.ask('Type the exact id to approve it: ');
      if (typed !== intent_id) refuse('CONFIRMATION_WRONG');
      return sign(keyturn, terminal, { seen, name, ttl_s });
    });
    return { result, lines: approvedLines(result, await afterApproval(keyturn, seen.state)) };
  });
}

/** Shows what a yes is asked for, and refuses what could not be shown. */
export async function showReview(
  terminal: Terminal,
  seen: Review,
  more: readonly string[] = [],
): Promise<void> {
  await drawReview(terminal, seen, more);
  requireWhole(seen);
}

/** On the terminal itself: whoever types there must have seen it, wherever standard output goes. */
export async function drawReview(
  terminal: Terminal,
  seen: Review,
  more: readonly string[] = [],
): Promise<void> {
  const { columns } = terminal;
  const screen = reviewScreen(seen, { paint: painter(true), now: new Date(), columns });
  await showAll(terminal, [...screen, ...more]);
}

/** A plan whose files changed is not shown as diffs. Who puts them back after the screen would have hidden what it does. */
export function requireWhole({ shown }: Review): void {
  if (shown.alarms.some(({ alarm }) => alarm === 'unseen'))
    refuse('SHOWN_IN_PART', 'A change of this plan cannot be shown.');
}

export interface Signing {
  readonly seen: Review;
  readonly name: string;
  readonly ttl_s?: number | undefined;
}

/** The passphrase comes last: what it signs is the hash of what was on the screen. */
export async function sign(
  keyturn: Keyturn,
  terminal: Terminal,
  signing: Signing,
): Promise<Result<'approve'>> {
  const { intent_id, hash } = signing.seen.state;
  const signer = await unlock(keyturn, terminal, signing.name);
  const ttl = signing.ttl_s === undefined ? {} : { ttl_s: signing.ttl_s };
  return approveWith(keyturn, { intent_id, hash, signer, ...ttl });
}

export async function approveWith(
  keyturn: Keyturn,
  request: Parameters<Keyturn['approve']>[0],
): Promise<Result<'approve'>> {
  const { body } = await keyturn.approve(request);
  const { intent_id, hash } = request;
  const missing = missingOf(await keyturn.intent(intent_id));
  return { intent_id, hash, by: body.by, expires_at: body.expires_at, missing };
}

/** How many more humans must sign. One who signs twice counts once. */
export function missingOf({ approvals, approvals_needed }: IntentState): number {
  return Math.max(0, approvals_needed - new Set(approvals.map((each) => each.by)).size);
}

export function approvedLines(
  { intent_id, hash, by, expires_at, missing }: Result<'approve'>,
  next = `keyturn grant ${intent_id}`,
): string[] {
  return [
    `[OK] ${by} approved ${intent_id}`,
    ...fields([
      ['Hash', hash],
      ['Approved until', expires_at],
      ['Next', missing > 0 ? `${missing} more human(s) must approve it` : next],
    ]),
  ];
}

export function reject(call: Call): Promise<Answer> {
  const intent_id = requireId(call);
  const reason = call.options.reason!;
  return writing(call, async (keyturn) => {
    const name = await whoActs(keyturn, call.options.as);
    const { hash } = await keyturn.intent(intent_id);
    const result = await atTerminal((terminal) =>
      signRejection(keyturn, terminal, { intent_id, hash, name, reason }),
    );
    return { result, lines: [rejectedLine(result)] };
  });
}

export interface Rejection {
  readonly intent_id: string;
  readonly hash: string;
  readonly name: string;
  readonly reason: string;
}

export async function signRejection(
  keyturn: Keyturn,
  terminal: Terminal,
  { intent_id, hash, name, reason }: Rejection,
): Promise<Result<'reject'>> {
  const signer = await unlock(keyturn, terminal, name);
  const { body } = await keyturn.reject({ intent_id, hash, reason, signer });
  return { intent_id, hash, by: body.by, reason };
}

export function rejectedLine({ intent_id, by }: Result<'reject'>): string {
  return `[OK] ${by} rejected ${intent_id}. That is final`;
}
