import { randomUUID } from 'node:crypto';
import { sha256 } from '../canonical/digest.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { appendLine, locked } from './append.ts';
import type { QueueFolder } from './folder.ts';
import { type IntentLine, intentForm } from './form.ts';
import { readLines } from './lines.ts';

/** Records that something is wanted: an id, a time and the hash of the words. The words themselves are not kept. */
export async function queueIntent(queue: QueueFolder, text: string, now: Date): Promise<IntentLine> {
  requireText(text);
  const line = { id: randomUUID(), timestamp: now.toISOString(), hash: sha256(text) };
  await locked(queue, async () => {
    await readLines(queue.pending, intentForm);
    appendLine(queue.pending, line);
  });
  return line;
}

function requireText(text: string): void {
  if (text.trim() === '') refuse('INTENT_EMPTY');
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.intent_text_bytes) refuse('INPUT_TOO_LARGE', `The intent has ${bytes} bytes.`);
  if (text.includes('\0')) refuse('JSON_BAD_STRING', 'The intent has a NUL character.');
  if (!text.isWellFormed()) refuse('JSON_BAD_STRING', 'The intent has a lone surrogate.');
}
