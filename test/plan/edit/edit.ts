import { applyEdit } from '../../../src/plan/edit/apply.ts';
import type { FormatHints } from '../../../src/plan/edit/format.ts';
import { editOperationSchema } from '../../../src/plan/edit/operation.ts';

/** One edit of a text, the operation written as a plan writes it. */
export function edit(text: string, operation: object, hints: FormatHints = {}): string {
  return Buffer.from(editBytes(Buffer.from(text), operation, hints).bytes).toString('utf8');
}

export function editBytes(bytes: Uint8Array, operation: object, hints: FormatHints = {}) {
  return applyEdit(bytes, editOperationSchema.parse(operation), hints);
}

/** How much two texts share at their start and at their end, without sharing a character twice. */
export function shared(before: string, after: string): { prefix: number; suffix: number } {
  const most = Math.min(before.length, after.length);
  let prefix = 0;
  while (prefix < most && before[prefix] === after[prefix]) prefix += 1;
  let suffix = 0;
  while (suffix < most - prefix && before.at(-1 - suffix) === after.at(-1 - suffix)) suffix += 1;
  return { prefix, suffix };
}
