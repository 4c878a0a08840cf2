import type { Digest } from '../../canonical/digest.ts';
import type { FileState } from '../model.ts';
import type { TakeMemory } from '../reused-memory.ts';

export interface ReadFile {
  readonly bytes: Uint8Array;
  readonly state: FileState;
}

/** The project as it would be when the action begins. Changing it touches nothing real. */
export interface World {
  readonly preserve_permissions: boolean;
  /** Refuses a file that is missing or cannot be changed. */
  existing(path: string): Promise<FileState>;
  read(path: string): Promise<ReadFile>;
  /** The same for an edit, whose content and result are forgotten with the action: both are in memory that the next action takes again. */
  readToEdit(path: string): Promise<ReadFile & { readonly take: TakeMemory }>;
  /** Refuses a path that is not free, or whose folder cannot be written. */
  requireFree(path: string): Promise<void>;
  put(path: string, bytes: Uint8Array, mode: number, attributes?: Digest): Promise<FileState>;
  /** Refuses two paths that no rename can connect. */
  requireSameFileSystem(from: string, to: string): void;
  remove(path: string): void;
  move(from: string, to: string): void;
  /** What is there; what an earlier action leaves may be unknown until it ran. */
  look(path: string): Promise<FileState | null | 'unknown'>;
  leaveUnknown(path: string): void;
  /** Refuses what is at the path on the disk and is no database that SQL can work on. Nothing there is a new one. */
  requireDatabase(path: string): Promise<void>;
  /** The files in a folder that SQL may scan. Refuses one that is missing, and one with a link or anything odd in it. */
  readableFiles(folder: string): readonly string[];
}
