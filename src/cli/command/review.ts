import type { IntentState, Keyturn } from '../../keyturn.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { afterApproval } from '../conversation.ts';
import { whoActs } from '../human.ts';
import { writing } from '../project.ts';
import type { Result } from '../schema.ts';
import { standingOf } from '../standing.ts';
import { atTerminal, type Terminal } from '../terminal.ts';
import { approvedLines, drawReview, rejectedLine, requireWhole, sign, signRejection } from './approve.ts';

const QUESTION =
  'Type the exact id to approve, r and a reason to reject, Enter to skip, s to skip this proposer, q to stop: ';

/** Walks through what waits for a human, oldest first. Each one is a decision of its own. */
export function review(call: Call): Promise<Answer> {
  return writing(call, async (keyturn) => {
    const pending = await pendingIntents(keyturn, new Date());
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

const PAGE = 500;

/** What waits for a first signature, and what was approved too long ago. */
async function pendingIntents(keyturn: Keyturn, now: Date): Promise<IntentState[]> {
  const found: IntentState[] = [];
  for (const status of ['proposed', 'approved'] as const) {
    for (let after: string | undefined; ; ) {
      const page = await keyturn.list({ status, limit: PAGE, ...(after === undefined ? {} : { after }) });
      found.push(...page.filter((state) => ['waiting', 'approval expired'].includes(standingOf(state, now))));
      after = page.at(-1)?.intent_id;
      if (page.length < PAGE) break;
    }
  }
  return found;
}

async function walk(
  keyturn: Keyturn,
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
    const seen = await keyturn.review(intent_id);
    terminal.write(`\n[${i + 1} of ${pending.length}]\n`);
    await drawReview(terminal, seen);
    const typed = await terminal.ask(QUESTION);
    if (typed === 'q') return;
    if (typed === 's') passed.add(sourceOf(state));
    if (typed === '' || typed === 's') done.skipped.push(intent_id);
    else if (typed === intent_id) {
      requireWhole(seen);
      const approval = await sign(keyturn, terminal, { seen, name });
      done.approved.push(approval);
      terminal.write(`${approvedLines(approval)[0]}\n`);
    } else if (/^r(\s|$)/.test(typed)) {
      const reason = typed.slice(1).trim() || (await terminal.ask('Why: ')).trim();
      const { hash } = seen.state;
      const rejection = await signRejection(keyturn, terminal, {
        intent_id,
        hash,
        name,
        reason: requireReason(reason),
      });
      done.rejected.push(rejection);
      terminal.write(`${rejectedLine(rejection)}\n`);
    } else refuse('CONFIRMATION_WRONG');
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

function requireReason(reason: string): string {
  return reason === '' ? refuse('CONFIRMATION_DECLINED', 'A rejection needs a reason.') : reason;
}

function summary({ approved, rejected, skipped }: Done, nexts: ReadonlyMap<string, string>): string[] {
  return [
    `[OK] Reviewed: ${approved.length} approved, ${rejected.length} rejected, ${skipped.length} skipped`,
    ...approved.map(({ intent_id, missing }) =>
      missing > 0 ? `${intent_id}: ${missing} more human(s) must approve it` : nexts.get(intent_id)!,
    ),
  ];
}
