import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { type Excerpt, type ExcerptRequest, excerptOfExport } from '../audit/excerpt.ts';
import { type AuditedExport, type AuditOptions, auditExport } from '../audit/ledger.ts';
import { auditSegments } from '../audit/segments.ts';
import type { Source } from '../audit/source.ts';
import { limits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';

/** For an auditor with no project: a file, a fingerprint of the ledger key, and kept heads. */

/** Verifies an export: bytes, chain, head, objects; with `deep` also canonical form and every signature. */
export function verifyExportFile(path: string, options: AuditOptions): Promise<AuditedExport> {
  return auditExport(sourceOf(path), { ...options, deep: options.deep ?? false });
}

/** Verifies archives together, in the order of their entries. */
export function verifySegmentFiles(paths: readonly string[], options: AuditOptions): Promise<AuditedExport> {
  return auditSegments(paths.map(sourceOf), { ...options, deep: options.deep ?? false });
}

/** Verifies an export with every signature unless told, and keeps what it says about one subject. */
export function excerptOfExportFile(
  path: string,
  request: ExcerptRequest,
): Promise<Excerpt & { readonly verified: AuditedExport }> {
  return excerptOfExport(sourceOf(path), request);
}

/** Standard input can be read once. */
function sourceOf(path: string): Source<Uint8Array> {
  return path === '-' ? readChunks(path) : () => readChunks(path);
}

/** The bytes of a regular file, or of standard input for `-`, in chunks. */
export async function* readChunks(path: string): AsyncGenerator<Uint8Array> {
  try {
    if (path === '-') yield* process.stdin as AsyncIterable<Uint8Array>;
    else yield* (await openRegular(path)).createReadStream({ highWaterMark: limits.read_piece_bytes });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (error instanceof Refusal) throw error;
    if (code === 'ENOENT') refuse('FILE_NOT_FOUND', `${path} does not exist.`);
    if (code !== undefined) refuse('FILE_UNREADABLE', `${path} cannot be read (${code}).`);
    throw error;
  }
}

/** Not blocking: a FIFO without a writer must not hang an auditor. */
async function openRegular(path: string): Promise<FileHandle> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  if ((await file.stat()).isFile()) return file;
  await file.close();
  return refuse('FILE_NOT_REGULAR', `${path} is not a regular file.`);
}
