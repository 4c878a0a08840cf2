import { beginsCode, CODE_TYPED, codeOf } from '../../canonical/code.ts';
import { isDigest } from '../../canonical/digest.ts';
import { parseDuration, type Result } from '../../keyturn.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { afterApproval } from '../conversation.ts';
import { earlierLines } from '../earlier.ts';
import { type Possible, possible, requirePossible, signAsked, whoActs } from '../human.ts';
import { meantBy, requireId } from '../operand.ts';
import { showAll } from '../pager.ts';
import { painter } from '../paint.ts';
import { type Opened, writing } from '../project.ts';
import { requireConfirmed } from '../question.ts';
import { reviewScreen } from '../screen.ts';
import { fields } from '../table.ts';
import { atTerminal, type Terminal } from '../terminal.ts';

export function approve(call: Call): Promise<Answer> {
  const { as, hash, ttl } = call.options;
  const typed = requireId(call);
  if (hash !== undefined && !isDigest(hash)) refuse('HASH_MALFORMED');
  const ttl_s = ttl === undefined ? undefined : parseDuration(ttl);
  return writing(call, async (keyturn) => {
    const intent_id = await meantBy(keyturn, 'intent', typed);
    const name = await whoActs(keyturn, as);
    const seen = await keyturn.intents.review({ intent_id });
    if (hash !== undefined && hash !== seen.intent.hash) refuse('HASH_MISMATCH');
    await requirePossible(keyturn, seen.intent, name, 'approve');
    const approval = await approvalBy(keyturn, { seen, name, ttl_s });
    const result = await atTerminal(async (terminal) => {
      await showReview(terminal, seen, await earlierLines(keyturn, terminal, { intent_id, name }));
      await requireConfirmed(
        terminal,
        `Type the first ${CODE_TYPED} characters of the code to approve it: `,
        {
          isAnswer: (typed) => beginsCode(typed, seen.intent.hash),
          wrong: NOT_THE_CODE,
        },
      );
      return signAsked(keyturn, terminal, approval);
    });
    return { result, lines: approvedLines(result, await afterApproval(keyturn, seen.intent)) };
  });
}

export type SeenIntent = Result<'intents.review'>;

export const NOT_THE_CODE = 'What was typed is not the beginning of the code.';

/** Shows what a yes is asked for, and refuses what could not be shown. */
export async function showReview(
  terminal: Terminal,
  seen: SeenIntent,
  more: readonly string[] = [],
): Promise<void> {
  await drawReview(terminal, seen, more);
  requireWhole(seen);
}

/** On the terminal itself: the person who types there must have seen it, wherever standard output goes. */
export async function drawReview(
  terminal: Terminal,
  seen: SeenIntent,
  more: readonly string[] = [],
): Promise<void> {
  const { columns } = terminal;
  const screen = reviewScreen(seen, { paint: painter(true), now: new Date(), columns });
  await showAll(terminal, [...screen, ...more]);
}

/** A plan whose files changed is not shown as diffs. Who puts them back after the screen would have hidden what it does. */
export function requireWhole({ shown }: SeenIntent): void {
  if (shown.alarms.some(({ alarm }) => alarm === 'unseen'))
    refuse('SHOWN_IN_PART', 'A change of this plan cannot be shown.');
}

export interface Signing {
  readonly seen: SeenIntent;
  readonly name: string;
  readonly ttl_s?: number | undefined;
}

/** What is signed is the hash of what was on the screen. */
export function approvalBy(
  keyturn: Opened,
  { seen, name, ttl_s }: Signing,
): Promise<Possible<Result<'intents.approve'>>> {
  const { intent_id, hash } = seen.intent;
  const ttl = ttl_s === undefined ? {} : { ttl_s };
  return possible(keyturn, name, (signer) => keyturn.intents.approve({ intent_id, hash, signer, ...ttl }));
}

export function approvedLines(
  { intent_id, hash, by, expires_at, missing }: Result<'intents.approve'>,
  next = `keyturn grant ${intent_id}`,
): string[] {
  return [
    `[OK] ${by} approved ${intent_id}`,
    ...fields([
      ['Hash', hash],
      ['Code', codeOf(hash)],
      ['Approved until', expires_at],
      ['Next', missing > 0 ? `${missing} more must approve it` : next],
    ]),
  ];
}

export function reject(call: Call): Promise<Answer> {
  const typed = requireId(call);
  const reason = call.options.reason!;
  return writing(call, async (keyturn) => {
    const intent_id = await meantBy(keyturn, 'intent', typed);
    const name = await whoActs(keyturn, call.options.as);
    const { hash } = await keyturn.intents.get({ intent_id });
    const rejection = await rejectionOf(keyturn, { intent_id, hash, name, reason });
    const result = await atTerminal((terminal) => signAsked(keyturn, terminal, rejection));
    return { result, lines: [rejectedLine(result)] };
  });
}

export interface Rejection {
  readonly intent_id: string;
  readonly hash: string;
  readonly name: string;
  readonly reason: string;
}

export function rejectionOf(
  keyturn: Opened,
  { name, ...rejected }: Rejection,
): Promise<Possible<Result<'intents.reject'>>> {
  return possible(keyturn, name, (signer) => keyturn.intents.reject({ ...rejected, signer }));
}

export function rejectedLine({ intent_id, by }: Result<'intents.reject'>): string {
  return `[OK] ${by} rejected ${intent_id}. That is final`;
}
