import { closeSync } from 'node:fs';
import { z } from 'zod';
import { isDigest } from '../../canonical/digest.ts';
import { readFileBeneath } from '../../durable/beneath.ts';
import { closePlace, openPlace, openToAppend, syncFolderOf } from '../../durable/beneath-write.ts';
import { appendDurably } from '../../durable/file.ts';
import { Refusal, refuse } from '../../refusal.ts';
import type { FileState } from '../model.ts';

/**
 * `journal.jsonl`: the facts that no path tells by its state. A line is on disk before what it announces happens.
 */

const JOURNAL_NAME = 'journal.jsonl';
const JOURNAL_BYTES = 16 * 1024 * 1024;

const digest = z.string().refine(isDigest, 'is not a SHA-256 digest');
const state = z.strictObject({ sha256: digest, size: z.int(), mode: z.int() }).nullable();
const at = z.string();

const lineSchema = z.discriminatedUnion('kind', [
  /** An action whose result only the run can tell begins. */
  z.strictObject({ kind: z.literal('started'), at, action_id: z.string() }),
  /** It is about to leave this at a path. */
  z.strictObject({ kind: z.literal('leaves'), at, action_id: z.string(), path: z.string(), state }),
  z.strictObject({ kind: z.literal('ended'), at, action_id: z.string(), ok: z.boolean() }),
  /** The run never touched this path or made this folder: what is there now is somebody else's. */
  z.strictObject({ kind: z.literal('untouched'), at, path: z.string() }),
  z.strictObject({ kind: z.literal('finished'), at, status: z.string() }),
  z.strictObject({ kind: z.literal('rolled_back'), at, status: z.string(), paths: z.array(z.string()) }),
]);

export type JournalLine = Readonly<z.infer<typeof lineSchema>>;

export interface Journal {
  append(line: JournalLine): void;
  close(): void;
}

export async function openJournal(root: string, reports_folder: string): Promise<Journal> {
  const place = openPlace(root, `${reports_folder}/${JOURNAL_NAME}`);
  try {
    const fd = openToAppend(place);
    await syncFolderOf(place);
    return {
      append: (line) => appendDurably(fd, Buffer.from(`${JSON.stringify(line)}\n`)),
      close: () => closeSync(fd),
    };
  } finally {
    closePlace(place);
  }
}

/** A last line without an end was being written when the process died: what it announced has not happened. */
export function readJournal(root: string, reports_folder: string): JournalLine[] {
  const text = readWhole(root, `${reports_folder}/${JOURNAL_NAME}`);
  const lines = text.split('\n').slice(0, -1);
  return lines.map((line) => {
    const parsed = lineSchema.safeParse(safeParse(line));
    return parsed.success ? parsed.data : refuse('MANIFEST_CORRUPT', 'The journal has a line that is none.');
  });
}

function readWhole(root: string, path: string): string {
  try {
    return Buffer.from(readFileBeneath(root, path, JOURNAL_BYTES).bytes).toString('utf8');
  } catch (error) {
    if (error instanceof Refusal && error.code === 'FILE_NOT_FOUND') return '';
    throw error;
  }
}

function safeParse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** What the run announced to leave at a path, in order. */
export function announced(journal: readonly JournalLine[], path: string): (FileState | null)[] {
  return journal.flatMap((line) => (line.kind === 'leaves' && line.path === path ? [line.state] : []));
}
