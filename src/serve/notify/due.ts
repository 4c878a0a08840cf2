import type { Keyturn, NotifyPosition } from '../../keyturn.ts';
import { notifyLimits } from '../../limits.ts';
import type { Occasion } from './message.ts';

/** What became due since this position: reminders before an intent expires, escalations, and runs that are in doubt since. */
export async function dueIn(
  keyturn: Keyturn,
  position: NotifyPosition,
  until: Date,
  begun: Awaited<ReturnType<Keyturn['host']['begunRuns']>>,
): Promise<Occasion[]> {
  const from_ms = Date.parse(position.until);
  const { remind_before_s, escalate_after_s } = keyturn.config.notify;
  const isDue = (at_ms: number) => at_ms > from_ms && at_ms <= until.getTime();
  const at = until.toISOString();
  const found: Occasion[] = [];
  for await (const about of waitingIn(keyturn)) {
    const remind_ms = Date.parse(about.expires_at) - remind_before_s * 1000;
    // One that lives no longer than that is told of once, when it is proposed.
    if (isDue(remind_ms) && remind_ms > Date.parse(about.proposed_at))
      found.push({ event: 'reminder', occasion: about.intent_id, at, about });
    if (isDue(Date.parse(about.proposed_at) + escalate_after_s * 1000))
      found.push({ event: 'escalation', occasion: about.intent_id, at, about });
    if (about.reviewers === null) continue;
    const added = await keyturn.host.reviewersAdded(about.intent_id, new Date(from_ms));
    if (added.length > 0)
      found.push({ event: 'escalation', occasion: [about.intent_id, ...added].join(' '), at, about, added });
  }
  for (const { intent_id, execution_id, is_in_doubt } of begun) {
    if (!is_in_doubt || position.doubts.includes(execution_id)) continue;
    const about = await keyturn.intents.get({ intent_id });
    // Its end may have been recorded meanwhile.
    if (about.status === 'claimed' && about.runs.at(-1)?.execution_id === execution_id)
      found.push({ event: 'in_doubt', occasion: execution_id, at, about });
  }
  return found;
}

async function* waitingIn(keyturn: Keyturn) {
  let cursor: string | null = null;
  for (let page = 0; page < notifyLimits.pages; page += 1) {
    const asked = {
      status_word: 'waiting',
      limit: notifyLimits.page_rows,
      ...(cursor !== null && { cursor }),
    } as const;
    const found: Awaited<ReturnType<Keyturn['intents']['list']>> = await keyturn.intents.list(asked);
    yield* found.intents;
    cursor = found.next;
    if (cursor === null) return;
  }
}
