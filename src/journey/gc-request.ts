import type { Digest } from '../canonical/digest.ts';
import type { Signer } from '../identity/act.ts';
import { refuse } from '../refusal.ts';

/** What is old enough to go. It holds for backups and for objects, each by themselves. */
export interface GcPolicy {
  /** Backups of runs that ended longer ago than this go, and objects that no entry named since. */
  readonly older_than_s?: number;
  /** Then the oldest go, until the backups that are left take no more than this, and the objects no more than this. */
  readonly keep_bytes?: number;
  /** Also what an undo that is still possible needs. */
  readonly undoable_too?: boolean;
}

export function requirePolicy({ older_than_s, keep_bytes }: GcPolicy): void {
  if (older_than_s === undefined && keep_bytes === undefined)
    refuse('USAGE', 'Say from which age on, or how much may stay.');
  for (const amount of [older_than_s ?? 0, keep_bytes ?? 0])
    if (!Number.isSafeInteger(amount) || amount < 0)
      refuse('USAGE', 'An age is a whole number of seconds, a size one of bytes, and neither is negative.');
}

/** What the human saw of a run: which it is, and whether its undo is given up with it. */
export interface SeenRun {
  readonly execution_id: string;
  readonly undoable: boolean;
}

/** What the human saw of an object: which it is, and which undo goes with it. */
export interface SeenObject {
  readonly digest: Digest;
  readonly undo: readonly string[];
}

/** Exactly those that the human saw, as the preview listed them. */
export interface GcRequest {
  readonly runs: readonly SeenRun[];
  readonly objects?: readonly SeenObject[];
  readonly reason: string;
  readonly signer: Signer;
}
