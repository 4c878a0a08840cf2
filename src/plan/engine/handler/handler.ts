import type { Digest } from '../../../canonical/digest.ts';
import type { Action, ActionEffect, FileState, PathChange, PipelineStep, Undo } from '../../model.ts';
import type { ActionType } from '../../operation.ts';
import type { Hands, Prepared, Stager } from '../apply.ts';

/** What each action type does, once as a simulation for the approver and once for real. */
export interface Handler<T extends ActionType> {
  /** How a rollback undoes it. */
  readonly undo: Undo;
  simulate(action: Action<T>, world: World): Promise<Simulated> | Simulated;
  /** All of `execute` that changes nothing yet. It may be done before the turn of the action. */
  prepare?(action: ActionEffect<T>, stager: Stager): Promise<Prepared>;
  /** Does it and says in one sentence what was done. */
  execute(action: ActionEffect<T>, hands: Hands): Promise<string>;
}

export interface Simulated {
  readonly changes: readonly PathChange[];
  /** Files whose contents it may read and put elsewhere. A protected one among them needs a second approver. */
  readonly reads?: readonly string[];
  readonly statements?: readonly string[];
  readonly query_text?: string | null;
  readonly steps?: readonly PipelineStep[];
}

/** The project as it would be when the action begins. Changing it touches nothing real. */
export interface World {
  readonly preserve_permissions: boolean;
  /** Refuses a file that is missing or cannot be changed. */
  existing(path: string): Promise<FileState>;
  read(path: string): Promise<{ readonly bytes: Uint8Array; readonly state: FileState }>;
  /** Refuses a path that is not free, or whose folder cannot be written. */
  requireFree(path: string): Promise<void>;
  put(path: string, bytes: Uint8Array, mode: number, attributes?: Digest): Promise<FileState>;
  remove(path: string): void;
  move(from: string, to: string): void;
  /** What is there; an earlier action may have left something that nobody can tell yet. */
  look(path: string): Promise<FileState | null | 'unknown'>;
  leaveUnknown(path: string): void;
  /** Refuses what is at the path on the disk and is no database that SQL can work on. Nothing there is a new one. */
  requireDatabase(path: string): Promise<void>;
  /** The files in a folder that SQL may scan. Refuses one that is missing, and one with a link or anything odd in it. */
  readableFiles(folder: string): readonly string[];
}

/** Files of a plan are readable by all and written by their owner, unless it says otherwise. */
export const DEFAULT_MODE = 0o644;
