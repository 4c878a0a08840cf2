import { isUuid } from '../canonical/uuid.ts';
import { refuse } from '../refusal.ts';
import type { QueueFolder } from './folder.ts';
import { type IntentLine, intentForm, isHash } from './form.ts';
import { readLines } from './lines.ts';

/** What the human enters: the id and the hash that the review printed. */
export interface Claimed {
  readonly id: string;
  readonly hash: string;
}

export function requireForm({ id, hash }: Claimed): void {
  if (!isUuid(id)) refuse('ID_MALFORMED');
  if (!isHash(hash)) refuse('HASH_MALFORMED');
}

/** The verifier: is this id approved with this hash? It returns for yes, and each no has its own code. */
export async function verifyApproval(queue: QueueFolder, claimed: Claimed): Promise<void> {
  requireForm(claimed);
  const approvals = await readLines(queue.approved, intentForm, claimed.id);
  if (approvals === null) refuse('QUEUE_MISSING', 'There is no approved.jsonl in the queue folder.');
  const hash = onlyHash(approvals, 'approved.jsonl');
  if (hash === null) refuse('APPROVAL_MISSING', 'The id is not in approved.jsonl.');
  if (hash !== claimed.hash) refuse('HASH_MISMATCH', 'The approved hash of this id is another one.');
}

/** The one hash that all lines of an id agree on; `null` without lines. Two hashes for one id mean neither. */
export function onlyHash(lines: readonly IntentLine[], file: string): string | null {
  const [first] = lines;
  if (first === undefined) return null;
  if (lines.some((line) => line.hash !== first.hash))
    refuse('QUEUE_AMBIGUOUS', `${file} has two different hashes for ${first.id}.`);
  return first.hash;
}
