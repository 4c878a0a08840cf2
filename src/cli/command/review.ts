import { beginsCode } from '../../canonical/code.ts';
import { visible } from '../../canonical/visible.ts';
import type { IntentState } from '../../keyturn.ts';
import { Refusal } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { afterApproval } from '../conversation.ts';
import { earlierLines } from '../earlier.ts';
import { signAsked, whoActs } from '../human.ts';
import { type Opened, writing } from '../project.ts';
import { typedAnswer } from '../question.ts';
import type { Result } from '../schema.ts';
import { atTerminal, type Terminal } from '../terminal.ts';
import {
  approvalBy,
  approvedLines,
  drawReview,
  NOT_THE_CODE,
  rejectedLine,
  rejectionOf,
  requireWhole,
  type SeenIntent,
} from './approve.ts';

const QUESTION =
  'Type the first 6 characters of the code to approve, r and a reason to reject, Enter to skip, s to skip this proposer, q to stop: ';

/** Walks through what waits for a human, oldest first. Each one is a decision of its own. */
export function review(call: Call): Promise<Answer> {
  return writing(call, async (keyturn) => {
    const pending = await pendingIntents(keyturn);
    const done: Done = { approved: [], rejected: [], skipped: [] };
    if (pending.length === 0) return { result: done, lines: ['[OK] Nothing to review'] };
    const name = await whoActs(keyturn, call.options.as);
    await atTerminal((terminal) => walk(keyturn, terminal, pending, { name, done }));
    const nexts = new Map<string, string>();
    for (const state of pending) nexts.set(state.intent_id, await afterApproval(keyturn, state));
    return { result: done, lines: summary(done, nexts) };
  });
}

type Done = { -readonly [K in keyof Result<'review'>]: Result<'review'>[K] };

interface Walk {
  readonly name: string;
  readonly done: Done;
}

/** What waits for a first signature, and what was approved too long ago; the oldest first. */
async function pendingIntents(keyturn: Opened): Promise<IntentState[]> {
  const found: IntentState[] = [];
  for (const status_word of ['approval expired', 'waiting'] as const) {
    let next: string | null | undefined;
    do {
      const page = await keyturn.intents.list({ status_word, limit: 1_000, ...(next && { cursor: next }) });
      found.push(...page.intents);
      next = page.next;
    } while (next !== null);
  }
  return found.reverse();
}

async function walk(
  keyturn: Opened,
  terminal: Terminal,
  pending: readonly IntentState[],
  { name, done }: Walk,
): Promise<void> {
  terminal.write(`${waitingLines(pending).join('\n')}\n`);
  const passed = new Set<string>();
  for (const [i, state] of pending.entries()) {
    const { intent_id } = state;
    if (passed.has(sourceOf(state))) {
      done.skipped.push(intent_id);
      continue;
    }
    const seen = await keyturn.intents.review({ intent_id });
    terminal.write(`\n[${i + 1} of ${pending.length}]\n`);
    await drawReview(terminal, seen, await earlierLines(keyturn, terminal, { intent_id, name }));
    const typed = await askAbout(terminal, seen, await whyNot(keyturn, seen.intent, name));
    if (typed === 'q') return;
    if (typed === 's') passed.add(sourceOf(state));
    if (typed === '' || typed === 's') done.skipped.push(intent_id);
    else if (beginsCode(typed, seen.intent.hash)) {
      requireWhole(seen);
      const approval = await signAsked(keyturn, terminal, await approvalBy(keyturn, { seen, name }));
      done.approved.push(approval);
      terminal.write(`${approvedLines(approval)[0]}\n`);
    } else {
      const reason = typed.slice(1).trim();
      const { hash } = seen.intent;
      const rejected = { intent_id, hash, name, reason };
      const rejection = await signAsked(keyturn, terminal, await rejectionOf(keyturn, rejected));
      done.rejected.push(rejection);
      terminal.write(`${rejectedLine(rejection)}\n`);
    }
  }
}

/** Why this human cannot approve it; null where they can. */
async function whyNot(keyturn: Opened, { intent_id, hash }: IntentState, by: string): Promise<string | null> {
  const { code, words } = await keyturn.intents.whatIf({ intent_id, hash, by, act: 'approve' });
  return code === null ? null : `${by} cannot approve it: ${visible(words ?? '')} (${code})`;
}

const REJECTS = /^r(\s|$)/;

/** What the person decides. What is no answer is asked again, and after three tries the intent is skipped. */
async function askAbout(terminal: Terminal, { intent }: SeenIntent, blocked: string | null): Promise<string> {
  if (blocked !== null) terminal.write(`${blocked}\n`);
  const isAnswer = (typed: string) =>
    ['', 's', 'q'].includes(typed) ||
    REJECTS.test(typed) ||
    (blocked === null && beginsCode(typed, intent.hash));
  try {
    const typed = await typedAnswer(terminal, QUESTION, { isAnswer, wrong: blocked ?? NOT_THE_CODE });
    if (typed !== 'r') return typed;
    const why = (await terminal.ask('Why: ')).trim();
    if (why === '') terminal.write('A rejection needs a reason. It is skipped.\n');
    return why === '' ? '' : `r ${why}`;
  } catch (error) {
    if (!(error instanceof Refusal && error.code === 'CONFIRMATION_WRONG')) throw error;
    terminal.write(`${error.message} It is skipped.\n`);
    return '';
  }
}

/** Who asks, as far as that is proven. */
function sourceOf({ proposer, proposer_verified }: IntentState): string {
  return `${proposer}${proposer_verified ? '' : ' (by name only)'}`;
}

/** How many wait, and who proposed them, most first: a flood is seen before it is walked through. */
function waitingLines(pending: readonly IntentState[]): string[] {
  const counts = new Map<string, number>();
  for (const state of pending) counts.set(sourceOf(state), (counts.get(sourceOf(state)) ?? 0) + 1);
  const sources = [...counts].sort(([, a], [, b]) => b - a);
  const shown = sources.slice(0, 10).map(([source, count]) => `  ${count} by ${source}`);
  const waits = pending.length === 1 ? '1 intent waits' : `${pending.length} intents wait`;
  return [`${waits} for a human:`, ...shown, ...(sources.length > 10 ? ['  …'] : [])];
}

function summary({ approved, rejected, skipped }: Done, nexts: ReadonlyMap<string, string>): string[] {
  return [
    `[OK] Reviewed: ${approved.length} approved, ${rejected.length} rejected, ${skipped.length} skipped`,
    ...approved.map(({ intent_id, missing }) =>
      missing > 0 ? `${intent_id}: ${missing} more must approve it` : nexts.get(intent_id)!,
    ),
  ];
}
