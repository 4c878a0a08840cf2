import { createHash } from 'node:crypto';
import { closeSync, fdatasyncSync, ftruncateSync } from 'node:fs';
import * as z from 'zod';
import type { Digest } from '../../canonical/digest.ts';
import { readFileBeneath } from '../../durable/beneath.ts';
import { closePlace, openPlace, openToAppend, syncFolderOf } from '../../durable/beneath-write.ts';
import { appendDurably } from '../../durable/file.ts';
import { fileCall } from '../../durable/walk.ts';
import { planLimits } from '../../limits.ts';
import { Refusal, refuse } from '../../refusal.ts';
import type { FileState } from '../model.ts';
import { fileStateSchema } from './manifest.ts';

/**
 * `journal.jsonl`: the facts that no path tells by its state. A line is on disk before what it announces happens.
 */

const JOURNAL_NAME = 'journal.jsonl';

const state = fileStateSchema.nullable();
const at = z.string();

const lineSchema = z.discriminatedUnion('kind', [
  /** An action whose result only the run can tell begins. */
  z.strictObject({ kind: z.literal('started'), at, action_id: z.string() }),
  /** It is about to leave this at a path. */
  z.strictObject({ kind: z.literal('leaves'), at, action_id: z.string(), path: z.string(), state }),
  z.strictObject({ kind: z.literal('ended'), at, action_id: z.string(), ok: z.boolean() }),
  /** The run never touched these paths or made these folders: what is there now is not of the run. */
  z.strictObject({ kind: z.literal('untouched'), at, paths: z.array(z.string()) }),
  z.strictObject({ kind: z.literal('finished'), at, status: z.string() }),
  z.strictObject({ kind: z.literal('rolled_back'), at, status: z.string(), paths: z.array(z.string()) }),
]);

export type JournalLine = Readonly<z.infer<typeof lineSchema>>;

/** What a rollback believes, and where it writes what it did. */
export interface JournalRead {
  readonly lines: readonly JournalLine[];
  append(line: JournalLine): void | Promise<void>;
}

export interface Journal extends JournalRead {
  /** What was appended through this, whatever the file holds now: an attacker may write to it during the run. */
  readonly lines: readonly JournalLine[];
  append(line: JournalLine): void;
  bytes(): Uint8Array;
  close(): void;
}

/**
 * Opens the journal to append. The caller holds the claim of the run or of its rollback, so no other process appends. A
 * torn last line is cut first: a line that was written after it would be part of it, and the journal could not be read again.
 */
export async function openJournal(root: string, reports_folder: string): Promise<Journal> {
  const path = `${reports_folder}/${JOURNAL_NAME}`;
  const place = openPlace(root, path);
  try {
    const fd = openToAppend(place);
    const lines: JournalLine[] = [];
    const written: Buffer[] = [];
    let torn = true;
    const append = (line: JournalLine) => {
      if (torn) cutTornLine(fd, root, path);
      torn = true;
      const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
      appendDurably(fd, bytes);
      torn = false;
      lines.push(line);
      written.push(bytes);
    };
    await syncFolderOf(place);
    return { lines, append, bytes: () => Buffer.concat(written), close: () => closeSync(fd) };
  } finally {
    closePlace(place);
  }
}

function cutTornLine(fd: number, root: string, path: string): void {
  const bytes = readWhole(root, path);
  const { end } = wholeLines(bytes);
  if (end === bytes.length) return;
  fileCall(path, () => {
    ftruncateSync(fd, end);
    fdatasyncSync(fd);
  });
}

export function readJournal(root: string, reports_folder: string): JournalLine[] {
  return wholeLines(readWhole(root, `${reports_folder}/${JOURNAL_NAME}`)).lines;
}

/**
 * The lines of a journal, and where the last one ends. What follows is a line that was being written when the process or
 * the machine died, whatever bytes it has: what it announced has not happened. More than one write can leave is damage.
 */
function wholeLines(bytes: Buffer): { lines: JournalLine[]; end: number } {
  const end = bytes.lastIndexOf(NEWLINE) + 1;
  const texts = bytes.subarray(0, end).toString('utf8').split('\n').slice(0, -1);
  if (
    bytes.length - end > planLimits.journal_line_bytes ||
    texts.some((text) => text.length > planLimits.journal_line_bytes)
  )
    refuse('JOURNAL_CORRUPT', 'It has a line that is longer than any that a run writes.');
  return { lines: texts.map(parseLine), end };
}

const NEWLINE = 0x0a;

function parseLine(text: string, index: number): JournalLine {
  const parsed = lineSchema.safeParse(safeParse(text));
  return parsed.success ? parsed.data : refuse('JOURNAL_CORRUPT', `Line ${index + 1} cannot be read.`);
}

function readWhole(root: string, path: string): Buffer {
  try {
    return Buffer.from(readFileBeneath(root, path, planLimits.journal_bytes).bytes);
  } catch (error) {
    if (error instanceof Refusal && error.code === 'FILE_NOT_FOUND') return Buffer.alloc(0);
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

/**
 * What is believed of the journal of a run: the lines up to the digest that the ledger keeps. The attacker adds a line that calls a
 * path untouched, so that a rollback leaves it as it is and is recorded as complete, or one that claims the change of
 * another program. After the lines of a run that ended only rollbacks append, so anything else is refused. A run that was killed may have
 * written more than it recorded: what was not recorded was not done, and says nothing.
 */
export function boundJournal(
  root: string,
  reports_folder: string,
  { digest, ended }: { readonly digest: Digest | null; readonly ended: boolean },
): JournalRead {
  const bytes = readWhole(root, `${reports_folder}/${JOURNAL_NAME}`);
  const { lines } = wholeLines(bytes);
  const count = digest === null ? 0 : linesUpTo(bytes, digest);
  if (count === null || (ended && lines.slice(count).some(({ kind }) => kind !== 'rolled_back')))
    refuse('JOURNAL_CORRUPT', 'It is not the one that the run wrote.', { path: reports_folder });
  return { lines: lines.slice(0, count), append: (line) => appendOne(root, reports_folder, line) };
}

/** How many lines have this digest together; null where no number of them has. */
function linesUpTo(bytes: Buffer, digest: Digest): number | null {
  const hash = createHash('sha256');
  for (let [count, start] = [0, 0]; ; count += 1) {
    if (hash.copy().digest('hex') === digest) return count;
    const end = bytes.indexOf(NEWLINE, start) + 1;
    if (end === 0) return null;
    hash.update(bytes.subarray(start, end));
    start = end;
  }
}

async function appendOne(root: string, reports_folder: string, line: JournalLine): Promise<void> {
  const journal = await openJournal(root, reports_folder);
  try {
    journal.append(line);
  } finally {
    journal.close();
  }
}

/** What the run announced to leave at a path, in order. */
export function announced(journal: readonly JournalLine[], path: string): (FileState | null)[] {
  return journal.flatMap((line) => (line.kind === 'leaves' && line.path === path ? [line.state] : []));
}

export function neverTouched(journal: readonly JournalLine[], path: string): boolean {
  return journal.some((line) => line.kind === 'untouched' && line.paths.includes(path));
}
