import { isUuid } from '../canonical/uuid.ts';
import { refuse } from '../refusal.ts';
import { appendLine, locked } from './append.ts';
import type { QueueFolder } from './folder.ts';
import { type IntentLine, intentForm } from './form.ts';
import { readLines } from './lines.ts';
import { onlyHash } from './verify.ts';

/** The human at the keyboard. */
interface Terminal {
  ask(question: string): Promise<string>;
}

/** What is pending and not approved, once for each id and hash, in the order of the queue. */
export async function pendingIntents(queue: QueueFolder): Promise<readonly IntentLine[]> {
  const pending = await readLines(queue.pending, intentForm);
  if (pending === null) refuse('QUEUE_MISSING', 'There is no pending.jsonl in the queue folder.');
  const approved = new Set(((await readLines(queue.approved, intentForm)) ?? []).map(({ id }) => id));
  const waiting = new Map<string, IntentLine>();
  for (const line of pending) {
    const key = `${line.id} ${line.hash}`;
    if (!approved.has(line.id) && !waiting.has(key)) waiting.set(key, line);
  }
  return [...waiting.values()];
}

/**
 * Asks for the exact id and approves that intent alone. Enter approves nothing and returns `null`. Nothing is trimmed
 * or completed: what is typed is the id, or it is not.
 */
export async function approveOne(
  queue: QueueFolder,
  terminal: Terminal,
  question: string,
  clock: () => Date,
): Promise<IntentLine | null> {
  const typed = await terminal.ask(question);
  if (typed === '') return null;
  // The human may have taken an hour: everything is read again, with the folder locked.
  return locked(queue, async () => {
    const hash = await requirePending(queue, typed);
    const approval = { id: typed, timestamp: clock().toISOString(), hash };
    appendLine(queue.approved, approval);
    return approval;
  });
}

const NOT_THE_ID = 'What was typed is not the exact id.';

/** The hash of an intent that is pending and not approved, and about which the queue says one thing only. */
async function requirePending(queue: QueueFolder, id: string): Promise<string> {
  if (!isUuid(id)) refuse('CONFIRMATION_WRONG', NOT_THE_ID);
  const approved = (await readLines(queue.approved, intentForm, id)) ?? [];
  const pending = (await readLines(queue.pending, intentForm, id)) ?? [];
  const hash = onlyHash(pending, 'pending.jsonl') ?? refuse('CONFIRMATION_WRONG', NOT_THE_ID);
  if (approved.length > 0) refuse('ALREADY_APPROVED');
  return hash;
}
